"""One file that is built and measured where there is no network."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile

import pytest

from .conftest import Project

pytestmark = pytest.mark.integration

DEAD = "http://127.0.0.1:9/simple"


@pytest.fixture
def bundle(project):
    project.matrix(manifests=["one"], entries=[{"answer": 42}])
    done = project.run("export", "one", "--to", "bundle", "--output", "one.bundle")
    assert done.returncode == 0, done.stdout + done.stderr
    return project.root / "one.bundle"


@pytest.fixture
def elsewhere(tmp_path, index):
    """Another machine: its own home and caches, an index that does not answer."""
    place = tmp_path / "elsewhere" / "work"
    place.mkdir(parents=True)
    there = Project(place, index)
    shutil.rmtree(place / "manifests")
    shutil.rmtree(place / "runners")
    there.environment["UV_DEFAULT_INDEX"] = DEAD
    return there


def rewritten(bundle, change):
    """Write the bundle again with its members changed by a function of name and bytes."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, content in members.items():
            archive.writestr(*change(name, content))


def test_a_bundle_is_built_and_measured_without_any_index(bundle, elsewhere):
    code, answer = elsewhere.json("import", str(bundle))
    assert code == 0, answer
    assert answer["data"]["builds"][0]["resolved"] == {"base": "1.5", "demo": "1.0"}
    code, answer = elsewhere.json("matrix", "run", "one", "--offline")
    assert (code, [cell["outcome"] for cell in answer["data"]["cells"]]) == (0, ["passed"])


@pytest.mark.indexes
def test_the_same_bundle_twice_changes_nothing_and_another_is_refused(bundle, elsewhere):
    assert elsewhere.run("import", str(bundle), "--no-build").returncode == 0
    again = elsewhere.run("import", str(bundle), "--no-build")
    assert again.returncode == 0
    assert "were there already" in again.stdout
    (elsewhere.root / "manifests" / "one.toml").write_text("mine\n")
    refused = elsewhere.run("import", str(bundle), "--no-build")
    assert refused.returncode == 2
    assert "something else is in its place" in refused.stderr
    assert (elsewhere.root / "manifests" / "one.toml").read_text() == "mine\n"


@pytest.mark.indexes
@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda name, content: (name, content + b" " if name.startswith("wheels/demo") else content), 2, "is damaged"),
        (lambda name, content: (name, content + b"\n" if name.startswith("runners/") else content), 2, "is damaged"),
        (lambda name, content: (name.replace("matrix.toml", "../matrix.toml"), content), 2, "not safe to unpack"),
        (lambda name, content: (name.replace("bundle.json", "other.json"), content), 2, "no bundle of this envmgr"),
    ],
    ids=["wheel", "runner", "outside", "head"],
)
def test_a_bundle_that_was_changed_is_refused_and_nothing_is_written(bundle, elsewhere, change, code, words):
    rewritten(bundle, change)
    done = elsewhere.run("import", str(bundle))
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert list(elsewhere.root.iterdir()) == []


@pytest.mark.indexes
def test_a_wheel_whose_digest_was_forged_too_is_still_refused_by_the_lock(bundle, elsewhere, index):
    forged = index.add("demo", "1.0", {"demo.py": "ANSWER = 'stolen'\n"})
    with zipfile.ZipFile(bundle) as archive:
        head = json.loads(archive.read("bundle.json"))
    head["files"]["wheels/demo-1.0-py3-none-any.whl"] = hashlib.sha256(forged.read_bytes()).hexdigest()
    new = {"bundle.json": json.dumps(head).encode(), "wheels/demo-1.0-py3-none-any.whl": forged.read_bytes()}
    rewritten(bundle, lambda name, content: (name, new.get(name, content)))
    done = elsewhere.run("import", str(bundle))
    assert done.returncode == 3
    assert "lacks what its lock names" in done.stderr


@pytest.mark.indexes
@pytest.mark.skipif(shutil.which("unshare") is None, reason="wants network namespaces")
def test_a_bundle_builds_in_a_network_namespace_without_any_interface(bundle, elsewhere):
    command = ["unshare", "--net", sys.executable, "-m", "envmgr"]
    for arguments in (["import", str(bundle)], ["matrix", "run", "one", "--offline"]):
        done = subprocess.run(
            [*command, *arguments], cwd=elsewhere.root, env=elsewhere.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if "unshare" in done.stderr and "not permitted" in done.stderr:
            pytest.skip("this user may not make network namespaces")
        assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.indexes
def test_what_floats_is_bundled_as_it_was_resolved_last(project, elsewhere):
    project.manifest("nightly", requirements=["demo>=1.0.dev0"], floating=True)
    project.index.add("demo", "3.0.dev20261101", {"demo.py": "__version__ = '3'\nANSWER = 42\n"})
    assert project.run("build", "nightly").returncode == 0
    shutil.rmtree(project.index.folder)
    done = project.run("export", "nightly", "--to", "bundle", "--output", "n.bundle", UV_DEFAULT_INDEX=DEAD)
    assert done.returncode == 0, done.stdout + done.stderr
    code, answer = elsewhere.json("import", str(project.root / "n.bundle"))
    assert (code, answer["data"]["builds"][0]["resolved"]["demo"]) == (0, "3.0.dev20261101"), answer


def test_what_is_no_file_is_no_bundle(project):
    for name, words in ((".", "is a folder"), ("nowhere.bundle", "is not there")):
        done = project.run("import", name)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_a_folder_is_no_place_for_a_file(project):
    done = project.run("schema", "manifest", "--output", ".")
    assert (done.returncode, "is no place for a file" in done.stderr) == (3, True), done.stderr
