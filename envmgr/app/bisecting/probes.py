"""Points asked by a probe: throwaway environments, each probed in a place of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from envmgr.app.bisecting.bisect import Likely
from envmgr.app.bisecting.lines import Spot
from envmgr.app.bisecting.standing import Bounds, Standing, revisions_of
from envmgr.app.diagnosing.diagnose import minds_time
from envmgr.app.experiments.crew import Crew, Job
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import named_places, take_snapshot
from envmgr.app.experiments.standpoint import Place
from envmgr.app.experiments.workshop import Built
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import telling_lines
from envmgr.model.bisection import Trial
from envmgr.model.finding import World
from envmgr.model.manifest import Manifest
from envmgr.ports import Event, Process

_LONGEST = 300
_SECONDS = 1800.0


class ProbeOracle:
    """Tells of each point whether the probe passes there."""

    criterion = "probe"
    repeats = True

    def __init__(
        self,
        place: Place,
        room: Path,
        probe: tuple[str, ...],
        given: Mapping[str, str],
        world_at: Callable[[Manifest, str], World],
    ) -> None:
        named = named_places(place.environment, given, place.system)
        snapshot = take_snapshot(place.files, place.home, place.folder, named, room / "snapshot")
        bench = place.bench(probe, given, _SECONDS)
        self._laboratory = Laboratory(bench, place.process, place.files, place.clock, room, snapshot)
        self._place = place
        self._world_at = world_at
        hands = 1 if minds_time(probe) else place.hands
        self._crew = Crew[Observation | None](
            hands, place.process, place.clock, lambda seen: seen is None or not seen.short
        )
        self._likely: Likely = lambda: ()
        self._times: Counter[str] = Counter()

    @contextmanager
    def at_work(self) -> Iterator[ProbeOracle]:
        """Give the oracle; nothing that it began goes on afterwards."""
        with self._crew.at_work(lambda said: self._place.listener.on_event(Event("ahead", "probes", said))):
            yield self

    def expect(self, likely: Likely) -> None:
        """Hear what will probably be asked next."""
        self._likely = likely

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Build the environment of a point."""
        built = self._standing(spot)
        resolved = self._laboratory.resolved(built)
        if built.phase is not None:
            return Standing(spot.python, resolved, {}, built.phase, _told(built.text))
        site = self._laboratory.site_packages(built.folder)
        return Standing(spot.python, resolved, revisions_of(self._place.files, site, names or resolved, resolved))

    def ask(self, spot: Spot, standing: Standing, _bounds: Bounds) -> Trial:
        """Run the probe once."""
        self._times[spot.point.label] += 1
        seen = self._observed(spot)
        return Trial(
            point=spot.point,
            verdict="good" if seen.passed else ("bad" if seen.built else "skipped"),
            phase=seen.phase,
            reason=_reason(seen),
            python=standing.python,
            seconds=seen.seconds,
            resolved=dict(standing.resolved),
            revisions=dict(standing.revisions),
        )

    def _observed(self, spot: Spot) -> Observation:
        (seen,) = self._crew.now([self._job(spot, self._times[spot.point.label])], self._jobs)
        if seen is None:
            raise AssertionError(spot.point.label)
        return seen

    def _standing(self, spot: Spot) -> Built:
        """Build a point, or wait for it where it is being asked ahead."""
        world = self._world_at(spot.manifest, spot.python)
        if self._crew.has_begun(_key(spot, self._times[spot.point.label] + 1)):
            return self._laboratory.stand(world, confined=True)
        built: list[Built] = []

        def carry_out(process: Process) -> Observation | None:
            built.append(self._laboratory.through(process).stand(world, confined=True))
            return None

        self._crew.now([Job(f"{spot.point.label} (built)", carry_out)], self._jobs)
        return built[-1]

    def _jobs(self) -> Sequence[Job[Observation | None]]:
        return [self._job(spot, 2 if again else 1) for spot, again in self._likely()]

    def _job(self, spot: Spot, time: int) -> Job[Observation | None]:
        """Return the asking of a point for the first or a later time."""

        def carry_out(process: Process) -> Observation:
            return self._laboratory.through(process).observe(self._world_at(spot.manifest, spot.python))

        return Job(_key(spot, time), carry_out)


def _key(spot: Spot, time: int) -> str:
    return f"{spot.point.label} ({time})"


def _reason(seen: Observation) -> str:
    """Return in one line why a probe failed: the last exception, or the signal that ended it."""
    if seen.passed:
        return ""
    if seen.signal is not None:
        return f"ended by signal {seen.signal}"
    reading = seen.reading
    apart = reading.exception and not reading.message.startswith(reading.exception)
    return f"{reading.exception}: {reading.message}"[:_LONGEST] if apart else reading.message[:_LONGEST]


def _told(text: str) -> str:
    """Return in one line why an environment could not be built: what a resolver concludes, else what tells most."""
    whole = " ".join(text.split())
    concluded = whole.find("Because ")
    return (whole[concluded:] if concluded >= 0 else "; ".join(telling_lines(text, 2)))[:_LONGEST]
