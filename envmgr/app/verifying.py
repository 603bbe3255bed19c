"""Is an env what was asked? Asked, locked and installed compared; architecture, backend and devices checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_version

from envmgr.app.building import BUILDS_AT_ONCE, Builder, BuildWishes, Built
from envmgr.app.hand import pick_one
from envmgr.app.hosting import facts_here, pythons_here
from envmgr.app.installed import resolved_in, site_packages
from envmgr.app.probing import ask_keras, list_devices, try_device
from envmgr.app.sharing import untouched
from envmgr.app.silent_failures import device_check, finding_on, static_checks
from envmgr.app.workplace import Workplace
from envmgr.backends import backend_for, invariants, operation_check
from envmgr.backends.keras import check_active
from envmgr.env.compare import (
    REBUILD,
    compare_records,
    compare_with_asked,
    compare_with_interpreter,
    compare_with_lock,
    compare_with_machine,
    compare_with_requirements,
)
from envmgr.env.history import HistoryError
from envmgr.env.inspect import inspect
from envmgr.env.recipe import Recipe
from envmgr.errors import BuildError, EnvmgrError
from envmgr.host.match import match
from envmgr.manifest.expand import select, variants
from envmgr.model.env import Check, DeviceListing, StepState, Verification
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts, Interpreter
from envmgr.model.sharing import Sharing


class Failure(NamedTuple):
    """Why a build did not come about, in the three parts of an error."""

    code: str
    what: str
    why: str
    hint: str
    exit_code: int


class BuildReport(NamedTuple):
    """What `build` did for one name: an env that is there now, what it warns of, or why there is none."""

    name: str
    fresh: bool = False
    key: str = ""
    path: str = ""
    interpreter: Interpreter | None = None
    seconds: float = 0.0
    resolved: dict[str, str] = {}  # noqa: RUF012 - a NamedTuple's default, never changed
    steps: tuple[StepState, ...] = ()
    warnings: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    finding: Finding | None = None
    failure: Failure | None = None
    sharing: Sharing = "copy"
    sharing_why: str = ""

    def exit_code(self, *, strict: bool) -> int:
        """Return 0 for a good build, 1 with `strict` for one that warns, the error's own for a failed one."""
        if self.failure is not None:
            return self.failure.exit_code
        return int(strict and bool(self.warnings))


def build_and_verify(workplace: Workplace, names: Sequence[str], wishes: BuildWishes) -> tuple[BuildReport, ...]:
    """Build each name, some at a time, and say of each what came of it; one that fails does not stop the others."""
    workplace.process.warm_up()
    picked = select(names, workplace.shelf)
    facts = pythons_here(workplace, wishes.python, downloads=wishes.downloads)
    builder = Builder(workplace, facts, wishes)
    wanted = dict.fromkeys((manifest.name, variant or variants(manifest)[0]) for manifest, variant in picked)
    if len(wanted) == 1:
        return tuple(_report(workplace, builder, name, variant) for name, variant in wanted)
    from envmgr.fleet.local import LocalExecutor

    def job(pair: tuple[str, str]) -> tuple[tuple[str, str], BuildReport]:
        return pair, _report(workplace, builder, *pair)

    made = dict(LocalExecutor(BUILDS_AT_ONCE, workplace.process.stop_all).map(job, wanted))
    return tuple(made[pair] for pair in wanted)


def settled(workplace: Workplace, reports: Sequence[BuildReport]) -> bool:
    """Tell whether a build had nothing to do and will have nothing to do until something of its inputs changes."""
    done = all(not (report.fresh or report.failure or report.steps or report.notes) for report in reports)
    return done and not any(workplace.shelf[report.name.partition("@")[0]].floating for report in reports)


def repeatable(workplace: Workplace, reports: Sequence[BuildReport]) -> Recipe | None:
    """Return how a build can be made again, if there was one alone, of one env, and there is nothing to say of it.

    What floats is resolved anew each time.
    """
    if len(reports) != 1 or workplace.shelf[reports[0].name.partition("@")[0]].floating:
        return None
    report = reports[0]
    said = report.failure or report.steps or report.warnings or report.notes or report.finding
    return workplace.recipes.get(report.key) if report.fresh and not said else None


def build_from_run(workplace: Workplace, reference: str, wishes: BuildWishes) -> tuple[BuildReport, ...]:
    """Build what a cell of a run was measured in, from the lock that the run keeps, and verify it."""
    from envmgr.app.past import past_build  # reads runs, which most builds have nothing to do with

    past = past_build(workplace, reference)
    facts = facts_here(workplace, past.lock.python, downloads=wishes.downloads)
    builder = Builder(workplace, facts, wishes)
    return (_told(workplace, facts, past.label, lambda: past.bring_back(builder)),)


def _report(workplace: Workplace, builder: Builder, name: str, variant: str) -> BuildReport:
    manifest = workplace.shelf[name]
    label = name if variant == "default" else f"{name}@{variant}"
    return _told(workplace, builder.facts, label, lambda: builder.build(manifest, variant))


def _told(workplace: Workplace, facts: HostFacts, label: str, make: Callable[[], Built]) -> BuildReport:
    """Return what came of a build: the env with what it warns of, or why there is none."""
    try:
        built = make()
        if built.fresh:
            checks = checks_of(workplace, built, facts)
        else:
            checks = (*_quick_checks(built), *_glance(workplace, built), _machine_check(built, facts))
    except EnvmgrError as error:
        states = error.states if isinstance(error, HistoryError) else ()
        failure = Failure(error.code, error.what, error.why, error.hint, error.exit_code)
        return BuildReport(label, steps=states, failure=failure)
    return BuildReport(
        name=label,
        fresh=built.fresh,
        key=built.env.key,
        path=built.env.path,
        interpreter=built.env.interpreter,
        seconds=built.env.seconds,
        resolved=built.env.resolved,
        steps=built.env.steps,
        warnings=tuple(check for check in checks if not check.passed),
        notes=built.notes,
        finding=finding_on(built, checks, facts),
        sharing=built.env.sharing,
        sharing_why=built.env.sharing_why,
    )


def verify_named(workplace: Workplace, name: str, *, deep: bool) -> Verification:
    """Verify the env of a name; raises BuildError when it is not built."""
    manifest, variant = pick_one(workplace, name)
    facts = facts_here(workplace)
    built = Builder(workplace, facts, BuildWishes()).find(manifest, variant)
    if built is None:
        raise BuildError(f"{name} is not built", "wanted a finished environment; found none", f"envmgr build {name}")
    checks = [*checks_of(workplace, built, facts, deep=deep), *untouched(workplace, built.env)]
    listing = None
    if manifest.backend is not None:
        listing = list_devices(workplace, built.env, manifest, facts)
        checks += _device_checks(workplace, built, listing, facts)
    mending = REBUILD.replace("NAME", built.target.label)
    return Verification(
        manifest=manifest.name,
        variant=variant,
        checks=tuple(each.model_copy(update={"hint": mending}) if each.hint == REBUILD else each for each in checks),
        devices=listing,
        finding=finding_on(built, checks, facts),
    )


def silently_wrong(workplace: Workplace, name: str, device: str | None = None) -> Finding | None:
    """Return the finding on the env of a name that is not what was asked for; None if it is, or is not built."""
    try:
        manifest, variant = pick_one(workplace, name)
        facts = facts_here(workplace)
        built = Builder(workplace, facts, BuildWishes()).find(manifest, variant)
        if built is None:
            return None
        wanted = manifest.model_copy(update={"device": device}) if device else manifest
        built = replace(built, target=built.target.model_copy(update={"manifest": wanted}))
        checks = [*checks_of(workplace, built, facts)]
        if manifest.backend is not None:
            checks += _device_checks(workplace, built, list_devices(workplace, built.env, wanted, facts), facts)
    except EnvmgrError:
        return None
    return finding_on(built, checks, facts)


def checks_of(workplace: Workplace, built: Built, facts: HostFacts, *, deep: bool = False) -> tuple[Check, ...]:
    """Return what a look into an env says of it, without asking its backend for devices; raises BuildError."""
    known = None if deep else built.inspection
    inspection = known or inspect(Path(built.env.python), workplace.process, workplace.files, deep=deep)
    manifest = built.target.manifest
    checks = [
        *_quick_checks(built),
        *compare_with_asked(manifest.requirements, inspection),
        *(compare_with_lock(built.lock.distributions, inspection) if built.lock else ()),
        *compare_with_requirements(inspection, [Requirement(text).name for text in manifest.overrides]),
        *compare_with_interpreter(inspection, built.env.interpreter, built.target.platform),
        *compare_records(inspection.records, deep=deep),
        _machine_check(built, facts),
    ]
    return tuple(checks)


def _quick_checks(built: Built) -> tuple[Check, ...]:
    """Return what can be told from the record of the build alone."""
    apart = tuple(
        Check(name="family", passed=False, subject=built.target.label, wanted="one version of both", found=sentence)
        for sentence in invariants(built.env.resolved)
    )
    return (*apart, *static_checks(built))


def _glance(workplace: Workplace, built: Built) -> tuple[Check, ...]:
    """Return the distributions that have come, gone or changed by somebody's hand since an env was built.

    One folder is looked at, no file: what is missing or changed within a distribution, `verify` alone finds.
    """
    if built.lock is None:
        return ()
    before = built.env.resolved
    now = resolved_in(site_packages(workplace.files, Path(built.env.path)))
    changed = [name for name in sorted(before.keys() | now.keys()) if not _is_same(before.get(name), now.get(name))]
    hint = REBUILD.replace("NAME", built.target.label)
    return tuple(
        Check(
            name="installed",
            passed=False,
            subject=name,
            wanted=before.get(name, "nothing: it was not there when this was built"),
            found=now.get(name, "nothing"),
            hint=hint,
        )
        for name in changed
    )


def _is_same(before: str | None, now: str | None) -> bool:
    """Tell whether two versions, of which names of files have their own spelling, are one."""
    if before is None or now is None:
        return before == now
    return canonicalize_version(before) == canonicalize_version(now)


def _machine_check(built: Built, facts: HostFacts) -> Check:
    interpreter = built.env.interpreter
    native = match(built.target.manifest, built.target.variant, facts).interpreter
    serves = native is not None and not native.translated
    return compare_with_machine(interpreter, facts.machine, native_serves=serves)


def _device_checks(workplace: Workplace, built: Built, listing: DeviceListing, facts: HostFacts) -> tuple[Check, ...]:
    manifest, env = built.target.manifest, built.env
    if manifest.backend is None:
        return ()
    checks = list(backend_for(manifest.backend).diagnose_listing(listing, facts))
    checks += device_check(built, listing, facts)
    if "keras" in env.resolved:
        checks.append(check_active(ask_keras(workplace, env, manifest), manifest.backend))
    tried = [device for device in listing.devices if device.valid]
    checks += [operation_check(try_device(workplace, env, manifest, device), device.id) for device in tried]
    return tuple(checks)
