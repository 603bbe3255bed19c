"""Every cell that did not pass has a finding; cells with one cause share one, which names what would prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envmgr.diagnose.cell_findings import of_parity, of_refusal
from envmgr.diagnose.records.host_facts import SYSTEMS
from envmgr.model.cell import Cell
from envmgr.model.env import Env
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell, Run


@dataclass(frozen=True, slots=True)
class Measured:
    """What a cell was measured in: its manifest and its env."""

    manifest: Manifest
    env: Env | None = None


def with_evidence(result: CellResult, cell: Cell, log: str, facts: HostFacts, measured: Measured) -> CellResult:
    """Return a process's result with what its log and the facts of its machine say, if it did not pass."""
    if result.outcome is Outcome.PASSED:
        return result
    from envmgr.diagnose.cell_processes import of_process
    from envmgr.diagnose.records import judge
    from envmgr.diagnose.records.host_facts import facts_of_host
    from envmgr.diagnose.records.record import Record

    env, manifest = measured.env, measured.manifest
    known = facts_of_host(facts, env.interpreter if env else None, env.resolved if env else None)
    found = judge(Record(_told(log, result), known, manifest.requirements, manifest.env))
    return result.model_copy(update={"finding": of_process(found, cell, result, _told(log, result))})


def with_findings(run: Run, judged: Sequence[JudgedCell]) -> tuple[JudgedCell, ...]:
    """Return the cells with a finding on each that was measured, or could not be, and did not pass."""
    shared: dict[str, Finding] = {}
    refusals: dict[tuple[object, ...], Finding] = {}
    return tuple(
        each.model_copy(update={"finding": _shared(run, each, shared, refusals)}) if _wants(each) else each
        for each in judged
    )


def _wants(judged: JudgedCell) -> bool:
    return judged.observed is not None and judged.observed is not Outcome.PASSED


def _shared(
    run: Run, judged: JudgedCell, shared: dict[str, Finding], refusals: dict[tuple[object, ...], Finding]
) -> Finding:
    found = _refused(judged.cell, refusals) if judged.cell.refusal else _measured(judged)
    if found.id not in shared:
        origin = run.origins.get(judged.cell.id, run.record.id)
        command = f"envmgr diagnose {origin}#{judged.cell.id}"
        shared[found.id] = run.proven.get(found.id) or found.model_copy(update={"next": command})
    return shared[found.id]


def _refused(cell: Cell, known: dict[tuple[object, ...], Finding]) -> Finding:
    named = cell.label if cell.label in cell.reason else ""  # what a host lacks, it lacks for every version set
    known_by = (cell.refusal, cell.phase, cell.reason, cell.device_name, cell.api, cell.platform)
    key = (named, cell.python, cell.lacking, *known_by)
    if key not in known:
        known[key] = of_refusal(cell, _unbuilt(cell) if cell.refusal is Outcome.BUILD_FAILED else None)
    return known[key]


def _unbuilt(cell: Cell) -> Finding:
    from envmgr.diagnose.records import judge
    from envmgr.diagnose.records.record import Facts, Record

    platform = cell.platform
    facts = {
        "system": SYSTEMS.get(platform.system) if platform else None,
        "machine": platform.arch if platform else "",
        "python": {"version": cell.python},
    }
    return judge(Record(cell.reason, Facts.model_validate(facts)))


def _measured(judged: JudgedCell) -> Finding:
    told = [result for result in judged.results if result.outcome is judged.observed]
    if not told and judged.parity is not None:
        return of_parity(judged.cell, judged.parity, judged.reason)
    for result in told:
        if result.finding is not None:
            return result.finding
    return _of_reason(judged, told[0] if told else judged.results[0])


def _of_reason(judged: JudgedCell, result: CellResult) -> Finding:
    """Return a finding for a process of an older run, which kept none: its one line of reason is all there is."""
    from envmgr.diagnose.cell_processes import of_process
    from envmgr.diagnose.records import judge
    from envmgr.diagnose.records.record import Facts, Record

    return of_process(judge(Record(result.reason, Facts())), judged.cell, result, "")


def _told(log: str, result: CellResult) -> str:
    """Return all that a process said: its log, and the error that it reported."""
    error = result.report.error if result.report else None
    told = [log, error.traceback if error else "", f"{error.type}: {error.message}" if error else ""]
    told += [f"ended by signal {result.signal}"] if result.signal else []
    return "\n".join(part for part in told if part) or result.reason


def distinct_findings(judged: Sequence[JudgedCell]) -> Mapping[str, tuple[JudgedCell, ...]]:
    """Return the cells of each finding, by its id."""
    found: dict[str, list[JudgedCell]] = {}
    for each in judged:
        if each.finding is not None:
            found.setdefault(each.finding.id, []).append(each)
    return {ident: tuple(cells) for ident, cells in found.items()}
