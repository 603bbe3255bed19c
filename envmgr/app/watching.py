"""`matrix watch`: the newest nightly beside the last good one, and on a change the day that brought it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from envmgr.app.building import BuildWishes
from envmgr.app.comparing import CompareWishes, compare, slower_than
from envmgr.app.hosting import true_settings
from envmgr.app.judging import judged_cells
from envmgr.app.locking import lock_paths
from envmgr.app.matrix import MatrixWishes, run_matrix
from envmgr.app.nightlies import Day, as_of, days_of, watched
from envmgr.app.passwords import web_of
from envmgr.app.past import lock_in_run
from envmgr.app.planning import Selection
from envmgr.app.releases_of_index import Releases, default_index
from envmgr.app.workplace import Workplace
from envmgr.errors import HostError, NothingSelectedError, StoreError, UsageError
from envmgr.lock.render import render
from envmgr.manifest.expand import select, target, variants
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell, Output, Run
from envmgr.ports import Event
from envmgr.stats.bisect import bisect
from envmgr.stats.parity import compare as compare_outputs

_DAYS = 120
_RUNS_BACK = 60


@dataclass(frozen=True, slots=True)
class WatchWishes:
    """What is watched: a matrix (and of it one version set that floats), from which good day on, how much slower."""

    selection: Selection
    build: BuildWishes
    good: str | None = None
    slower: float = 0.2
    command: tuple[str, ...] = ()


class Tried(NamedTuple):
    """One day that was measured: its builds, its run, and what is otherwise than on the good day."""

    date: str
    versions: dict[str, str]
    run: str
    changes: tuple[str, ...] = ()
    built: bool = True


class Watched(NamedTuple):
    """What a watch found: the newest day against the good one, and on a change the day that brought it.

    `untried` are days in between that could not be built: the change came with one of them or with `culprit`.
    """

    manifest: str
    newest: Tried
    good: Tried | None
    culprit: Tried | None
    last_good: Tried | None
    untried: tuple[str, ...]
    runs: int

    @property
    def regressed(self) -> bool:
        """True when the newest day is not as good as the good one."""
        return bool(self.newest.changes)


def watch(workplace: Workplace, wishes: WatchWishes) -> Watched:
    """Measure the newest nightly beside the last good one; where something changed, find the day by bisection.

    What was resolved last stays the newest. Raises NothingSelectedError where nothing floats or no day is offered.
    """
    manifest, variant = _floating(workplace, wishes)
    days = offered_days(workplace, manifest)[-_DAYS:]
    trial = _Trial(workplace, wishes, manifest, variant)
    newest = trial.run(days[-1])
    good_place = _good_day(workplace, wishes, manifest, days)
    if good_place is None or good_place == len(days) - 1:
        return Watched(trial.label, trial.told(newest, days[-1], None), None, None, None, (), trial.count)
    good = trial.run(days[good_place])
    told_good = trial.told(good, days[good_place], None)
    told_newest = trial.told(newest, days[-1], good)
    if told_good.changes or not told_newest.changes:
        trial.settle(newest)
        return Watched(trial.label, told_newest, told_good, None, None, (), trial.count)
    tried = {good_place: told_good, len(days) - 1: told_newest}

    def is_good(place: int) -> bool | None:
        run = trial.run(days[place])
        tried[place] = trial.told(run, days[place], good)
        return None if not tried[place].built and told_newest.built else not tried[place].changes

    turn = bisect(good_place, len(days) - 1, is_good)
    trial.settle(newest)
    return Watched(
        manifest=trial.label,
        newest=told_newest,
        good=told_good,
        culprit=tried[turn.first_bad],
        last_good=tried[turn.last_good],
        untried=tuple(days[place].date for place in turn.untried),
        runs=trial.count,
    )


class _Trial:
    """Runs the matrix with the version set as of one day, and says what is otherwise than on another."""

    def __init__(self, workplace: Workplace, wishes: WatchWishes, manifest: Manifest, variant: str) -> None:
        self._workplace = workplace
        self._wishes = wishes
        self._manifest = manifest
        self._variant = variant
        self.label = manifest.name if variant == "default" else f"{manifest.name}@{variant}"
        self.count = 0

    def run(self, day: Day) -> Run:
        """Measure one day."""
        self.count += 1
        told = ", ".join(f"{name} {version}" for name, version in day.versions.items())
        self._workplace.listener.on_event(Event("watch", self.label, f"{day.date}: {told}"))
        self._workplace.shelf.stand_in(as_of(self._manifest, day))
        chosen = self._wishes.selection
        selection = Selection(chosen.matrix, (self.label,), chosen.devices, chosen.effort)
        try:
            return run_matrix(
                self._workplace, MatrixWishes(selection, self._wishes.build, command=self._wishes.command)
            )
        finally:
            self._workplace.shelf.stand_in(self._manifest)

    def told(self, run: Run, day: Day, good: Run | None) -> Tried:
        """Return a day with what is otherwise than in the good run; without one, with what fails."""
        changes = self._changes(run, good) if good else _failing(judged_cells(run))
        return Tried(day.date, dict(day.versions), run.record.id, changes, self.label in run.record.envs)

    def settle(self, newest: Run) -> None:
        """Let what was resolved last be the newest day again, if that could be built."""
        lock = lock_in_run(self._workplace, newest, self.label)
        if lock is not None:
            own = lock_paths(self._workplace, target(self._manifest, self._variant, lock.platform))[1]
            self._workplace.files.write(own, render(lock))

    def _changes(self, run: Run, good: Run) -> tuple[str, ...]:
        before = {each.cell.id: each for each in judged_cells(good)}
        judged = judged_cells(run)
        known = [(before[each.cell.id], each) for each in judged if each.cell.id in before]
        found = [*_outcomes(known), *numbers_apart(known)]
        if not known:
            return _failing(judged)
        compared = compare(self._workplace, CompareWishes((good.record.id, run.record.id)))
        found += [
            f"speed of {pair.name}: {pair.ratio:.2f} times the time"
            for pair in slower_than(compared, self._wishes.slower)
            if pair.ratio is not None
        ]
        return tuple(found)


def _outcomes(pairs: list[tuple[JudgedCell, JudgedCell]]) -> list[str]:
    return [
        f"outcome of {now.cell.name}: {now.observed}, was passed: {now.reason}"
        for was, now in pairs
        if was.observed is Outcome.PASSED and now.observed is not Outcome.PASSED
    ]


def numbers_apart(pairs: list[tuple[JudgedCell, JudgedCell]]) -> list[str]:
    """Return for each pair of cells (then, now) whose numbers do not agree by how much they differ."""
    found = []
    for was, now in pairs:
        wanted, have = _outputs(was), _outputs(now)
        if wanted and have and now.observed is Outcome.PASSED:
            parity = compare_outputs(have, wanted, was.cell, now.cell.tolerance)
            if parity.verdict == "disagrees":
                found.append(f"parity of {now.cell.name} with the good day: {parity.worst}")
    return found


def _outputs(judged: JudgedCell) -> dict[str, Output]:
    reports = [result.report for result in judged.results if result.report]
    return dict(reports[0].outputs) if reports else {}


def _failing(judged: tuple[JudgedCell, ...]) -> tuple[str, ...]:
    return tuple(f"outcome of {each.cell.name}: {each.observed}: {each.reason}" for each in judged if each.unexpected)


def _floating(workplace: Workplace, wishes: WatchWishes) -> tuple[Manifest, str]:
    names = wishes.selection.names or workplace.shelf.matrix(wishes.selection.matrix).manifests
    floats = [(manifest, variant) for manifest, variant in select(names, workplace.shelf) if manifest.floating]
    if not floats:
        raise NothingSelectedError(
            "nothing that floats is selected",
            f"wanted a manifest with floating = true; found {', '.join(names)}",
            "envmgr matrix watch MATRIX -e NAME",
        )
    if len(floats) > 1:
        listed = ", ".join(manifest.name for manifest, _ in floats)
        raise UsageError("one version set is watched at a time", f"found {listed}", "name one with -e NAME")
    manifest, variant = floats[0]
    return manifest, variant or variants(manifest)[0]


def offered_days(workplace: Workplace, manifest: Manifest) -> tuple[Day, ...]:
    """Return the days on which something that floats in a manifest was built; raises HostError where there is none."""
    settings = true_settings(workplace)
    by_name = {package: index.url for index in manifest.index for package in index.packages}
    web = web_of(workplace)
    default = settings.index_url or default_index(workplace.uv, workplace.process, workplace.caller.environment)
    pages = {url: Releases(web, url) for url in {*by_name.values(), default}}
    days = days_of(manifest, lambda name: pages[by_name.get(name, default)](name))
    if not days:
        places = ", ".join(sorted({by_name.get(name, "the default index") for name in watched(manifest)}))
        raise HostError(
            f"no day of {manifest.name} is to be had",
            f"wanted dated builds of {', '.join(watched(manifest))}; found none at {places}, or no answer",
            "look at the index's address and the network",
        )
    return days


def _good_day(workplace: Workplace, wishes: WatchWishes, manifest: Manifest, days: tuple[Day, ...]) -> int | None:
    """Return the place of the good day: the one named, that of the last good run, else the oldest that is offered."""
    if wishes.good is not None:
        upto = [place for place, day in enumerate(days) if day.date <= wishes.good]
        if not upto:
            raise UsageError(
                f"there is no build up to {wishes.good}", f"the oldest is of {days[0].date}", "--good DATE"
            )
        return upto[-1]
    known = []
    for name in workplace.store.names()[-_RUNS_BACK:]:
        try:
            head = workplace.store.head(name)
        except StoreError:  # a damaged run is none to go by
            continue
        envs = [env for env in head.envs.values() if env.manifest == manifest.name]
        if head.plan.matrix != wishes.selection.matrix or not envs:
            continue
        places = [place for place, day in enumerate(days) if day.versions.items() <= envs[0].resolved.items()]
        if places and places[0] < len(days) - 1 and not _failing(judged_cells(workplace.store.load(name))):
            known.append(places[0])
    return max(known, default=0 if len(days) > 1 else None)
