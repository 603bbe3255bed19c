"""Which measurements are to be taken with care: what disturbed them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from envmgr.model.conditions import Conditions
from envmgr.model.result import CellResult
from envmgr.model.summary import Mark, MarkKind

BUSY_CORES = 0.2
"""Other programs disturb when they keep more than this many cores busy, or BUSY_SHARE of all cores if that is more."""
BUSY_SHARE = 0.05
SCARCE_MEMORY = 0.1
MOVED_BYTES = 16 * 1024**2
FULL_SPEED = 100.0
UNSTEADY = 0.1
"""Samples are unsteady when the last third of a process's samples differs from the first by more than this."""
_THIRDS = 3
_FEWEST_SAMPLES = 9


def marks_of(results: Sequence[CellResult]) -> tuple[Mark, ...]:
    """Return everything that makes the figures of one cell's processes doubtful, each kind once."""
    found: dict[MarkKind, list[tuple[float, str]]] = {}
    for result in results:
        for kind, weight, text in (*_outside(result.conditions), *_inside(result)):
            found.setdefault(kind, []).append((weight, text))
    return tuple(Mark(kind=kind, text=max(each)[1], processes=len(each)) for kind, each in found.items())


def crowding(results: Sequence[CellResult]) -> float:
    """Return by which factor other programs could have slowed down a cell's processes: the median over them.

    They could by the share of the cores that they took, or, where more programs wait than there are cores, by all of
    them. 1 where the machine was the cell's own.
    """
    factors = [_crowding(result.conditions) for result in results if result.conditions]
    return median(factors) if factors else 1.0


def _crowding(conditions: Conditions) -> float:
    taken = (conditions.others or 0.0) + conditions.stolen
    if taken <= max(BUSY_CORES, BUSY_SHARE * conditions.cores):
        return 1.0
    waiting = max(conditions.load_before or 0.0, conditions.load_after or 0.0)
    return max(1 + taken / conditions.cores, waiting / conditions.cores)


def _outside(conditions: Conditions | None) -> Iterator[tuple[MarkKind, float, str]]:
    if conditions is None:
        return
    limit = max(BUSY_CORES, BUSY_SHARE * conditions.cores)
    if conditions.others is not None and conditions.others > limit:
        busiest = ", ".join(f"{name} {share:.2f}" for name, share in conditions.neighbours.items())
        text = f"other programs kept {conditions.others:.2f} of {conditions.cores} cores busy"
        yield "busy", conditions.others, f"{text} ({busiest})" if busiest else text
    if conditions.stolen > limit:
        yield "stolen", conditions.stolen, f"the host of this virtual machine took {conditions.stolen:.2f} cores"
    if conditions.throttled:
        yield "throttled", conditions.throttled, f"cores were slowed down for their heat {conditions.throttled} times"
    if conditions.speed_limit is not None and conditions.speed_limit < FULL_SPEED:
        limit_text = f"the system bound the processor to {conditions.speed_limit:.0f} % of its speed"
        yield "throttled", FULL_SPEED - conditions.speed_limit, limit_text
    if conditions.available is not None and conditions.available < SCARCE_MEMORY:
        yield "memory", 1 - conditions.available, f"only {100 * conditions.available:.0f} % of the memory was free"
    elif conditions.moved > MOVED_BYTES:
        megabytes = conditions.moved / 1024**2
        yield "memory", megabytes / 1e6, f"the system swapped {megabytes:.0f} MiB meanwhile"


def _inside(result: CellResult) -> Iterator[tuple[MarkKind, float, str]]:
    if result.env_changed:
        changed = f"its environment was found changed ({result.env_changed}), set aside and built again"
        yield "rebuilt", 1.0, changed
    samples = result.report.samples if result.report else ()
    if len(samples) < _FEWEST_SAMPLES:
        return
    size = len(samples) // _THIRDS
    first, last = median(samples[:size]), median(samples[-size:])
    if first > 0 and abs(last / first - 1) > UNSTEADY:
        change = last / first - 1
        yield "unsteady", abs(change), f"samples changed by {100 * change:+.0f} % from first to last third"
