"""`bug-report`: what a maintainer needs to know of one version set on this host."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version as version_of

from envmgr.app.building import Builder, BuildWishes, Built
from envmgr.app.hand import pick_one
from envmgr.app.hosting import facts_here
from envmgr.app.judging import judged_cells
from envmgr.app.locking import read_lock
from envmgr.app.private import private_here
from envmgr.app.verifying import checks_of
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError
from envmgr.host.match import match
from envmgr.lock.inputs import staleness
from envmgr.manifest.expand import target
from envmgr.model.env import Check
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell, Run
from envmgr.ports import ProcessRequest
from envmgr.report.bug import BugFacts, FailedCell, bug_report

_LOG_LINES = 40
_MOST_CELLS = 6
_SECONDS = 20.0
_TAKING_PART = re.compile(
    r"(UV|PIP|ENVMGR|KERAS|PLAIDML|TF|XLA|JAX|TORCH|PYTORCH|CUDA|HIP|HSA|ROCR|OCL|OPENCL|OMP|MKL|OPENBLAS|LD|DYLD)_.*"
    r"|PYTHON.*|VIRTUAL_ENV|CONDA_PREFIX|(SSL_CERT|REQUESTS_CA|CURL_CA)_.*|NETRC|(HTTPS?|ALL|NO)_PROXY|XDG_.*_(HOME|DIRS)"
    r"|LANG|LC_ALL"
)


def report_bug(workplace: Workplace, name: str) -> str:
    """Return the report as Markdown; nothing is built or measured for it, and what is not there is told as such."""
    manifest, variant = pick_one(workplace, name)
    label = manifest.name if variant == "default" else f"{manifest.name}@{variant}"
    facts = facts_here(workplace)
    built, failure = _built(workplace, manifest, variant, facts)
    return bug_report(
        BugFacts(
            label=label,
            tools=_tools(workplace),
            manifest=workplace.files.read(workplace.shelf.paths[manifest.name]) or "",
            lock=_lock(workplace, manifest, variant, facts),
            host=facts,
            env=built.env if built else None,
            checks=_checks(workplace, built, facts) if built else (),
            failure=failure,
            cells=tuple(_cells(workplace, label)),
            commands=(f"envmgr build {label}", f"envmgr verify {label} --deep", *_measuring(manifest, label)),
            variables=_variables(workplace.caller.environment),
            private=private_here(workplace, facts),
        )
    )


def _built(workplace: Workplace, manifest: Manifest, variant: str, facts: HostFacts) -> tuple[Built | None, str]:
    try:
        return Builder(workplace, facts, BuildWishes()).find(manifest, variant), ""
    except EnvmgrError as error:
        return None, f"It cannot be built here: {error}"


def _checks(workplace: Workplace, built: Built, facts: HostFacts) -> tuple[Check, ...]:
    try:
        return checks_of(workplace, built, facts)
    except EnvmgrError as error:
        return (Check(name="inspection", passed=False, wanted="an answer of its interpreter", found=str(error)),)


def _lock(workplace: Workplace, manifest: Manifest, variant: str, facts: HostFacts) -> str:
    platform = match(manifest, variant, facts).platform
    if manifest.step or platform is None:
        return "none: a history of steps" if manifest.step else "none for this host"
    chosen = target(manifest, variant, platform)
    try:
        found = read_lock(workplace, chosen)
    except EnvmgrError as error:
        return f"damaged: {error.what}"
    if found is None:
        return "none"
    stale = staleness(found.lock, chosen)
    return f"{found.lock.inputs} for {platform}, Python {found.lock.python}" + (f"; stale: {stale}" if stale else "")


def _cells(workplace: Workplace, label: str) -> Iterator[FailedCell]:
    """Yield the cells of the latest run that holds the version set, what failed first, a few at most."""
    store = workplace.store
    for name in reversed(store.names()):
        try:
            head = store.head(name)
            run = store.load(name) if any(cell.label == label for cell in head.plan.cells) else None
        except EnvmgrError:
            continue
        if run is not None:
            judged = [each for each in judged_cells(run) if each.cell.label == label]
            judged.sort(key=lambda each: (not each.unexpected, each.outcome == Outcome.PASSED))
            yield from (_cell(workplace, run, each) for each in judged[:_MOST_CELLS])
            return


def _cell(workplace: Workplace, run: Run, judged: JudgedCell) -> FailedCell:
    lines: list[str] = []
    if judged.outcome != Outcome.PASSED and judged.results:
        path = workplace.store.log_path(run.record.id, judged.cell.id, judged.results[-1].round)
        lines = (workplace.files.read(path) or "").splitlines()[-_LOG_LINES:]
    return FailedCell(judged.cell.name, judged.outcome.value, judged.reason, tuple(lines), judged.finding)


def _measuring(manifest: Manifest, label: str) -> tuple[str, ...]:
    return (f"envmgr matrix run -e {label}",) if manifest.runners else ()


def _tools(workplace: Workplace) -> dict[str, str]:
    """Return what envmgr itself is and runs on."""
    libraries = (f"{name} {version_of(name)}" for name in ("pydantic", "typer", "virtualenv", "packaging"))
    return {
        "envmgr": version(),
        "runs on": f"{sys.implementation.name} {sys.version.partition(' ')[0]} ({sys.executable})",
        "uv": _uv(workplace),
        "with": ", ".join(libraries),
    }


def _uv(workplace: Workplace) -> str:
    try:
        asked = ProcessRequest((str(workplace.uv), "--version"), timeout=_SECONDS, kept=False)
        return workplace.process.run(asked).stdout.strip().removeprefix("uv ") or "does not answer"
    except EnvmgrError as error:
        return error.what


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's variables that installers, Pythons or backends look at."""
    return {name: environment[name] for name in sorted(environment) if _TAKING_PART.fullmatch(name.upper())}
