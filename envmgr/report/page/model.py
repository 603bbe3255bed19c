"""What the HTML page shows, worked out: the template and the script only place it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from envmgr.model.history import Point
from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell, Run
from envmgr.report.look import signed
from envmgr.report.original import OriginalTable
from envmgr.report.page.cell import cell_data
from envmgr.report.page.charts import Bars, Scatter, bars_of, scatter_of
from envmgr.report.page.reasons import Link, Reasons, links, reasons_of
from envmgr.report.shared_findings import SharedFinding
from envmgr.report.summary import MatrixView, Row, headline, letters_of
from envmgr.report.text import clean, parameters, processes, ratio, seconds

_SPEED_STEPS = (0.5, 0.9, 1.1, 2.0)
_MEANT = {
    Outcome.WRONG: "numbers disagree",
    Outcome.XFAIL: "fails as expected",
    Outcome.XPASS: "passes against expectation",
    Outcome.UNAVAILABLE: "this host lacks it",
    Outcome.NOT_OFFERED: "its backend does not list it",
}
_ABSENT = frozenset({Outcome.UNAVAILABLE, Outcome.NOT_OFFERED})
ROWS_AT_ONCE = 100
"""So many rows of the matrix are laid out when the page opens; the script adds others when they are wanted."""


class Story(NamedTuple):
    """Everything a page is made from; `logs` and `history` are by cell id."""

    run: Run
    judged: Sequence[JudgedCell]
    view: MatrixView
    logs: Mapping[str, str]
    history: Mapping[str, Sequence[Point]]
    originals: Sequence[OriginalTable] = ()


class Heading(Noun):
    """One column of the matrix: a runner with its parameters, and a device."""

    key: str
    runner: str
    parameters: str
    device: str


class Group(Noun):
    """Neighbouring columns of one runner with the same parameters; speeds are relative to the `baseline`."""

    runner: str
    parameters: str
    baseline: str
    columns: int


class Square(Noun):
    """One cell of the matrix as it is shown."""

    id: str
    kind: str
    sign: str
    word: str
    time: str = ""
    speed: str = ""
    level: int | None = None
    marks: str = ""
    note: int | None = None
    unexpected: bool = False


class Line(Noun):
    """One row of the matrix: a version set (on a host) and what stands in each column."""

    host: str
    label: str
    squares: tuple[tuple[Square, ...], ...]


class Told(NamedTuple):
    """One finding as the page lists it, and the first of its cells; `more` counts the others."""

    causes: tuple[str, ...]
    state: str
    cells: tuple[Link, ...]
    more: int


class Page(Noun):
    """The whole page; `data` is what the script works with."""

    title: str
    headline: str
    facts: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, str, int], ...]
    signs: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]
    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    at_once: int = ROWS_AT_ONCE
    several_hosts: bool
    charts: tuple[Bars, ...]
    scatter: Scatter | None
    reasons: Reasons
    originals: tuple[OriginalTable, ...]
    data: dict[str, Any]
    findings: tuple[Told, ...]
    damaged: tuple[str, ...]


def page_of(story: Story) -> Page:
    """Return the page of a run."""
    view = story.view
    placed = _placed(view)
    headings = _headings(placed)
    return Page(
        title=clean(f"{view.matrix} on {view.host}"),
        headline=headline(view),
        facts=_facts(story),
        counts=tuple((outcome.value, signed(outcome), count) for outcome, count in view.counts.items()),
        signs=_signs(view),
        groups=_groups(headings, view),
        headings=headings,
        lines=_lines(view, placed, headings),
        several_hosts=len(view.hosts) > 1,
        charts=tuple(chart for section in view.sections if (chart := bars_of(section.rows, section.parameters))),
        scatter=scatter_of([row for section in view.sections for row in section.rows]),
        reasons=reasons_of(view),
        originals=tuple(story.originals),
        data=_data(story, placed, headings),
        findings=tuple(_told(found) for found in view.findings),
        damaged=tuple(clean(text) for text in view.damaged),
    )


def _told(found: SharedFinding) -> Told:
    cells, more = links(found.ids, found.names)
    return Told(tuple(map(clean, found.causes)), clean(found.state), cells, more)


def _facts(story: Story) -> tuple[tuple[str, str], ...]:
    view, record = story.view, story.run.record
    return (
        ("run", clean(view.run)),
        ("host", clean(", ".join(view.hosts) or view.host)),
        ("started", clean(_moment(view.started_at))),
        ("effort", f"{view.effort}, {processes(view.processes, view.most_processes)} a cell"),
        *(("processes", clean(line)) for line in view.rounds),
        ("envmgr", clean(record.envmgr)),
        *((("state", "not finished"),) if not view.finished else ()),
    )


def _moment(text: str) -> str:
    """Return a moment as people read it; what is none stays as it is."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text


def _placed(view: MatrixView) -> list[tuple[Heading, Row]]:
    """Return every row with its column.

    A column is a device's API, so that columns line up across backends and hosts; where a version set has several
    devices behind one API, it is the device.
    """
    rows = [(parameters(section.parameters), row) for section in view.sections for row in section.rows]
    behind: dict[tuple[str, ...], set[str]] = {}
    for shown, row in rows:
        behind.setdefault((row.host, row.label, row.runner, shown, row.api), set()).add(row.device)
    several = {key[-1] for key, devices in behind.items() if len(devices) > 1}
    placed = []
    for shown, row in rows:
        device = row.device if row.api in several or not row.api else row.api
        key = f"{row.runner} {shown} {device}"
        placed.append((Heading(key=key, runner=row.runner, parameters=shown, device=clean(device)), row))
    return placed


def _headings(placed: Sequence[tuple[Heading, Row]]) -> tuple[Heading, ...]:
    """Return the columns by runner, those in which something was measured before those that the host has not."""
    runners = list(dict.fromkeys((heading.runner, heading.parameters) for heading, _ in placed))
    there = {heading for heading, row in placed if row.outcome not in _ABSENT}
    return tuple(
        sorted(
            dict.fromkeys(heading for heading, _ in placed),
            key=lambda heading: (runners.index((heading.runner, heading.parameters)), heading not in there),
        )
    )


def _signs(view: MatrixView) -> tuple[tuple[str, str], ...]:
    """Return the signs of the matrix with the outcomes that they stand for."""
    meant: dict[str, list[str]] = {}
    for outcome in view.counts:
        sign, word = signed(outcome).split(" ", 1)
        meant.setdefault(sign, []).append(f"{word} ({_MEANT[outcome]})" if outcome in _MEANT else word)
    return tuple((sign, " or ".join(words)) for sign, words in meant.items())


def _groups(headings: Sequence[Heading], view: MatrixView) -> tuple[Group, ...]:
    baselines = {(section.runner, parameters(section.parameters)): clean(section.baseline) for section in view.sections}
    return tuple(
        Group(
            runner=runner,
            parameters=shown,
            baseline=baselines.get((runner, shown), ""),
            columns=sum(1 for _ in members),
        )
        for (runner, shown), members in groupby(headings, key=lambda heading: (heading.runner, heading.parameters))
    )


def _lines(view: MatrixView, placed: Sequence[tuple[Heading, Row]], headings: Sequence[Heading]) -> tuple[Line, ...]:
    found: dict[tuple[str, str], dict[str, list[Square]]] = {}
    for heading, row in placed:
        found.setdefault((row.host, row.label), {}).setdefault(heading.key, []).append(_square(row))
    hosts = len(view.hosts) > 1
    return tuple(
        Line(
            host=clean(host) if hosts else "",
            label=clean(label),
            squares=tuple(tuple(squares.get(heading.key, ())) for heading in headings),
        )
        for (host, label), squares in found.items()
    )


def _square(row: Row) -> Square:
    sign, word = signed(row.outcome).split(" ", 1)
    timed = row.summary.median is not None
    return Square(
        id=row.cell,
        kind=row.outcome.value,
        sign=sign,
        word=word,
        time=seconds(row.summary.median) if timed else "",
        speed=ratio(row.speed),
        level=None if row.speed is None else sum(row.speed >= step for step in _SPEED_STEPS),
        marks=letters_of(row),
        note=row.note,
        unexpected=row.unexpected,
    )


def _data(story: Story, placed: Sequence[tuple[Heading, Row]], headings: Sequence[Heading]) -> dict[str, Any]:
    """Return what the script shows on demand; envs stand once, cells point to them."""
    columns = {heading.key: place for place, heading in enumerate(headings)}
    judged = {each.cell.id: each for each in story.judged}
    envs = story.run.record.envs
    names = {label: place for place, label in enumerate(envs)}
    notes = {note.number: note.reason for note in story.view.notes}
    findings = {ident: place for place, found in enumerate(story.view.findings) for ident in found.ids}
    cells = []
    for heading, row in placed:
        past = story.history.get(row.cell, ())
        told = cell_data(row, judged[row.cell], notes.get(row.note or 0, ""), past)
        told |= {"column": columns[heading.key]}
        told |= {"log": story.logs[row.cell]} if row.cell in story.logs else {}
        told |= {"finding": findings[row.cell]} if row.cell in findings else {}
        env = story.run.env_name(judged[row.cell].cell)
        cells.append(told | ({"env": names[env]} if env else {}))
    return {
        "columns": [_column_name(heading) for heading in headings],
        "runners": [heading.runner for heading in headings],
        "cells": cells,
        "envs": [
            {
                "resolved": env.resolved,
                "python": f"{env.interpreter.implementation} {env.interpreter.version} {env.interpreter.arch}",
                "executable": env.interpreter.executable,
            }
            for env in envs.values()
        ],
        "findings": [found.finding.model_dump(mode="json") for found in story.view.findings],
        "severalHosts": len(story.view.hosts) > 1,
    }


def _column_name(heading: Heading) -> str:
    return " ".join(part for part in (heading.runner, heading.parameters, heading.device) if part)
