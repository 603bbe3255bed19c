"""What an earlier run was measured in, so that it can be built again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from envmgr.app.building import Builder, Built
from envmgr.app.judging import judged_cells
from envmgr.app.locking import lock_paths
from envmgr.app.runs import stored_run
from envmgr.app.vendoring import is_kept, praise, prune
from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError, UsageError
from envmgr.lock.parse import parse
from envmgr.lock.render import render
from envmgr.manifest.faults import suggest
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest
from envmgr.model.result import Run
from envmgr.store.query import find_cell, split_reference


@dataclass(frozen=True, slots=True)
class PastBuild:
    """An env of an earlier run: the version set and the lock from which it was built."""

    workplace: Workplace
    manifest: Manifest
    variant: str
    label: str
    lock: Lock

    def bring_back(self, builder: Builder) -> Built:
        """Build it; what floats is from then on what was brought back, until it is resolved anew."""
        built = builder.rebuild(self.manifest, self.variant, self.lock)
        if self.manifest.floating:
            own = lock_paths(self.workplace, built.target)[1]
            self.workplace.files.write(own, render(self.lock))
        return built


def keep_locks(workplace: Workplace, run_id: str, built: Iterable[Built | None]) -> None:
    """Put the locks of a run's envs into the run, so that what was measured can be built again from it alone."""
    for each in built:
        if each is not None and each.lock is not None:
            workplace.files.write(workplace.store.lock_path(run_id, each.env.lock_digest), render(each.lock))


def praised(workplace: Workplace, run: Run) -> Run:
    """Return a finished run; what is kept of it and came out well stays kept beside later builds."""
    kept = {label: env.lock_digest for label, env in run.record.envs.items() if is_kept(workplace, env.lock_digest)}
    judged = judged_cells(run) if kept else ()
    for label, digest in kept.items():
        cells = [each for each in judged if each.cell.label == label]
        if any(each.results for each in cells) and not any(each.unexpected for each in cells):
            praise(workplace, digest)
        prune(workplace, label)
    return run


def lock_in_run(workplace: Workplace, run: Run, label: str) -> Lock | None:
    """Return the lock from which an env of a run (of a fleet's run: `HOST/LABEL`) was built, None without one."""
    env = run.record.envs.get(label)
    if env is None:
        return None
    path = workplace.store.lock_path(run.record.id, env.lock_digest)
    text = workplace.files.read(path)
    return None if text is None else parse(text, workplace.project.shown(path))


def past_build(workplace: Workplace, reference: str) -> PastBuild:
    """Return what a cell, named `RUN#CELL`, was measured in; raises StoreError when the run does not keep it."""
    run_name, cell_name = split_reference(reference)
    run = stored_run(workplace, run_name)
    cell = find_cell(run.record.plan, cell_name)
    lock = lock_in_run(workplace, run, run.env_name(cell))
    if cell.manifest not in workplace.shelf:
        raise UsageError(
            f"there is no manifest {cell.manifest!r}",
            f"run {run.record.id} was measured with one; it is no longer in this project",
            suggest(cell.manifest, workplace.shelf),
        )
    if lock is None:
        unbuilt = not run.env_name(cell)
        why = "it could not be built then" if unbuilt else "the run keeps no lock of it: it is a history, or older"
        raise StoreError(
            f"run {run.record.id} cannot bring {cell.label} back", why, f"envmgr build {cell.label} builds it as of now"
        )
    return PastBuild(workplace, workplace.shelf[cell.manifest], cell.variant, cell.label, lock)
