"""From two sights of the machine to the conditions that a process ran under; pure."""

from __future__ import annotations

from envmgr.model.conditions import Conditions, Sight

_NAMED = 3
_TELLING = 0.05
_SHORTEST = 0.02


def conditions_between(before: Sight, after: Sight, own: float | None) -> Conditions:
    """Return what went on besides a process that itself took `own` processor seconds (None: not known).

    Over less than 20 ms the system's counters, which tick, tell nothing of other programs.
    """
    elapsed = after.at - before.at
    told = own is not None and elapsed >= _SHORTEST
    stolen = max(0.0, after.stolen - before.stolen) / elapsed if elapsed > 0 else 0.0
    return Conditions(
        cores=after.cores,
        load_before=before.load,
        load_after=after.load,
        others=round(max(0.0, after.busy - before.busy - (own or 0.0)) / elapsed, 3) if told else None,
        neighbours=_neighbours(before, after) if told else {},
        stolen=round(stolen, 3),
        available=round(min(before.available, after.available) / after.memory, 3) if after.memory else None,
        moved=max(0, after.moved - before.moved),
        throttled=None if before.throttled is None or after.throttled is None else after.throttled - before.throttled,
        frequency=after.frequency,
        speed_limit=after.speed_limit,
    )


def _listed(sight: Sight) -> float:
    return sight.at if sight.listed is None else sight.listed


def _neighbours(before: Sight, after: Sight) -> dict[str, float]:
    elapsed = _listed(after) - _listed(before)
    if elapsed < _SHORTEST:
        return {}
    known = {program.partition(" ")[0]: seconds for program, seconds in before.programs.items()}
    shares: dict[str, float] = {}
    for program, seconds in after.programs.items():
        number, _, name = program.partition(" ")  # kernel workers change their names, not their numbers
        share = (seconds - known.get(number, 0.0)) / elapsed
        if share >= _TELLING:
            shares[name] = round(shares.get(name, 0.0) + share, 2)
    busiest = sorted(shares.items(), key=lambda pair: -pair[1])[:_NAMED]
    return dict(busiest)
