"""Points asked by a probe: throwaway environments, each probed in a place of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from envmgr.app.bisecting.lines import Spot
from envmgr.app.bisecting.standing import Bounds, Standing, revisions_of
from envmgr.app.diagnosing.diagnose import Place
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import named_places, take_snapshot
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import telling_lines
from envmgr.model.bisection import Trial
from envmgr.model.finding import World
from envmgr.model.manifest import Manifest

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
        named = named_places(place.environment, given)
        snapshot = take_snapshot(place.files, place.home, place.folder, named, room / "snapshot")
        bench = place.bench(probe, given, _SECONDS)
        self._laboratory = Laboratory(bench, place.process, place.files, place.clock, room, snapshot)
        self._place = place
        self._world_at = world_at

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Build the environment of a point."""
        built = self._laboratory.stand(self._world_at(spot.manifest, spot.python), confined=True)
        resolved = self._laboratory.resolved(built)
        if built.phase is not None:
            return Standing(spot.python, resolved, {}, built.phase, _told(built.text))
        site = self._laboratory.site_packages(built.folder)
        return Standing(spot.python, resolved, revisions_of(self._place.files, site, names or resolved, resolved))

    def ask(self, spot: Spot, standing: Standing, _bounds: Bounds) -> Trial:
        """Run the probe once."""
        seen = self._laboratory.observe(self._world_at(spot.manifest, spot.python))
        return Trial(
            point=spot.point,
            verdict="good" if seen.passed else ("bad" if seen.built else "skipped"),
            phase=seen.phase,
            reason=_reason(seen),
            python=standing.python,
            resolved=dict(standing.resolved),
            revisions=dict(standing.revisions),
        )


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
