"""The matrix, as data and as text."""

import re

import pytest

from envmgr.model.outcome import Outcome
from envmgr.report import markdown, terminal
from envmgr.report.look import Look
from envmgr.report.original import original_tables
from envmgr.report.summary import headline, matrix_view

SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def view(run, judged, summaries):
    return matrix_view(run, judged, summaries, {"keras_inference": {"batches": 3, "model": "vgg19"}})


def test_cells_of_one_runner_and_parameters_stand_together(view):
    assert [(section.runner, len(section.rows)) for section in view.sections] == [
        ("keras_inference", 7),
        ("torch_mnist", 3),
    ]
    assert view.sections[0].parameters == {"model": "tiny", "batch-size": 8}
    assert view.sections[0].baseline == "keras-jax on cpu:0"


def test_speed_is_relative_to_the_processor_and_of_passed_cells_alone(view):
    speeds = {row.cell: row.speed for section in view.sections for row in section.rows}
    assert speeds["a1"] == 1.0
    assert speeds["a2"] == pytest.approx(0.004 / 0.02)
    assert speeds["a3"] is None
    assert speeds["b2"] == pytest.approx(8.0)


def test_equal_reasons_are_told_once(view):
    notes = {note.number: (note.outcome, note.cells) for note in view.notes}
    assert notes[3] == (
        Outcome.UNAVAILABLE,
        ("keras-torch/keras_inference/mps", "torch-cpu/keras_inference/mps"),
    )
    rows = {row.cell: row.note for section in view.sections for row in section.rows}
    assert (rows["a1"], rows["a5"], rows["a6"], rows["a7"], rows["b3"]) == (None, 3, 3, 4, None)


def test_the_headline_counts(view):
    assert headline(view) == "4 passed, 1 xfail, 1 failed, 3 unavailable, 1 skipped; 1 unexpected; 1 not measured yet"


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("matrix-80.txt", Look(80)),
        ("matrix-120.txt", Look(120)),
        ("matrix-80-color.txt", Look(80, color=True)),
        ("matrix-ascii.txt", Look(80, unicode=False)),
        ("matrix-wide.txt", Look(80, wide=True)),
    ],
)
def test_terminal(view, golden, name, look):
    text = terminal.matrix(view, look)
    golden(name, text)
    if not look.wide:
        assert max(len(line) for line in SGR.sub("", text).splitlines()) <= look.width


def test_colour_adds_nothing_but_colour(view):
    coloured = terminal.matrix(view, Look(80, color=True))
    assert SGR.search(coloured)
    plain = [line.rstrip() for line in SGR.sub("", coloured).splitlines()]
    assert plain == terminal.matrix(view, Look(80)).splitlines()


def test_text_of_runners_steers_neither_terminal_nor_markdown(view):
    texts = [
        terminal.matrix(view, Look(80)),
        SGR.sub("", terminal.matrix(view, Look(80, color=True))),
        markdown.matrix(view),
    ]
    for text in texts:
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "[red]" in texts[0].replace("\n", "")
    assert "<b>" not in texts[2]


def test_ascii_is_ascii(view):
    assert terminal.matrix(view, Look(80, unicode=False)).isascii()


def test_markdown(view, golden):
    text = markdown.matrix(view)
    golden("matrix.md", text)
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_original_tables(judged, summaries, golden):
    tables = original_tables(judged, summaries)
    golden("original.txt", "\n".join(terminal.original(table, Look(100)) for table in tables))
    golden("original.md", "\n".join(markdown.original(table) for table in tables))


def test_original_tables_need_cells(judged, summaries):
    assert original_tables([one for one in judged if not one.results], summaries) == ()


def test_plan(run, golden):
    plan = run.record.plan
    refused = plan.cells[4].model_copy(update={"refusal": Outcome.UNAVAILABLE, "reason": "MPS needs macOS"})
    golden("plan.txt", terminal.plan(plan.model_copy(update={"cells": (*plan.cells[:3], refused)}), Look(80)))


def test_a_plan_breaks_names_behind_a_mark(run):
    plan = run.record.plan
    label = plan.cells[0].model_copy(update={"manifest": "keras-2.2.4-tensorflow-1.13", "variant": "default"})
    refused = plan.cells[4].model_copy(update={"refusal": Outcome.UNAVAILABLE, "reason": "MPS needs macOS " * 9})
    text = terminal.plan(plan.model_copy(update={"cells": (label, refused)}), Look(64))
    assert "keras-2.2.4-  " in text
    assert "tensorflow-1.13" in text
