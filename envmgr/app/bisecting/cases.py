"""From what a user asks to a bisection: a manifest or a set given by options, a line, and who is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.tags import platform_tags

from envmgr.app.bisecting.bisect import Means, Oracle, bisect_line
from envmgr.app.bisecting.cells import CellWishes, PointCells
from envmgr.app.bisecting.lines import (
    Ends,
    Line,
    Shelves,
    date_line,
    nightly_line,
    on_python,
    package_line,
    python_line,
)
from envmgr.app.bisecting.probes import ProbeOracle
from envmgr.app.bisecting.runs import MetricOracle, OutcomeOracle
from envmgr.app.bisecting.state import Notebook
from envmgr.app.days import day_of
from envmgr.app.diagnosing.cases import backend_among, place_here, world_of
from envmgr.app.hand import pick_one
from envmgr.app.hosting import facts_here
from envmgr.app.passwords import web_of
from envmgr.app.releases_of_index import Releases, default_index
from envmgr.app.watching import offered_days
from envmgr.app.workplace import Workplace
from envmgr.diagnose.releases import Release, Target
from envmgr.errors import UsageError
from envmgr.model.bisection import Bisection, SubjectKind
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome

_METRIC_PROCESSES = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of each point: a probe, or a runner by outcome or metric; `variables` are for the probe."""

    probe: str | None = None
    runner: str | None = None
    metric: str | None = None
    outcome: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    processes: int | None = None
    timeout: float = 600.0


@dataclass(frozen=True, slots=True)
class BisectWishes:
    """What the command line says: the version set, the subject, the two ends, what is asked."""

    kind: SubjectKind
    good: str
    bad: str
    asked: Asked
    package: str = ""
    name: str | None = None
    python: str | None = None
    requirements: tuple[str, ...] = ()
    exclude_newer: str = ""
    early: bool = False
    sources: bool = False
    resume: bool = False
    jobs: int | None = None
    command: tuple[str, ...] = ()


def bisect(workplace: Workplace, wishes: BisectWishes) -> Bisection:
    """Return where good turns into bad; raises EnvmgrError when an end is not what it is called, or cannot be built."""
    _check(wishes.asked)
    facts = facts_here(workplace)
    manifest, python = _set_of(workplace, wishes, facts)
    line = _line(workplace, wishes, facts, manifest, python)
    state = workplace.project.state / "bisect"
    notebook = Notebook(workplace.files, state, line, repr(wishes.asked), resume=wishes.resume)
    with workplace.files.scratch("bisect") as room:

        def found(oracle: Oracle) -> Bisection:
            return bisect_line(line, Means(oracle, notebook, workplace.clock, workplace.listener))

        if wishes.asked.probe is None:
            return found(_runner_oracle(PointCells(workplace, facts, _cell_wishes(wishes)), wishes.asked))
        place, probe = place_here(workplace, facts, wishes.jobs), ("-c", wishes.asked.probe)
        probing = ProbeOracle(place, room, probe, wishes.asked.variables, lambda at, minor: world_of(at, facts, minor))
        with probing.at_work():
            return found(probing)


def _check(asked: Asked) -> None:
    if (asked.probe is None) == (asked.runner is None):
        raise UsageError("nothing to ask of a point", "wanted --probe CODE or --runner R, and not both", "--probe CODE")
    if asked.runner is None and (asked.metric or asked.outcome or asked.parameters or asked.device):
        raise UsageError(
            "a probe passes or fails", "--metric, --outcome, --set and --device belong to a runner", "--runner R"
        )
    if asked.metric and asked.outcome:
        raise UsageError("a point is judged by one thing", "found --metric and --outcome", "leave one out")
    if asked.outcome and asked.outcome not in set(Outcome):
        raise UsageError(
            f"there is no outcome {asked.outcome!r}", f"there are: {', '.join(Outcome)}", "--outcome wrong"
        )


def _runner_oracle(cells: PointCells, asked: Asked) -> Oracle:
    if asked.metric:
        return MetricOracle(cells, asked.metric)
    return OutcomeOracle(cells, Outcome(asked.outcome) if asked.outcome else None)


def _cell_wishes(wishes: BisectWishes) -> CellWishes:
    asked = wishes.asked
    return CellWishes(
        runner=asked.runner or "",
        parameters=asked.parameters,
        device=asked.device,
        processes=asked.processes or (_METRIC_PROCESSES if asked.metric else 1),
        timeout=asked.timeout,
        command=wishes.command,
    )


def _set_of(workplace: Workplace, wishes: BisectWishes, facts: HostFacts) -> tuple[Manifest, str]:
    """Return the version set as a manifest, and the Python (a minor or full version) that it stands on."""
    if wishes.requirements:
        return _given_set(wishes)
    if wishes.name is None:
        raise UsageError("nothing to bisect", "wanted NAME, or --python V with --require R", "envmgr bisect --help")
    manifest, variant = pick_one(workplace, wishes.name)
    python = wishes.python or (variant.removeprefix("py") if manifest.variants else "")
    if wishes.exclude_newer:
        manifest = manifest.model_copy(update={"exclude_newer": day_of(wishes.exclude_newer)})
    return manifest, world_of(manifest, facts, python).python


def _given_set(wishes: BisectWishes) -> tuple[Manifest, str]:
    if wishes.name is not None:
        raise UsageError("one version set is bisected", f"found {wishes.name} and --require", "leave one out")
    if wishes.python is None and wishes.kind != "python":
        raise UsageError("a set needs a Python", "wanted --python V beside --require R", "--python 3.9")
    manifest = Manifest(
        schema_=1,
        name="bisect",
        python=">=3.6",
        requirements=wishes.requirements,
        exclude_newer=day_of(wishes.exclude_newer) if wishes.exclude_newer else None,
        backend=backend_among(wishes.requirements) if wishes.asked.runner else None,
        runners=(wishes.asked.runner,) if wishes.asked.runner else (),
        allow_source=("*",),
    )
    return (on_python(manifest, wishes.python) if wishes.python else manifest), wishes.python or ""


def _line(workplace: Workplace, wishes: BisectWishes, facts: HostFacts, manifest: Manifest, python: str) -> Line:
    ends = Ends(wishes.good, wishes.bad)
    if wishes.kind == "date":
        return date_line(manifest, python, ends)
    if wishes.kind == "python":
        native = [one.version for one in facts.interpreters if one.implementation == "CPython"]
        return python_line(manifest, ends, native)
    if wishes.kind == "nightly":
        return nightly_line(manifest, python, ends, offered_days(workplace, manifest))
    minor = ".".join(python.split(".")[:2])
    shelves = Shelves(
        _Indexes(workplace, manifest), Target(minor, tuple(platform_tags())), wishes.early, wishes.sources
    )
    return package_line(manifest, python, wishes.package, ends, shelves)


class _Indexes:
    """The releases of distributions, each from the index that serves it."""

    def __init__(self, workplace: Workplace, manifest: Manifest) -> None:
        environment = workplace.caller.environment
        web = web_of(workplace)
        self._default = Releases(web, default_index(workplace.uv, workplace.process, environment))
        self._own = {name: Releases(web, index.url) for index in manifest.index for name in index.packages}

    def __call__(self, name: str) -> tuple[Release, ...]:
        return self._own.get(name, self._default)(name)
