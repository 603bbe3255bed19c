"""CSV, JUnit XML and pyperf's JSON."""

import csv
import io
import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from envmgr.model.conditions import Conditions
from envmgr.report import junit, pyperf_json, table_csv
from envmgr.report.summary import matrix_view

# What the schema junit-10 allows, element by element: attributes (a star: required) and children.
ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name*", "tests*", "failures*", "errors*", "skipped", "time", "timestamp", "hostname", "id", "package"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "testcase": ({"name*", "time", "classname", "group"}, {"skipped", "failure", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


def conforms(element):
    attributes, children = ALLOWED[element.tag]
    names = {name.rstrip("*") for name in attributes}
    assert set(element.keys()) <= names
    assert {name.rstrip("*") for name in attributes if name.endswith("*")} <= set(element.keys())
    if element.get("time") is not None:
        assert re.fullmatch(r"[0-9]+\.[0-9]{3}", element.get("time"))
    for child in element:
        assert child.tag in children
        conforms(child)


def test_csv_has_a_line_a_cell_and_raw_numbers(run, judged, summaries):
    view = matrix_view(run, judged, summaries)
    lines = list(csv.DictReader(io.StringIO(table_csv.text(view, {each.cell.id: each for each in judged}))))
    assert [line["cell"] for line in lines] == [each.cell.id for each in judged]
    assert float(lines[0]["median"]) == 0.004
    assert (lines[2]["outcome"], lines[2]["observed"], lines[2]["speed"]) == ("xfail", "wrong", "")
    assert json.loads(lines[0]["parameters"])["model"] == "tiny"
    assert [line["parity"] for line in lines[:4]] == ["reference", "agrees", "disagrees", ""]


def test_text_that_a_spreadsheet_would_run_is_quoted(run, judged, summaries):
    evil = judged[3].model_copy(update={"reason": '=HYPERLINK("http://x")'})
    view = matrix_view(run, [evil], summaries)
    line = next(csv.DictReader(io.StringIO(table_csv.text(view, {"a4": evil}))))
    assert line["reason"].startswith("'=")


def test_junit_conforms_to_its_schema(run, judged):
    text = junit.junit(run, judged, {"a4": "line one\n\x1b[31mred\x00"})
    root = ET.fromstring(text)
    conforms(root)
    assert (root.get("tests"), root.get("failures")) == ("10", "1")


def test_junit_tells_what_was_compared_with_nothing(run, judged):
    nothing = judged[0].parity.model_copy(update={"reference": ""})
    root = ET.fromstring(junit.junit(run, [judged[0].model_copy(update={"parity": nothing}), judged[1]], {}))
    conforms(root)
    told = [case.findtext("system-out") for case in root.iter("testcase")]
    assert told == ["its numbers were compared with nothing", None]


def test_junit_fails_what_fails_the_matrix_and_skips_what_is_expected(run, judged):
    root = ET.fromstring(junit.junit(run, judged, {"a4": "its log"}))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert cases["keras-2.2.4-tensorflow-1.13 CPU:0"].find("failure").text == "its log"
    assert "not finite" in cases["plaidml-0.6.4 llvm_cpu.0"].find("skipped").get("message")
    assert "needs macOS" in cases["keras-torch mps"].find("skipped").get("message")
    assert len(cases["keras-jax cpu:0"]) == 0
    assert sum(int(suite.get("tests")) for suite in root) == len(judged)


@pytest.mark.integration
def test_pyperf_compares_two_runs(run, judged, tmp_path):
    pytest.importorskip("pyperf")
    for name, times in (("before", 1.0), ("after", 2.0)):
        first = judged[0].results[0]
        report = first.report.model_copy(update={"samples": tuple(times * each for each in first.report.samples)})
        changed = judged[0].model_copy(update={"results": (first.model_copy(update={"report": report}),)})
        (tmp_path / f"{name}.json").write_text(pyperf_json.pyperf(run, (changed, *judged[1:])))
    command = [sys.executable, "-m", "pyperf", "compare_to", "before.json", "after.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(r"keras-jax/keras_inference/cpu:0 .*: .* 2\.00x slower", done.stdout)


def test_pyperf_reads_the_samples(run, judged, tmp_path):
    pyperf = pytest.importorskip("pyperf")
    first = judged[0]
    dated = first.results[0].model_copy(
        update={
            "started_at": "2026-01-02T03:04:05+00:00",
            "elapsed": 3.5,
            "peak_memory": 10**8,
            "conditions": Conditions(cores=2, load_before=0.5),
        }
    )
    place = tmp_path / "run.json"
    place.write_text(pyperf_json.pyperf(run, (first.model_copy(update={"results": (dated,)}), *judged[1:])))
    suite = pyperf.BenchmarkSuite.load(str(place))
    assert len(suite) == 4  # the wrong one and those without samples are not among them
    benchmark = suite.get_benchmarks()[0]
    assert benchmark.get_values() == (0.004, 0.003, 0.005)
    assert benchmark.get_runs()[0].warmups == ((1, 1.25),)
    assert benchmark.get_metadata()["hostname"] == "box"
    assert benchmark.get_dates()[0].isoformat() == "2026-01-02T03:04:05"
