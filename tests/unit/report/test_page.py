"""The HTML page: what stands where, and that nothing in it can run or reach out."""

import json
import math
import re

import pytest

from envmgr.model.comparison import Verdict
from envmgr.model.conditions import Conditions
from envmgr.model.history import Point
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult
from envmgr.model.summary import Mark
from envmgr.report.axis import Axis, axis_for
from envmgr.report.original import original_tables
from envmgr.report.page.charts import scatter_of
from envmgr.report.page.machine import machine_of
from envmgr.report.page.model import Story, page_of
from envmgr.report.page.render import html
from envmgr.report.summary import matrix_view

HOSTILE_LOG = "</script><script>alert(1)</script><!-- & \x1b[31m"


@pytest.fixture
def story(run, judged, summaries):
    view = matrix_view(run, judged, summaries)
    points = (
        Point(run="r1", started_at="2026-01-01", outcome=Outcome.PASSED, median=0.003),
        Point(
            run="r2", started_at="2026-01-02", outcome=Outcome.PASSED, median=0.004, change=Verdict.SLOWER, ratio=1.3
        ),
    )
    return Story(run, judged, view, {"a4": HOSTILE_LOG}, {"a1": points})


@pytest.fixture
def text(story):
    return html(page_of(story))


def embedded(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_columns_are_devices_by_their_api_so_that_backends_line_up(story):
    page = page_of(story)
    inference = [heading.device for heading in page.headings if heading.runner == "keras_inference"]
    assert inference == ["cpu", "llvm", "mps", "metal"]
    assert [(group.runner, group.columns) for group in page.groups] == [("keras_inference", 4), ("torch_mnist", 2)]
    labels = [line.label for line in page.lines]
    assert labels.index("keras-jax") == 0
    assert len(labels) == len(set(labels))


def test_two_devices_behind_one_api_get_a_column_each(story, run, judged, summaries):
    twin = judged[0].cell.device.model_copy(update={"id": "cpu:1"})
    second = judged[0].model_copy(update={"cell": judged[0].cell.model_copy(update={"id": "z9", "device": twin})})
    summaries["z9"] = summaries["a1"]
    view = matrix_view(run, (*judged, second), summaries)
    page = page_of(Story(run, (*judged, second), view, {}, {}))
    devices = [heading.device for heading in page.headings]
    assert {"cpu:0", "cpu:1"} <= set(devices)


def test_speed_has_a_depth_and_what_is_wrong_has_none(story):
    squares = {cell.id: cell for line in page_of(story).lines for column in line.squares for cell in column}
    assert squares["a1"].level == 2
    assert squares["b2"].level == 4
    assert squares["a3"].level is None
    assert (squares["a3"].sign, squares["a3"].word) == ("~", "xfail")
    assert squares["a4"].unexpected


def test_the_page_reaches_out_for_nothing(text):
    outside = re.findall(r"""(?:src|href|action)\s*=\s*["'](?!#|data:)([^"']*)""", text)
    assert outside == []
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_what_runners_say_cannot_end_the_data_or_run(text):
    assert text.count("<script") == 2
    cells = {cell["id"]: cell for cell in embedded(text)["cells"]}
    assert cells["a4"]["log"] == HOSTILE_LOG
    ours = r"<b>(?:[\d.]+ (?:us|ms|s)|[a-z]|(?:\S )?[a-z-]+|[^\w<])</b>"
    assert "<b>" not in re.sub(ours, "", text)
    assert "&lt;b&gt;|*x*" in text


def test_the_data_holds_what_the_parts_of_cells_show(text):
    data = embedded(text)
    cells = {cell["id"]: cell for cell in data["cells"]}
    assert data["envs"][cells["a1"]["env"]]["resolved"] == {"keras": "3.12.0"}
    assert "env" not in cells["a5"]
    assert [cells[name]["column"] for name in ("a1", "a2", "a5")] == [0, 1, 2]
    assert cells["a3"]["reason"].startswith("output 'probabilities' is not finite")
    assert [point.get("change") for point in cells["a1"]["history"]] == [None, "slower"]
    assert cells["a1"]["samples"] == [[0.004, 0.003, 0.005]]


def test_a_number_that_is_not_finite_is_a_text_as_json_has_none(story):
    page = page_of(story)
    data = {**page.data, "findings": [{"seconds": math.nan}]}
    assert embedded(html(page.model_copy(update={"data": data})))["findings"] == [{"seconds": "NaN"}]


def test_every_measured_cell_has_a_bar_the_shortest_first_and_a_wrong_one_last(story):
    inference = page_of(story).charts[0]
    assert [bar.id for bar in inference.bars] == ["a1", "a2", "a3"]
    ends = [bar.end for bar in inference.bars]
    assert ends[2] < ends[0] < ends[1]
    assert all(0 <= end <= 100 for end in ends)
    assert inference.bars[2].text == "~ xfail, 1.00 ms"


def test_numbers_and_letters_of_the_matrix_are_told_without_script(story, text):
    page = page_of(story)
    squares = {cell.id: cell for line in page.lines for column in line.squares for cell in column}
    told = {reason.number: reason for reason in page.reasons.reasons}
    assert told[squares["a4"].note].outcome == "✗ failed"
    assert told[squares["a3"].note].observed == "wrong"
    assert told[squares["a5"].note].cells == (
        ("a5", "keras-torch/keras_inference/mps"),
        ("a6", "torch-cpu/keras_inference/mps"),
    )
    assert '<a href="#cell-a6">torch-cpu/keras_inference/mps</a>' in text


def test_doubts_have_letters_and_a_legend(run, judged, summaries):
    alone = judged[1].model_copy(update={"parity": judged[0].parity})  # the reference is another cell, not among these
    nothing = alone.parity.model_copy(update={"reference": ""})
    busy = Mark(kind="busy", text="other programs kept 1.50 of 2 cores busy", processes=1)
    summaries["a2"] = summaries["a2"].model_copy(update={"marks": (busy,)})
    view = matrix_view(run, [alone.model_copy(update={"parity": nothing})], summaries)
    text = html(page_of(Story(run, [alone.model_copy(update={"parity": nothing})], view, {}, {})))
    assert "nb</sup>" in text
    assert "<b>n</b>: no cell that the matrix trusts" in text
    assert "<b>b</b>: other programs kept 1.50 of 2 cores busy" in text
    told = embedded(text)["cells"][0]
    assert (told["numbers"], told["doubts"]) == ("unchecked", "other programs kept 1.50 of 2 cores busy")


def test_what_the_machine_was_like_is_told_in_a_line():
    quiet = Conditions(cores=2, load_before=0.1, load_after=0.5, others=0.02, available=0.75, frequency=2400)
    busy = Conditions(cores=2, load_before=0.5, load_after=2.25, others=1.5, available=0.5, frequency=2400)
    results = [CellResult(cell="a", outcome=Outcome.PASSED, conditions=each) for each in (quiet, busy, None)]
    assert machine_of(results) == (
        "load 0.10 to 2.25; others kept up to 1.50 of 2 cores busy; frequency 2400 MHz; "
        "at least 50 % of the memory free"
    )
    assert machine_of([CellResult(cell="a", outcome=Outcome.PASSED, conditions=Conditions(cores=2))]) == ""


def test_the_original_tables_stand_on_the_page(story, judged, summaries):
    tables = original_tables(judged, summaries)
    text = html(page_of(story._replace(originals=tables)))
    for made in tables:
        assert f">{made.title}</h2>" in text
        assert f'<td class="number">{made.rows[-1][1]}</td>' in text
    assert 'class="original"' not in html(page_of(story))


def test_the_line_of_equal_times_lies_on_both_axes(story):
    (across, up), (last_across, last_up) = scatter_of(
        [row for section in story.view.sections for row in section.rows]
    ).equal
    assert 0 in {across, up}
    assert 100 in {last_across, last_up}


def test_an_axis_holds_its_values_and_labels_its_ticks():
    axis = axis_for([0.0012, 0.9])
    assert (axis.low, axis.high) == (pytest.approx(0.001), pytest.approx(1.0))
    assert [tick.label for tick in axis.ticks()] == ["1.00 ms", "10.0 ms", "100 ms", "1.00 s"]
    assert [tick.place for tick in axis.ticks()] == pytest.approx([0, 33.33, 66.67, 100], abs=0.01)
    assert axis_for([]) == Axis(1.0, 10.0)
    near = axis_for([0.11, 0.12])
    assert near.low < 0.11
    assert near.high > 0.12
