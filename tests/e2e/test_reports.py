"""Measured, compared, reported, carried to another project: as users do it, on a small world."""

import csv
import json
import shutil
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.integration


def test_several_processes_are_measured_compared_and_reported(project):
    project.manifest("twin")
    project.matrix(manifests=["one", "twin"], effort="default")
    code, answer = project.json("matrix", "run")
    assert code == 0
    cells = answer["data"]["cells"]
    assert [len(cell["samples"]) for cell in cells] == [10, 10]
    assert all(len(cell["conditions"]) == 10 and cell["conditions"][0]["cores"] >= 1 for cell in cells)

    code, answer = project.json("matrix", "compare", "--cell", "one", "--cell", "twin", "--fail-if-slower", "10%")
    assert code == 0
    pair = answer["data"]["pairs"][0]
    assert (pair["verdict"], pair["paired"], pair["processes"]) == ("same", True, [10, 10])

    written = ("--html", "r.html", "--markdown", "r.md", "--csv", "r.csv", "--junit", "r.xml", "--pyperf", "r.json")
    done = project.run("matrix", "report", *written)
    assert done.returncode == 0
    assert (project.root / "r.html").read_text().lstrip().startswith("<!doctype html>")
    assert "| one |" in (project.root / "r.md").read_text()
    assert [line["manifest"] for line in csv.DictReader((project.root / "r.csv").read_text().splitlines())] == [
        "one",
        "twin",
    ]
    assert ET.parse(project.root / "r.xml").getroot().get("tests") == "2"
    assert len(json.loads((project.root / "r.json").read_text())["benchmarks"]) == 2
    assert project.run("matrix", "report", "--csv", "-").stdout.startswith("run,cell,host,")


def test_a_run_travels_to_another_project(project, tmp_path):
    project.matrix(manifests=["one"])
    project.json("matrix", "run")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "manifests").mkdir(parents=True)
    code, answer = project.json("matrix", "import", str(project.root), "--project", str(elsewhere))
    assert code == 0
    assert [run["cells"] for run in answer["data"]["runs"]] == [1]
    shutil.rmtree(project.root / ".envmgr")
    code, answer = project.json("matrix", "show", "--project", str(elsewhere))
    assert (code, answer["data"]["cells"][0]["outcome"]) == (0, "passed")


def test_what_cannot_be_compared_or_reported_says_so(project):
    project.matrix(manifests=["one"])
    project.json("matrix", "run")
    for arguments, code, told in (
        (("matrix", "compare"), 4, "nothing to be compared with"),
        (("matrix", "compare", "--baseline", "latest"), 2, "with itself"),
        (("matrix", "compare", "--fail-if-slower", "much"), 2, "is no share"),
        (("matrix", "report"), 2, "no form of report"),
        (("matrix", "import", "nowhere"), 2, "there is no run in"),
    ):
        done = project.run(*arguments)
        assert (done.returncode, told in done.stderr) == (code, True), done.stderr
