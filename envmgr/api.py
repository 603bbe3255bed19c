"""envmgr as a library: a few functions over frozen values, all of them found in `envmgr` itself.

A failing cell is a value with its outcome and reason. What stops everything is an EnvmgrError with `what`, `why` and
`hint`. `project` is a folder with `manifests/`; without it the project is looked for from the current folder upwards,
as the command line does. A `listener` hears of progress; nothing is printed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from envmgr.app.building import BuildWishes
from envmgr.app.comparing import CompareWishes
from envmgr.app.comparing import compare as compare_runs
from envmgr.app.finding_cells import with_findings
from envmgr.app.hand import build_named
from envmgr.app.hosting import facts_here
from envmgr.app.judging import judged_cells
from envmgr.app.matrix import MatrixWishes, load_run, run_matrix
from envmgr.app.planning import Selection, plan_only
from envmgr.app.sharing import make_own
from envmgr.app.verifying import verify_named
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell, Plan
from envmgr.model.comparison import Comparisons
from envmgr.model.env import Env, Verification
from envmgr.model.host import HostFacts
from envmgr.model.result import CellResult, JudgedCell, Run
from envmgr.ports import Event, Listener

__all__ = [
    "Cell",
    "CellResult",
    "Comparisons",
    "Env",
    "EnvmgrError",
    "Event",
    "HostFacts",
    "JudgedCell",
    "Listener",
    "Plan",
    "Run",
    "Verification",
    "build",
    "compare",
    "facts",
    "judge",
    "load",
    "measure",
    "plan",
    "verify",
]


def build(name: str, *, project: Path | None = None, offline: bool = False, listener: Listener | None = None) -> Env:
    """Return the env of a manifest (NAME or NAME@VARIANT), locked and built if it is not there yet.

    It is the caller's own: what writes to its files reaches no other env.
    """
    workplace = Workplace(project, listener)
    return make_own(workplace, build_named(workplace, name, BuildWishes(offline=offline)).env)


def verify(name: str, *, deep: bool = False, project: Path | None = None) -> Verification:
    """Return every check of a built env: asked, locked and installed compared, architecture, backend, devices."""
    return verify_named(Workplace(project), name, deep=deep)


def plan(matrix: str = "quick", names: Iterable[str] = (), *, project: Path | None = None) -> Plan:
    """Return the cells that a matrix has on this host, and why those that cannot run will not; nothing is built."""
    return plan_only(Workplace(project), Selection(matrix, tuple(names)), None, None)


def measure(
    matrix: str = "quick",
    names: Iterable[str] = (),
    *,
    effort: str | None = None,
    project: Path | None = None,
    listener: Listener | None = None,
) -> Run:
    """Build what is missing, measure every cell of a matrix (or of the named version sets), and return the run."""
    wishes = MatrixWishes(Selection(matrix, tuple(names), effort=effort), BuildWishes())
    return run_matrix(Workplace(project, listener), wishes)


def load(run: str = "latest", *, project: Path | None = None) -> Run:
    """Return a stored run, by (the beginning of) its id."""
    return load_run(Workplace(project), run)


def judge(run: Run) -> tuple[JudgedCell, ...]:
    """Return the verdict on every cell, by reference and expectation, and a finding on each that did not pass."""
    return with_findings(run, judged_cells(run))


def compare(first: str, second: str, *, project: Path | None = None) -> Comparisons:
    """Return two stored runs side by side: faster, slower, the same, or the data cannot tell."""
    return compare_runs(Workplace(project), CompareWishes(runs=(first, second)))


def facts() -> HostFacts:
    """Return the facts of this machine: devices, drivers, Pythons, and how its installers are configured."""
    return facts_here(Workplace())
