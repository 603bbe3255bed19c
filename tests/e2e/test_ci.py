"""A run as a service for continuous integration sees it."""

import json
from xml.etree import ElementTree as ET

import pytest

pytestmark = pytest.mark.integration


def test_ci_annotates_sums_up_and_writes_junit(project, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    project.matrix(manifests=["one"], entries=[{"answer": 42}, {"answer": 7}])
    done = project.run("matrix", "run", "--ci", GITHUB_STEP_SUMMARY=str(summary), GITHUB_WORKSPACE=str(project.root))
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("::error ")]
    assert len(told) == 1
    assert "file=manifests/one.toml,title=wrong%3A one/answer" in told[0]
    assert summary.read_text().startswith("before\n### quick")
    suites = ET.parse(project.root / "envmgr-junit.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    planned = project.run("matrix", "plan", "--format", "gha")
    assert len(planned.stdout.splitlines()) == 1
    jobs = json.loads(planned.stdout)["include"]
    assert {job["arguments"] for job in jobs} == {"-e one"}
