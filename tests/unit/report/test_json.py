import json
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

import pytest

from envmgr.model.outcome import Outcome
from envmgr.report.json import envelope, plan_data, run_data, strict, text_of

SHAPE = {
    *("manifest", "variant", "runner", "device", "parameters", "outcome", "observed", "expected", "phase", "reason"),
    *("host", "resolved", "interpreter", "effort", "first_call", "samples", "peak_memory", "parity", "finding"),
}


@pytest.fixture
def data(run, judged, summaries):
    return json.loads(json.dumps(envelope("matrix run", run_data(run, judged, summaries), None), allow_nan=False))[
        "data"
    ]


def test_every_cell_has_the_whole_shape(data):
    assert all(set(cell) >= SHAPE for cell in data["cells"])
    assert len({frozenset(cell) for cell in data["cells"]}) == 1


def test_a_measured_cell(data):
    cell = data["cells"][0]
    assert cell["device"] == {"id": "cpu:0", "api": "cpu", "physical": "Xeon"}
    assert (cell["outcome"], cell["observed"], cell["expected"]) == ("passed", "passed", None)
    assert cell["resolved"] == {"keras": "3.12.0"}
    assert cell["interpreter"]["version"] == "3.11.7"
    assert (cell["first_call"], cell["samples"], cell["effort"]) == (1.25, [[0.004, 0.003, 0.005]], "quick")
    assert set(cell["parity"]) == {"reference", "max_abs", "max_rel", "share_off", "verdict"}


def test_numbers_that_are_not_finite_are_strings(data):
    assert data["cells"][2]["parity"]["max_abs"] == "inf"
    assert data["cells"][7]["metrics"] == [{"accuracy": 0.981, "loss": ["nan", 0.5]}]


def test_a_device_that_is_not_there_is_shown_as_it_was_asked_for(data):
    assert data["cells"][4]["device"] == {"id": "mps", "api": "mps", "physical": ""}
    assert data["cells"][4]["samples"] == []
    assert data["cells"][4]["parity"] is None


def test_the_head_of_the_run(data):
    assert data["run"]["id"] == "20260102T030405Z-abcdef"
    assert data["run"]["finished"] is False
    assert data["run"]["unexpected"] == 1
    assert data["run"]["damaged"] == ["c9-0.json: damaged: no JSON"]


def test_an_error_has_its_four_parts():
    error = {"code": "lock", "what": "a", "why": "b", "hint": "c"}
    assert envelope("lock", None, error) == {"schema": 1, "command": "lock", "data": None, "error": error}


def test_planned_cells_have_the_identity_of_measured_ones(run, data):
    planned = strict(plan_data(run.record.plan.cells))
    assert [cell["id"] for cell in planned] == [cell["id"] for cell in data["cells"]]
    assert set(planned[0]) <= set(data["cells"][0])


def test_anything_of_ours_becomes_plain():
    class Pair(NamedTuple):
        left: Outcome
        right: int

    value = {
        "pair": Pair(Outcome.PASSED, 1),
        Outcome.WRONG: (float("nan"), float("inf"), -float("inf"), 1.5, True, None),
        "set": {"b", "a"},
        "day": date(2026, 1, 2),
        "path": PurePosixPath("/a"),
    }
    assert strict(value) == {
        "pair": {"left": "passed", "right": 1},
        "wrong": ["nan", "inf", "-inf", 1.5, True, None],
        "set": ["a", "b"],
        "day": "2026-01-02",
        "path": "/a",
    }


@pytest.mark.parametrize("value", [{"a": [1, 2.5, None, True], "é": {}, "b": []}, {"path": "no text: \udc80"}])
def test_a_document_reads_back_as_it_was_whatever_its_texts_hold(value):
    text = text_of(value)
    assert json.loads(text) == value
    assert text.splitlines()[1].startswith('  "')
