"""What is kept for the day on which its index is gone: vendored wheels, floating builds, builds of earlier runs."""

import json
import shutil

import pytest

pytestmark = pytest.mark.integration

DEAD = "http://127.0.0.1:9/simple"


def forget(project):
    """Take everything away that envmgr and uv keep outside the project."""
    for name in ("cache", "uv-cache"):
        shutil.rmtree(project.root.parent / name, ignore_errors=True)


def nightly(project, *, requirements=("demo>=1.0.dev0",)):
    project.manifest("nightly", requirements=list(requirements), floating=True)
    project.matrix(manifests=["nightly"], entries=[{"answer": 42}])


def add_nightly(project, day, answer=42):
    version = f"3.0.dev202611{day:02}"
    return project.index.add("demo", version, {"demo.py": f"__version__ = {version!r}\nANSWER = {answer}\n"})


def test_a_vendored_lock_builds_without_any_index(project):
    assert project.run("lock", "one").returncode == 0
    done = project.run("lock", "one", "--vendor")
    assert done.returncode == 0, done.stdout + done.stderr
    wheels = sorted(path.name for path in (project.root / "manifests" / "locks" / "one" / "wheels").iterdir())
    assert wheels == ["base-1.5-py3-none-any.whl", "demo-1.0-py3-none-any.whl"]
    forget(project)
    shutil.rmtree(project.index.folder)
    code, answer = project.json("build", "one", UV_DEFAULT_INDEX=DEAD)
    assert (code, answer["data"]["builds"][0]["resolved"]) == (0, {"base": "1.5", "demo": "1.0"}), answer


@pytest.mark.indexes
def test_a_vendored_wheel_that_was_changed_is_refused(project):
    project.run("lock", "one")
    project.run("lock", "one", "--vendor")
    folder = project.root / "manifests" / "locks" / "one" / "wheels"
    project.index.folder.rename(project.index.folder.with_name("elsewhere"))
    other = project.index.add("demo", "1.0", {"demo.py": "ANSWER = 'stolen'\n"})
    shutil.copy(other, folder / other.name)
    forget(project)
    code, answer = project.json("build", "one", UV_DEFAULT_INDEX=DEAD)
    assert code == 3
    assert "is not what the lock names" in answer["data"]["builds"][0]["failure"]["what"]


@pytest.mark.indexes
def test_what_has_left_its_index_is_told_apart_with_its_copy(project):
    project.run("lock", "one")
    (project.index.folder / "demo" / "demo-1.0-py3-none-any.whl").unlink()
    project.index._write_page(project.index.folder / "demo")
    project.matrix(manifests=["one"], entries=[{}])
    code, answer = project.json("matrix", "run")
    cell = answer["data"]["cells"][0]
    assert (code, cell["outcome"]) == (1, "gone")
    assert "gone from the index since 20" in cell["reason"]
    assert "vendored copy: no" in cell["reason"]


def test_a_floating_build_is_kept_and_brought_back_when_its_index_dropped_it(project):
    nightly(project)
    add_nightly(project, 1)
    code, answer = project.json("matrix", "run")
    assert code == 0, answer
    run, cell = answer["data"]["run"]["id"], answer["data"]["cells"][0]
    assert cell["resolved"]["demo"] == "3.0.dev20261101"
    add_nightly(project, 2, answer=0)
    code, answer = project.json("matrix", "run")
    assert (code, answer["data"]["cells"][0]["observed"]) == (1, "wrong")
    for wheel in (project.index.folder / "demo").glob("*.whl"):
        wheel.unlink()
    forget(project)
    code, answer = project.json("build", "--from-run", f"{run}#{cell['id']}", UV_DEFAULT_INDEX=DEAD)
    assert code == 0, answer
    assert answer["data"]["builds"][0]["resolved"]["demo"] == "3.0.dev20261101"
    assert (
        project.run("run", "nightly", "--", "python", "-c", "import demo; raise SystemExit(demo.ANSWER)").returncode
        == 42
    )


@pytest.mark.indexes
def test_only_the_latest_and_the_latest_good_build_are_kept(project):
    nightly(project)
    for day, answer in ((1, 42), (2, 42), (3, 0), (4, 0)):
        add_nightly(project, day, answer)
        project.run("matrix", "run")
    kept = project.root / ".envmgr" / "kept"
    days = sorted(path.name[12:20] for path in kept.rglob("demo-*.whl"))
    assert days == ["20261102", "20261104"]


@pytest.mark.indexes
def test_lock_check_says_that_a_nightly_floats_and_what_it_was_last(project):
    nightly(project)
    before = project.run("lock", "--check", "nightly")
    assert (before.returncode, "resolved when it is built" in before.stdout) == (0, True)
    add_nightly(project, 7)
    assert project.run("build", "nightly").returncode == 0
    after = project.run("lock", "--check", "nightly", UV_DEFAULT_INDEX=DEAD)
    assert after.returncode == 0
    assert "the last time to demo 3.0.dev20261107" in after.stdout


@pytest.mark.indexes
def test_a_dead_index_of_a_nightly_is_one_clear_error_and_the_others_go_on(project, tmp_path):
    index = f'[[index]]\nname = "dated"\nurl = "{DEAD}"\npackages = ["demo"]\n'
    project.manifest("nightly", requirements=["demo>=1.0.dev0"], floating=True, tables=index)
    project.matrix(manifests=["nightly", "one"], entries=[{}])
    code, answer = project.json("matrix", "run")
    dead, living = answer["data"]["cells"]
    assert code == 1
    assert (dead["outcome"], dead["phase"]) == ("build-failed", "resolve")
    assert "the index 'dated' does not answer" in dead["reason"]
    assert living["outcome"] == "passed"
    assert "Traceback" not in json.dumps(answer)


@pytest.mark.indexes
def test_a_dead_index_after_a_good_day_says_what_was_resolved_then(project):
    nightly(project)
    add_nightly(project, 7)
    assert project.run("build", "nightly").returncode == 0
    forget(project)
    done = project.run("build", "nightly", UV_DEFAULT_INDEX=DEAD)
    assert done.returncode == 3
    assert "it was resolved before, to demo 3.0.dev20261107; vendored copy: yes" in done.stdout + done.stderr
    assert "--offline" in done.stdout + done.stderr
    assert project.run("build", "nightly", "--offline", UV_DEFAULT_INDEX=DEAD).returncode == 0


@pytest.mark.indexes
def test_a_resumed_run_goes_on_with_the_nightly_that_it_began_with(project):
    nightly(project)
    project.matrix(manifests=["nightly"], entries=[{"answer": 42}, {"answer": 42, "behaviour": "other"}])
    add_nightly(project, 1)
    code, answer = project.json("matrix", "run")
    assert code == 0, answer
    run = project.root / ".envmgr" / "runs" / answer["data"]["run"]["id"]
    (run / "finished").unlink()
    next((run / "results").glob("*.json")).unlink()
    add_nightly(project, 2, answer=0)
    code, answer = project.json("matrix", "run", "--resume")
    assert (code, {cell["outcome"] for cell in answer["data"]["cells"]}) == (0, {"passed"})
