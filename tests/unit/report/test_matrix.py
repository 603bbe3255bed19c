"""The matrix, as data and as text."""

import re

import pytest
from markdown_it import MarkdownIt

from envmgr.model.outcome import Outcome
from envmgr.model.result import Parity
from envmgr.model.summary import Mark
from envmgr.report import markdown, terminal
from envmgr.report.look import Look
from envmgr.report.original import original_tables
from envmgr.report.summary import headline, letters_of, matrix_view

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


def alone(judged):
    """Return the cells of one runner without their reference: its numbers were compared with nothing."""
    parity = Parity(reference="", max_abs=0, max_rel=0, share_off=0, verdict="not-compared")
    return [one.model_copy(update={"parity": parity}) for one in judged if one.cell.id in {"a2", "a3"}]


def test_what_passed_without_a_reference_is_told_everywhere(run, judged, summaries):
    view = matrix_view(run, alone(judged), summaries)
    rows = {row.cell: (row.numbers, letters_of(row)) for section in view.sections for row in section.rows}
    assert rows == {"a2": ("unchecked", "n"), "a3": ("unchecked", "")}  # what is wrong by itself needs no reference
    assert [note.cells for note in view.unchecked] == [("plaidml-0.7.0@py3.8/keras_inference/llvm_cpu.0",)]
    assert headline(view) == "1 passed, 1 xfail; nothing unexpected; 1 compared with nothing"
    why = "no cell that the matrix trusts as a reference is among those measured"
    text = terminal.matrix(view, Look(80))
    assert f"Compared with nothing\n  n  {why}\n" in text
    assert re.search(r"plaidml-0.7.0@py3.8  llvm_cpu.0 .* n$", text, re.MULTILINE)
    assert f"- `n` {why} (`plaidml-0.7.0@py3.8/" in markdown.matrix(view)


@pytest.mark.parametrize(
    ("observed", "state"), [(Outcome.FAILED, "failed"), (Outcome.WRONG, "wrong"), (None, "not measured yet")]
)
def test_a_reference_that_came_out_badly_is_named(run, judged, summaries, observed, state):
    reference = judged[0].model_copy(update={"observed": observed, "outcome": observed or Outcome.SKIPPED})
    view = matrix_view(run, [reference, *alone(judged)], summaries)
    assert view.unchecked[0].text == f"no reference came out well: keras-jax/keras_inference/cpu:0 is {state}"


def test_cells_without_a_device_have_speeds_too(run, judged, summaries):
    bare = [
        one.model_copy(update={"cell": one.cell.model_copy(update={"device": None})}) for one in judged if one.results
    ]
    section = matrix_view(run, bare, summaries).sections[0]
    assert section.baseline == "keras-jax"
    assert [row.speed for row in section.rows] == [1.0, pytest.approx(0.2), None, None]
    assert " device " not in terminal.matrix(matrix_view(run, bare[:3], summaries), Look(80))


def test_what_disturbed_stands_in_markdown_too(run, judged, summaries):
    mark = Mark(kind="busy", text="other programs kept 1.50 of 2 cores busy", processes=1)
    summaries["a1"] = summaries["a1"].model_copy(update={"marks": (mark,)})
    text = markdown.matrix(matrix_view(run, judged, summaries))
    assert "| 297.5 MiB | b |" in text
    assert "- `b` other programs kept 1.50 of 2 cores busy (`keras-jax/" in text


def test_reasons_name_the_host_where_there_are_several(run, judged, summaries):
    elsewhere = judged[4].cell.model_copy(update={"id": "z5", "host": "mac"})
    view = matrix_view(run, (*judged, judged[4].model_copy(update={"cell": elsewhere})), summaries)
    assert view.notes[2].cells == (
        "box keras-torch/keras_inference/mps",
        "box torch-cpu/keras_inference/mps",
        "mac keras-torch/keras_inference/mps",
    )


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


def test_markdown_renders_as_tables_and_lists(view, judged, summaries):
    rendered = MarkdownIt("commonmark").enable("table").render(markdown.matrix(view))
    tables = re.findall(r"<table>.*?</table>", rendered, re.DOTALL)
    assert [table.count("<tr>") for table in tables] == [1 + len(section.rows) for section in view.sections]
    assert {line.count("<td") for table in tables for line in table.split("<tr>")[2:]} == {9}
    assert rendered.count("<li>") == len(view.notes) + len(view.damaged)
    assert "<b>" not in rendered
    for made in original_tables(judged, summaries):
        assert MarkdownIt("commonmark").enable("table").render(markdown.original(made)).count("<table>") == 1


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
