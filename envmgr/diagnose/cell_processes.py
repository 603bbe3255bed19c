"""Findings on processes that did not pass, from what they wrote."""

from __future__ import annotations

from envmgr.diagnose.cell_findings import completed, numbers_cause
from envmgr.diagnose.reading import read, without_chance
from envmgr.model.cell import Cell
from envmgr.model.finding import Cause, Evidence, Finding
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult


def of_process(found: Finding, cell: Cell, result: CellResult, log: str) -> Finding:
    """Return the finding for a process that did not pass; `found` is what its log and the machine's facts say."""
    evidence = _once(found.evidence, result.reason, log)
    phase = result.phase or found.phase
    if found.cause.kind == "unknown" or result.outcome is Outcome.OUT_OF_MEMORY:
        cause = _of_outcome(cell, result)
        found = found.model_copy(update={"cause": cause, "causes": (cause,), "fix": None})
    return completed(found, phase, "the runner", evidence, _failure(log, result.reason))


def _once(told: tuple[Evidence, ...], reason: str, log: str) -> tuple[Evidence, ...]:
    """Return what was told with the reason of the result, neither said again where the other one has said it."""
    logged = log not in {"", reason}
    if not reason or (logged and any(reason in each.quote for each in told)):
        return told
    return (*(each for each in told if each.quote not in reason), Evidence(quote=reason, where="the result"))


def _of_outcome(cell: Cell, result: CellResult) -> Cause:
    why = result.reason or f"the process ended as {result.outcome.value}"
    if result.outcome is Outcome.OUT_OF_MEMORY:
        return Cause(kind="hardware", name="memory", why=why)
    return numbers_cause(cell, why) if result.outcome is Outcome.WRONG else Cause(kind="unknown", name="", why=why)


def _failure(log: str, reason: str) -> str:
    """Return how a process failed in a form that is equal for failures of one kind."""
    reading = read(log)
    said = f"{reading.exception}: {reading.message}" if reading.raised else reason
    return without_chance(said)
