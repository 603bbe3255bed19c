"""The shape of `data` in every command's --json envelope: the versioned promise to programs."""

from __future__ import annotations

from typing import Any, NamedTuple

from envmgr.app.bundling import Unbundled
from envmgr.app.catalog import CatalogueEntry, Details
from envmgr.app.cleaning import Rubbish
from envmgr.app.doctoring import Examination
from envmgr.app.kernels import KnownKernel
from envmgr.app.listing import Offer
from envmgr.app.matrix import CellLog
from envmgr.app.relocking import LockMade, LockVerdict
from envmgr.app.verifying import BuildReport
from envmgr.app.watching import Watched
from envmgr.model.bisection import Bisection
from envmgr.model.cell import Further
from envmgr.model.comparison import Comparisons
from envmgr.model.difference import Differences
from envmgr.model.env import Verification
from envmgr.model.finding import Finding
from envmgr.model.host import Interpreter, RejectedInterpreter
from envmgr.model.inference import Inference
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.platform import Platform
from envmgr.model.rounds import RoundsTaken


class Error(NamedTuple):
    """What failed on which thing, why, and what to do."""

    code: str
    what: str
    why: str
    hint: str


class Broken(NamedTuple):
    what: str
    why: str


class Manifests(NamedTuple):
    manifests: list[CatalogueEntry]
    broken: list[Broken]


class Written(NamedTuple):
    written: list[str]


class Drafted(NamedTuple):
    """What `init` wrote, and what of the files that it read could not be said in a manifest."""

    written: list[str]
    notes: list[str]


class Exported(NamedTuple):
    """What `export` wrote: `text` when it went to no file."""

    to: str
    platform: Platform | None
    distributions: int
    written: str | None
    text: str | None
    notes: list[str]


class ReportedBug(NamedTuple):
    written: str | None
    text: str | None


class InstalledKernel(NamedTuple):
    name: str
    display_name: str
    path: str
    argv: list[str]
    added: list[str]


class Kernels(NamedTuple):
    kernels: list[KnownKernel]


class RemovedKernels(NamedTuple):
    removed: list[KnownKernel]


class Folder(NamedTuple):
    path: str


class Locks(NamedTuple):
    locks: list[LockMade] | list[LockVerdict]


class Builds(NamedTuple):
    builds: list[BuildReport]


class Ended(NamedTuple):
    exit_code: int


class Cleaned(NamedTuple):
    removed: bool
    items: list[Rubbish]


class CellsFound(NamedTuple):
    cells: list[str]
    finding: Finding


class Found(NamedTuple):
    """What a diagnosis found: of several cells of a run all findings, else the one."""

    finding: Finding | None
    findings: list[CellsFound] | None = None
    unexplained: dict[str, str] | None = None
    builds: int | None = None
    changes: int | None = None


class Bisected(NamedTuple):
    bisect: Bisection


class Diffed(NamedTuple):
    diff: Differences


class Inferred(NamedTuple):
    infer: Inference


class Pythons(NamedTuple):
    interpreters: list[Interpreter]
    rejected: list[RejectedInterpreter]
    fetchable: list[str]


class OneInterpreter(NamedTuple):
    interpreter: Interpreter


class Logs(NamedTuple):
    logs: list[CellLog]


class ChosenDevice(NamedTuple):
    id: str
    api: str
    physical: str


class ParityFigures(NamedTuple):
    reference: str
    max_abs: float
    max_rel: float
    share_off: float
    verdict: str


class CellOutput(NamedTuple):
    """One cell, planned or measured; what is known only after measuring is absent before."""

    id: str
    name: str
    manifest: str
    variant: str
    platform: Platform | None
    python: str
    backend: str | None
    runner: str
    device: ChosenDevice | None
    parameters: dict[str, Any]
    outcome: Outcome | None
    phase: Phase | None
    reason: str
    host: str
    observed: Outcome | None = None
    expected: Outcome | None = None
    unexpected: bool | None = None
    resolved: dict[str, str] | None = None
    interpreter: Interpreter | None = None
    effort: str | None = None
    processes: int | None = None
    first_call: float | None = None
    samples: list[list[float]] | None = None
    median: float | None = None
    spread: float | None = None
    throughput: float | None = None
    peak_memory: int | None = None
    metrics: list[dict[str, Any]] | None = None
    notes: list[str] | None = None
    logs: list[str] | None = None
    parity: ParityFigures | None = None
    finding: Finding | None = None


class PlanHead(NamedTuple):
    matrix: str
    effort: str
    processes: int
    further: Further | None
    host: str


class PlanOutput(NamedTuple):
    plan: PlanHead
    cells: list[CellOutput]


class RunHead(NamedTuple):
    id: str
    matrix: str
    effort: str
    processes: int
    further: Further | None
    rounds: list[RoundsTaken]
    host: str
    envmgr: str
    command: list[str]
    started_at: str
    finished: bool
    unexpected: int
    damaged: list[str]


class RunOutput(NamedTuple):
    run: RunHead
    cells: list[CellOutput]


class ReportOutput(NamedTuple):
    run: RunHead
    cells: list[CellOutput]
    written: list[str]


class Imported(NamedTuple):
    runs: list[dict[str, Any]]


class Nothing(NamedTuple):
    """What commands say that end only when they are ended."""


class ImportedBundle(NamedTuple):
    """What `import` laid down, and what became of building it."""

    imported: Unbundled
    builds: list[BuildReport]


OUTPUTS: dict[str, Any] = {
    "bisect": Bisected,
    "bug-report": ReportedBug,
    "build": Builds,
    "clean": Cleaned,
    "devices": Offer,
    "diagnose": Found,
    "diff": Diffed,
    "doctor": Examination,
    "export": Exported,
    "fleet up": Nothing,
    "fleet worker": Nothing,
    "import": ImportedBundle,
    "infer": Inferred,
    "init": Drafted,
    "kernel install": InstalledKernel,
    "kernel list": Kernels,
    "kernel remove": RemovedKernels,
    "list": Manifests,
    "lock": Locks,
    "matrix compare": Comparisons,
    "matrix import": Imported,
    "matrix logs": Logs,
    "matrix plan": PlanOutput,
    "matrix report": ReportOutput,
    "matrix run": RunOutput,
    "matrix show": RunOutput,
    "matrix watch": Watched,
    "path": Folder,
    "python install": OneInterpreter,
    "python list": Pythons,
    "run": Ended,
    "schema": dict[str, Any],
    "shell": Ended,
    "show": Details,
    "verify": Verification,
}
"""The shape of `data` by command."""
