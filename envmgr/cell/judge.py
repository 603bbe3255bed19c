"""The verdict on each cell: its processes together, parity and expectations taken into account."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from envmgr.model.cell import Cell
from envmgr.model.manifest import Expect
from envmgr.model.outcome import NEUTRAL, Outcome, Phase
from envmgr.model.result import CellResult, JudgedCell, Parity

_WORST_FIRST = (
    Outcome.GONE,
    Outcome.BUILD_FAILED,
    Outcome.CRASHED,
    Outcome.OUT_OF_MEMORY,
    Outcome.TIMEOUT,
    Outcome.FAILED,
    Outcome.WRONG,
    Outcome.NOT_OFFERED,
    Outcome.UNAVAILABLE,
    Outcome.SKIPPED,
    Outcome.PASSED,
)


@dataclass(frozen=True, slots=True)
class _Observation:
    """What happened to a cell before any expectation; `outcome` is None when nothing has been measured yet."""

    outcome: Outcome | None
    phase: Phase | None = None
    reason: str = ""


def judge(
    cells: Iterable[Cell], results: Iterable[CellResult], parities: Mapping[str, Parity]
) -> tuple[JudgedCell, ...]:
    """Return every cell with its processes and the verdict, in the order of the cells; `parities` is by cell id."""
    by_cell: dict[str, list[CellResult]] = {}
    for result in results:
        by_cell.setdefault(result.cell, []).append(result)
    return tuple(_judged(cell, by_cell.get(cell.id, []), parities.get(cell.id)) for cell in cells)


def exit_code(judged: Iterable[JudgedCell]) -> int:
    """Return 1 when any cell fails the matrix, else 0."""
    return int(any(cell.unexpected for cell in judged))


def foreseen(cell: Cell, result: CellResult) -> bool:
    """Tell whether a process that did not pass did what an expectation of its cell says."""
    seen = _Observation(result.outcome, result.phase, result.reason)
    return result.outcome is not Outcome.PASSED and any(_holds(expect, seen) for expect in cell.expect)


def _judged(cell: Cell, results: list[CellResult], parity: Parity | None) -> JudgedCell:
    results = sorted(results, key=lambda result: result.round)
    seen = _with_parity(_observed(cell, results), parity)
    outcome, expected, unexpected, reason = _against(cell.expect, seen)
    return JudgedCell(
        cell=cell,
        outcome=outcome,
        observed=seen.outcome,
        expected=expected,
        unexpected=unexpected,
        phase=seen.phase,
        reason=reason,
        results=tuple(results),
        parity=parity,
    )


def _observed(cell: Cell, results: list[CellResult]) -> _Observation:
    """Return the worst that happened to the cell's processes; every different reason of that outcome is kept."""
    if cell.refusal:
        return _Observation(cell.refusal, cell.phase, cell.reason)
    if not results:
        return _Observation(None, None, "not measured")
    worst = min((result.outcome for result in results), key=_WORST_FIRST.index)
    affected = [result for result in results if result.outcome is worst]
    reason = "; ".join(dict.fromkeys(result.reason for result in affected if result.reason))
    if worst is not Outcome.PASSED and len(affected) < len(results):
        reason = f"{reason} (in {len(affected)} of {len(results)} processes)".strip()
    return _Observation(worst, affected[0].phase, reason)


def _with_parity(seen: _Observation, parity: Parity | None) -> _Observation:
    """Return what was seen, or `wrong` where the numbers of a passed cell disagree."""
    if parity is None or parity.verdict != "disagrees" or seen.outcome is not Outcome.PASSED:
        return seen
    reason = "; ".join(part for part in (parity.worst, seen.reason) if part)
    return _Observation(Outcome.WRONG, Phase.CHECK, reason)


def _against(expects: tuple[Expect, ...], seen: _Observation) -> tuple[Outcome, Outcome | None, bool, str]:
    """Return outcome, expected outcome, whether it is unexpected, and the reason, for what was seen.

    An expectation holds only when outcome and reason both match. What the host decides is never unexpected: a cell
    that could not be tried says nothing about its expectation.
    """
    if seen.outcome is None:
        return Outcome.SKIPPED, expects[0].outcome if expects else None, False, seen.reason
    if not expects:
        bad = seen.outcome is not Outcome.PASSED and seen.outcome not in NEUTRAL
        return seen.outcome, None, bad, seen.reason
    for expect in expects:
        if _holds(expect, seen):
            known_bad = seen.outcome is not Outcome.PASSED and seen.outcome not in NEUTRAL
            return Outcome.XFAIL if known_bad else seen.outcome, expect.outcome, False, seen.reason
    expect = expects[0]
    if seen.outcome in NEUTRAL:
        return seen.outcome, expect.outcome, False, seen.reason
    told = f"expected {expect.outcome} with a reason like {expect.reason!r}"
    if seen.outcome is Outcome.PASSED:
        return Outcome.XPASS, expect.outcome, True, f"it passed; {told}"
    return seen.outcome, expect.outcome, True, f"{seen.reason}; {told}" if seen.reason else told


def _holds(expect: Expect, seen: _Observation) -> bool:
    if expect.outcome is not seen.outcome:
        return False
    return seen.outcome is Outcome.PASSED or re.search(expect.reason, seen.reason) is not None
