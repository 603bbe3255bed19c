"""From how a process ended and what it reported to the outcome of a cell; pure, and never an exception."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import NamedTuple

from envmgr.cell.check import Doubt, doubts_about, parse_report
from envmgr.model.cell import Cell
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Report
from envmgr.ports import Completed

_REASON_LIMIT = 600
_MEMORY_TEXTS = re.compile(
    r"\bMemoryError\b|std::bad_alloc|\bout of memory\b|OutOfMemory|RESOURCE_EXHAUSTED|ResourceExhausted"
    r"|cannot allocate memory|oom-kill",
    re.IGNORECASE,
)
_SIGKILL = 9
_UNREADABLE_REQUEST = 2
_TOO_OLD_PYTHON = 86


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a process left behind.

    `report_text` is None when there is no report; `report_problem` tells why the file at its place was not read.
    `log` is what it wrote to stdout and stderr.
    """

    completed: Completed
    report_text: str | None = None
    report_problem: str = ""
    log: str = ""
    memory_limit: int | None = None


class _Verdict(NamedTuple):
    outcome: Outcome
    phase: Phase | None = None
    reason: str = ""
    report: Report | None = None


def classify(evidence: Evidence, cell: Cell, round_number: int = 0) -> CellResult:
    """Return the result of one process of a cell; whatever the evidence holds, there is an outcome."""
    verdict = _verdict(evidence, cell)
    completed = evidence.completed
    reported_memory = verdict.report.peak_memory if verdict.report else None
    return CellResult(
        cell=cell.id,
        round=round_number,
        outcome=verdict.outcome,
        phase=verdict.phase,
        reason=one_line(verdict.reason),
        exit_code=completed.exit_code,
        signal=completed.signal,
        elapsed=completed.elapsed,
        # Seen from outside, a child's peak on Linux holds what its parent had when it forked.
        peak_memory=reported_memory or completed.peak_memory,
        report=verdict.report,
    )


def one_line(text: str) -> str:
    """Return the text on one line, cut in the middle where it is long: an exception's end matters as its start does."""
    line = " ".join(text.split())
    if len(line) <= _REASON_LIMIT:
        return line
    half = (_REASON_LIMIT - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number where this system has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _verdict(evidence: Evidence, cell: Cell) -> _Verdict:
    if not evidence.completed.started:
        why = evidence.completed.stderr or "it could not be started"
        return _Verdict(Outcome.FAILED, Phase.INTERPRETER, f"the interpreter does not start: {why}")
    if evidence.report_problem:
        return _Verdict(Outcome.FAILED, Phase.CHECK, evidence.report_problem)
    if evidence.report_text is None:
        return _without_report(evidence, cell)
    report = parse_report(evidence.report_text, cell)
    if isinstance(report, str):
        return _Verdict(Outcome.FAILED, Phase.CHECK, report)
    verdict = _from_report(report, cell)
    afterwards = _after_report(evidence.completed, cell)
    reason = "; ".join(part for part in (verdict.reason, afterwards) if part)
    return verdict._replace(reason=reason)


def _without_report(evidence: Evidence, cell: Cell) -> _Verdict:
    completed = evidence.completed
    if completed.timed_out:
        reason = f"it did not end within {cell.timeout:g} s and was stopped"
        return _Verdict(Outcome.TIMEOUT, Phase.RUN, reason)
    return _refused_by_runner(evidence) or _out_of_memory(evidence) or _crashed(evidence)


def _refused_by_runner(evidence: Evidence) -> _Verdict | None:
    """Return the failure of a runner that ended on purpose, as the protocol has it, before it could report."""
    code, said = evidence.completed.exit_code, _last_line(evidence.log)
    if code == _TOO_OLD_PYTHON and "envmgr-runner:" in evidence.log:
        return _Verdict(Outcome.FAILED, Phase.INTERPRETER, said)
    if code == _UNREADABLE_REQUEST and "usage:" in evidence.log:
        return _Verdict(Outcome.FAILED, Phase.RUN, f"the runner does not take its request: {said}")
    return None


def _out_of_memory(evidence: Evidence) -> _Verdict | None:
    if evidence.completed.over_memory:
        reason = f"it and what it started took more than the memory limit of {evidence.memory_limit} bytes"
        return _Verdict(Outcome.OUT_OF_MEMORY, Phase.RUN, f"{reason}{_tail(evidence)}")
    told = _MEMORY_TEXTS.search(evidence.log)
    if told:
        reason = f"it ran out of memory ({told.group()!r} in its log){_tail(evidence)}"
        return _Verdict(Outcome.OUT_OF_MEMORY, Phase.RUN, reason)
    return None


def _crashed(evidence: Evidence) -> _Verdict:
    completed = evidence.completed
    phase = _phase_of_crash(evidence.log)
    if completed.signal is None:
        return _Verdict(Outcome.CRASHED, phase, f"no report, exit code {completed.exit_code}{_tail(evidence)}")
    hint = " (often the system, short of memory)" if completed.signal == _SIGKILL else ""
    return _Verdict(Outcome.CRASHED, phase, f"killed by {signal_name(completed.signal)}{hint}{_tail(evidence)}")


def _tail(evidence: Evidence) -> str:
    said = _last_line(evidence.log)
    return f"; its last words: {said}" if said else "; it said nothing"


def _from_report(report: Report, cell: Cell) -> _Verdict:
    if report.status == "failed":
        error = report.error
        if error is None:
            return _Verdict(Outcome.FAILED, Phase.CHECK, "the report says failed but names no error", report)
        reason = f"{error.type}: {error.message}" if error.message else error.type
        short = error.type == "MemoryError" or _MEMORY_TEXTS.search(reason)
        return _Verdict(Outcome.OUT_OF_MEMORY if short else Outcome.FAILED, error.phase, reason, report)
    doubts = doubts_about(report, cell)
    for doubt in (Doubt.BACKEND, Doubt.CHECK):
        reasons = [reason for kind, reason in doubts if kind is doubt]
        if reasons:
            outcome = Outcome.FAILED if doubt is Doubt.BACKEND else Outcome.WRONG
            phase = Phase.BACKEND if doubt is Doubt.BACKEND else Phase.CHECK
            return _Verdict(outcome, phase, "; ".join(reasons), report)
    return _Verdict(Outcome.PASSED, report=report)


def _after_report(completed: Completed, cell: Cell) -> str:
    """Tell what went amiss after the measurement was complete; it is noted, and takes nothing from the numbers."""
    if completed.timed_out:
        return f"after its report it did not end within {cell.timeout:g} s and was stopped"
    if completed.signal is not None:
        return f"after its report it was killed by {signal_name(completed.signal)}"
    return f"after its report it ended with exit code {completed.exit_code}" if completed.exit_code else ""


def _phase_of_crash(log: str) -> Phase:
    """Return the phase that faulthandler's stack shows: a crash below the import machinery is one of the import."""
    _, _, stack = log.rpartition("Fatal Python error")
    return Phase.IMPORT if "importlib._bootstrap" in stack and "most recent call first" in stack else Phase.RUN


def _last_line(log: str) -> str:
    """Return the line that tells most of how a log ends: a fatal error or an exception rather than a stack below it."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(Fatal Python error|[\w.]*(Error|Exception)\b)", line)]
    return (telling or lines or [""])[-1][:200]
