"""The HTML page: what stands where, and that nothing in it can run or reach out."""

import json
import re

import pytest

from envmgr.model.comparison import Verdict
from envmgr.model.history import Point
from envmgr.model.outcome import Outcome
from envmgr.report.axis import Axis, axis_for
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
    assert "<b>" not in re.sub(r"<b>[\d.]+ (?:us|ms|s)</b>|<b>unexpected</b>", "", text)


def test_the_data_holds_what_the_parts_of_cells_show(text):
    data = embedded(text)
    cells = {cell["id"]: cell for cell in data["cells"]}
    assert data["envs"][cells["a1"]["env"]]["resolved"] == {"keras": "3.12.0"}
    assert "env" not in cells["a5"]
    assert [cells[name]["column"] for name in ("a1", "a2", "a5")] == [0, 1, 2]
    assert cells["a3"]["reason"].startswith("output 'probabilities' is not finite")
    assert [point.get("change") for point in cells["a1"]["history"]] == [None, "slower"]
    assert cells["a1"]["samples"] == [[0.004, 0.003, 0.005]]


def test_every_measured_cell_has_a_bar_with_the_shortest_first(story):
    inference = page_of(story).charts[0]
    assert [bar.id for bar in inference.bars] == ["a3", "a1", "a2"]
    ends = [bar.end for bar in inference.bars]
    assert ends == sorted(ends)
    assert all(0 <= end <= 100 for end in ends)


def test_an_axis_holds_its_values_and_labels_its_ticks():
    axis = axis_for([0.0012, 0.9])
    assert (axis.low, axis.high) == (pytest.approx(0.001), pytest.approx(1.0))
    assert [tick.label for tick in axis.ticks()] == ["1.00 ms", "10.0 ms", "100 ms", "1.00 s"]
    assert [tick.place for tick in axis.ticks()] == pytest.approx([0, 33.33, 66.67, 100], abs=0.01)
    assert axis_for([]) == Axis(1.0, 10.0)
    near = axis_for([0.11, 0.12])
    assert near.low < 0.11
    assert near.high > 0.12
