"""What a matrix has to say, as rows and notes: all arithmetic of reports is here, the rest only renders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell, Parity, Run
from envmgr.model.summary import Summary
from envmgr.report.doubts import GOOD, UNCHECKED, MarkNote, Numbers, disturbed, letters, numbers_of, unchecked
from envmgr.report.shared_findings import SharedFinding, shared_findings


class Row(Noun):
    """One cell: what it is, what became of it, how fast it was.

    `speed` is the baseline's time divided by this one's (2 is twice as fast), of cells that passed alone: a wrong
    answer has no speed. `numbers` tells what its outputs were compared with and how they compare: they are those of the
    reference, agree or disagree with it, are `unchecked` where no reference was there, or are none (empty). `note` is
    the number of the note that tells why; `marks` are the letters of what disturbed the measurement. `drawn` is what a
    sparkline shows: one value a process, of a single process its samples.
    """

    cell: str
    name: str
    label: str
    runner: str
    device: str
    api: str = ""
    python: str = ""
    host: str = ""
    outcome: Outcome
    observed: Outcome | None = None
    unexpected: bool = False
    summary: Summary
    speed: float | None = None
    parity: Parity | None = None
    numbers: Numbers = ""
    note: int | None = None
    marks: str = ""
    drawn: tuple[float, ...] = ()


class Section(Noun):
    """The cells of one runner with the same parameters; `baseline` names the cell that speeds are relative to."""

    runner: str
    parameters: dict[str, Any]
    baseline: str = ""
    rows: tuple[Row, ...]


class Note(Noun):
    """One reason, and all the cells that it holds for."""

    number: int
    outcome: Outcome
    observed: Outcome | None
    reason: str
    cells: tuple[str, ...]
    ids: tuple[str, ...]


class MatrixView(Noun):
    """A run as tables show it; `hosts` are the hosts of its cells.

    `marks` tell what disturbed measurements, `unchecked` which cells passed though their numbers were compared with
    nothing, and why. `findings` tell the causes, each once. `rounds` tell how many of at most `most_processes` the
    cells of each runner have had, and why.
    """

    run: str
    matrix: str
    host: str
    hosts: tuple[str, ...] = ()
    effort: str
    processes: int
    most_processes: int | None = None
    rounds: tuple[str, ...] = ()
    started_at: str
    finished: bool
    sections: tuple[Section, ...]
    notes: tuple[Note, ...]
    marks: tuple[MarkNote, ...] = ()
    unchecked: tuple[MarkNote, ...] = ()
    findings: tuple[SharedFinding, ...] = ()
    counts: dict[Outcome, int]
    unexpected: int
    unmeasured: int
    damaged: tuple[str, ...] = ()


def matrix_view(
    run: Run,
    judged: Sequence[JudgedCell],
    summaries: Mapping[str, Summary],
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
) -> MatrixView:
    """Return the view of a run; `summaries` is by cell id.

    `defaults` are the runners' own parameters: what is not changed from them need not be read.
    """
    names = _names(judged)
    notes = _notes(judged, names)
    plan = run.record.plan
    return MatrixView(
        run=run.record.id,
        matrix=plan.matrix,
        host=run.record.host,
        hosts=tuple(dict.fromkeys(cell.cell.host for cell in judged if cell.cell.host)),
        effort=plan.effort,
        processes=plan.processes,
        most_processes=plan.further.processes if plan.further else None,
        started_at=run.record.started_at,
        finished=run.finished,
        sections=_sections(judged, summaries, (notes, names), defaults or {}),
        notes=notes,
        marks=disturbed((names[cell.cell.id], _summary(cell, summaries).marks) for cell in judged),
        unchecked=unchecked(judged, names),
        findings=shared_findings(judged, {note.reason: note.number for note in notes}, names),
        counts=dict(Counter(cell.outcome for cell in judged)),
        unexpected=sum(cell.unexpected for cell in judged),
        unmeasured=sum(cell.observed is None for cell in judged),
        damaged=run.damaged,
    )


def headline(view: MatrixView) -> str:
    """Return in one sentence what became of the cells."""
    counted = ", ".join(f"{count} {outcome.value}" for outcome, count in view.counts.items()) or "no cells"
    verdict = "nothing unexpected" if not view.unexpected else f"{view.unexpected} unexpected"
    alone = sum(UNCHECKED in letters_of(row) for section in view.sections for row in section.rows)
    unchecked = f"; {alone} compared with nothing" if alone else ""
    missing = f"; {view.unmeasured} not measured yet" if view.unmeasured else ""
    return f"{counted}; {verdict}{unchecked}{missing}"


def letters_of(row: Row) -> str:
    """Return the letters of everything that makes a row doubtful: compared with nothing, disturbed."""
    alone = row.numbers == "unchecked" and row.outcome in GOOD
    return f"{UNCHECKED}{row.marks}" if alone else row.marks


def error_of(row: Row) -> str:
    """Return how far a row's numbers are from the reference's, in a word."""
    if row.numbers in {"agrees", "disagrees"} and row.parity:
        return f"{row.parity.max_rel:.1e}"
    return {"reference": "reference", "unchecked": "none"}.get(row.numbers, "")


def _names(judged: Sequence[JudgedCell]) -> dict[str, str]:
    """Return each cell's name by its id; where there are several hosts, it begins with the host's."""
    several = len({cell.cell.host for cell in judged if cell.cell.host}) > 1
    return {
        cell.cell.id: f"{cell.cell.host} {cell.cell.name}" if several and cell.cell.host else cell.cell.name
        for cell in judged
    }


def _notes(judged: Sequence[JudgedCell], names: Mapping[str, str]) -> tuple[Note, ...]:
    told: dict[tuple[Outcome, Outcome | None, str], list[JudgedCell]] = {}
    for cell in judged:
        if cell.reason and cell.observed is not None:
            told.setdefault((cell.outcome, cell.observed, cell.reason), []).append(cell)
    return tuple(
        Note(
            number=number,
            outcome=outcome,
            observed=observed,
            reason=reason,
            cells=tuple(dict.fromkeys(names[cell.cell.id] for cell in cells)),
            ids=tuple(cell.cell.id for cell in cells),
        )
        for number, ((outcome, observed, reason), cells) in enumerate(told.items(), start=1)
    )


_NOTHING = Summary(processes=0, samples=0)


def _summary(cell: JudgedCell, summaries: Mapping[str, Summary]) -> Summary:
    return summaries.get(cell.cell.id, _NOTHING)


def _drawn(cell: JudgedCell, summary: Summary) -> tuple[float, ...]:
    if len(summary.by_round) > 1:
        return tuple(summary.by_round.values())
    reports = [result.report for result in cell.results if result.report and result.report.samples]
    return reports[0].samples if reports and summary.samples else ()


def _sections(
    judged: Sequence[JudgedCell],
    summaries: Mapping[str, Summary],
    told: tuple[tuple[Note, ...], Mapping[str, str]],
    defaults: Mapping[str, Mapping[str, Any]],
) -> tuple[Section, ...]:
    grouped: dict[tuple[str, str], list[JudgedCell]] = {}
    for cell in judged:
        key = (cell.cell.runner, repr(sorted(cell.cell.parameters.items())))
        grouped.setdefault(key, []).append(cell)
    notes, names = told
    numbers = {ident: note.number for note in notes for ident in note.ids}
    return tuple(
        _section(cells, summaries, (numbers, names), defaults.get(cells[0].cell.runner, {}))
        for cells in grouped.values()
    )


def _section(
    cells: list[JudgedCell],
    summaries: Mapping[str, Summary],
    told: tuple[Mapping[str, int], Mapping[str, str]],
    defaults: Mapping[str, Any],
) -> Section:
    numbers, names = told
    first = cells[0].cell
    baseline = baseline_of(cells, summaries)
    middle = _median(baseline, summaries) if baseline else None
    changed = {name: value for name, value in first.parameters.items() if defaults.get(name) != value}
    return Section(
        runner=first.runner,
        parameters=changed,
        baseline=_in_words(baseline, names) if baseline else "",
        rows=tuple(
            _row(cell, _summary(cell, summaries), middle, (names[cell.cell.id], numbers.get(cell.cell.id)))
            for cell in cells
        ),
    )


def _in_words(baseline: JudgedCell, names: Mapping[str, str]) -> str:
    cell = baseline.cell
    place = " on ".join(part for part in (cell.label, cell.device_name) if part)
    return place if names[cell.id] == cell.name else f"{place} of {cell.host}"


def baseline_of(cells: Sequence[JudgedCell], summaries: Mapping[str, Summary]) -> JudgedCell | None:
    """Return the plain processor cell that speeds are relative to: the best reference that passed, else the first."""
    timed = [cell for cell in cells if cell.outcome in GOOD and cell.cell.on_processor and _median(cell, summaries)]
    ranked = sorted(timed, key=lambda cell: (cell.cell.reference_rank is None, cell.cell.reference_rank or 0))
    return ranked[0] if ranked else None


def _median(cell: JudgedCell, summaries: Mapping[str, Summary]) -> float | None:
    summary = summaries.get(cell.cell.id)
    return summary.median if summary else None


def _row(judged: JudgedCell, summary: Summary, baseline: float | None, told: tuple[str, int | None]) -> Row:
    cell = judged.cell
    name, note = told
    middle = summary.median
    comparable = baseline and middle and judged.outcome in GOOD
    return Row(
        cell=cell.id,
        name=name,
        label=cell.label,
        runner=cell.runner,
        device=cell.device_name,
        api=cell.api,
        python=cell.python,
        outcome=judged.outcome,
        observed=judged.observed,
        unexpected=judged.unexpected,
        host=cell.host,
        summary=summary,
        speed=baseline / middle if comparable and baseline and middle else None,
        parity=judged.parity,
        numbers=numbers_of(judged),
        note=note,
        marks=letters(summary.marks),
        drawn=_drawn(judged, summary),
    )
