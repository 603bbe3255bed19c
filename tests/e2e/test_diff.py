"""Two environments, locks, runs, cells or hosts are told apart, and nothing about them is changed."""

import json
import subprocess
import sys

import jsonschema
import pytest

from envmgr.app.schemas import schema_of

from .conftest import THIS_PYTHON

pytestmark = [pytest.mark.integration, pytest.mark.indexes, pytest.mark.timeout(300)]


def differences(project, one, other):
    code, answer = project.json("diff", one, other)
    assert answer["error"] is None, answer
    jsonschema.validate(answer, schema_of("diff"))
    found = answer["data"]["diff"]
    assert code == (1 if found["differences"] else 0)
    return found


def named(found):
    return {(each["kind"], each["name"]): (each["first"], each["second"]) for each in found["differences"]}


@pytest.fixture
def two(project):
    project.manifest("two", requirements=["demo==2.0"], tables='[env]\nKERAS_BACKEND = "torch"\n')
    return project


def test_two_environments_and_an_environment_with_itself(two):
    assert two.run("build", "one", "two").returncode == 0
    found = named(differences(two, "one", "two"))
    assert found["distribution", "demo"] == ("1.0", "2.0")
    assert found["variable", "KERAS_BACKEND"] == ("", "torch")
    assert not differences(two, "one", "one")["differences"]
    text = two.run("diff", "one", "two").stdout
    assert text.index("what can matter first") < text.index("demo")


def test_locks_and_what_is_not_built(two):
    assert two.run("lock", "one", "two").returncode == 0
    assert named(differences(two, "one", "two"))["distribution", "demo"] == ("1.0", "2.0")
    (lock,) = (two.root / "manifests" / "locks" / "one").glob("*-linux-x86_64.txt")
    assert not differences(two, "one", str(lock))["differences"]


def test_a_file_that_was_changed_by_hand_and_a_freeze(two, tmp_path):
    assert two.run("build", "one").returncode == 0
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = venv / "lib" / f"python{THIS_PYTHON}" / "site-packages" / "demo-1.0.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
    (site / "RECORD").write_text("demo.py,sha256=other,1\n")
    before = sorted((path, path.stat().st_mtime_ns) for path in venv.rglob("*"))
    found = named(differences(two, "one", str(venv)))
    assert ("content", "demo") in found
    assert found["distribution", "base"] == ("1.5", "")
    assert sorted((path, path.stat().st_mtime_ns) for path in venv.rglob("*")) == before
    freeze = two.write("freeze.txt", "demo==1.0\nbase==1.4\n")
    found = differences(two, "one", str(freeze))
    assert named(found) == {("distribution", "base"): ("1.5", "1.4")}
    assert any(each.startswith("interpreter: only one") for each in found["not_compared"])


def test_runs_and_cells(two):
    two.matrix("quick", manifests=["one", "two"], entries=[{"answer": 42}])
    assert two.run("matrix", "run").returncode == 1
    (first,) = [path.name for path in (two.root / ".envmgr" / "runs").iterdir()]
    found = named(differences(two, f"{first}#one", f"{first}#two"))
    assert found["distribution", "demo"] == ("1.0", "2.0")
    assert not differences(two, first, first)["differences"]
    two.manifest("two", requirements=["demo==1.0"])
    two.matrix("quick", manifests=["one", "two"], entries=[{"answer": 43}])
    two.run("lock", "two")
    two.run("matrix", "run")
    (second,) = [path.name for path in (two.root / ".envmgr" / "runs").iterdir() if path.name != first]
    found = differences(two, first, second)
    assert named(found) == {("distribution", "demo"): ("2.0", "1.0")}
    assert found["differences"][0]["scope"] == "two"
    assert named(differences(two, f"{first}#one", f"{second}#one"))["parameter", "answer"] == ("42", "43")


def test_hosts(two, repository, tmp_path):
    hosts = repository / "tests" / "hosts"
    found = named(differences(two, str(hosts / "linux-cuda.json"), str(hosts / "macbook-2019-radeon.json")))
    assert found["host", "system"] == ("linux", "macos")
    told = two.run("doctor", "--json").stdout
    (tmp_path / "here.json").write_text(told)
    assert not differences(two, "here", str(tmp_path / "here.json"))["differences"]
    code, answer = two.json("diff", str(hosts / "linux-cuda.json"), str(two.write("freeze.txt", "demo==1.0\n")))
    assert (code, answer["error"]["code"]) == (2, "usage")


def test_what_is_none_of_it_is_a_usage_error(two):
    code, answer = two.json("diff", "one", "nonesuch")
    assert code in {2, 3}
    assert json.dumps(answer["error"])
    code, answer = two.json("diff", "nonesuch", "one")
    assert (code, answer["error"]["what"]) == (2, "nonesuch is nothing that can be compared")
