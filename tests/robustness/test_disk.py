"""Full disks, folders that cannot be written, odd paths, a project on another file system than the cache."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration


@pytest.fixture
def world(script):
    return script("world")


def mounted(folder, options):
    """Mount a small file system; skip where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting needs root on Linux")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no mount here: {done.stderr.decode()}")


@pytest.fixture
def mount(tmp_path):
    """Mount small file systems and take them away again."""
    places = []

    def make(folder, options):
        mounted(folder, options)
        places.append(folder)
        return folder

    yield make
    for folder in reversed(places):
        subprocess.run(["umount", "-l", folder], check=True)


def told(done):
    return done.stderr.splitlines()[-4:]


@pytest.mark.robustness
def test_a_full_disk_under_the_cache_is_told_and_nothing_half_is_served(world, mount, tmp_path):
    project = world.make_world(tmp_path, files=200)
    project.run("lock", "one")
    cache = mount(tmp_path / "cache", "size=1m")
    done = project.run("build", "one")
    assert done.returncode == 3, told(done)
    assert "space" in done.stderr
    assert "try:" in done.stderr
    assert list(cache.glob("envs/*/envmgr.json")) == []
    subprocess.run(["mount", "-o", "remount,size=200m", cache], check=True)
    assert project.run("build", "one").returncode == 0
    assert world.incomplete(project) == []


@pytest.mark.robustness
def test_a_full_disk_under_the_results_ends_the_run_with_one_error_and_keeps_what_is_there(world, mount, tmp_path):
    project = world.make_world(tmp_path)
    project.matrix(manifests=["one"], entries=[{}, {"behaviour": "b"}, {"behaviour": "c"}])
    project.run("build", "one")
    runs = mount(project.root / ".envmgr", "size=2m")
    code, _ = project.json("matrix", "run")
    assert code == 0
    kept = sorted(runs.glob("runs/*/results/*.json"))
    with contextlib.suppress(OSError), (runs / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass
    done = project.run("matrix", "run")
    assert done.returncode in {2, 3}, told(done)
    assert "space" in done.stderr
    assert set(kept) <= set(runs.glob("runs/*/results/*.json"))
    (runs / "filler").unlink()
    code, answer = project.json("matrix", "run")
    assert code == 0, answer


@pytest.mark.robustness
@pytest.mark.parametrize("place", ["cache", "project/.envmgr", "project"])
def test_a_folder_that_cannot_be_written_is_named(world, mount, tmp_path, place):
    project = world.make_world(tmp_path)
    project.matrix(manifests=["one"])
    if place != "cache":
        project.run("build", "one")
    folder = tmp_path / place
    copy = tmp_path / "copy"
    if folder.exists():
        shutil.copytree(folder, copy)
    mount(folder, "size=20m")
    if copy.exists():
        shutil.copytree(copy, folder, dirs_exist_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    done = project.run("matrix", "run")
    assert done.returncode in {2, 3}, told(done)
    assert "read-only" in done.stderr.lower() or "written" in done.stderr.lower(), told(done)
    assert str(folder) in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "with space and 'quotes' é ü 環境 " + "x" * 150,
        pytest.param("$HOME;`id` %d {project}", marks=pytest.mark.robustness),
        pytest.param("n" * 200, marks=pytest.mark.robustness),
    ],
)
def test_odd_paths_change_nothing(world, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    project = world.make_world(folder)
    project.matrix(manifests=["one"])
    code, answer = project.json("matrix", "run")
    assert (code, [cell["outcome"] for cell in answer["data"]["cells"]]) == (0, ["passed"]), answer
    assert project.run("verify", "one", "--deep").returncode == 0
    assert world.leftovers(project) == []


@pytest.mark.robustness
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="another file system is at hand on Linux")
def test_a_project_on_another_file_system_than_the_cache(world, tmp_path, monkeypatch):
    elsewhere = Path("/dev/shm") / f"envmgr-test-{os.getpid()}"
    elsewhere.mkdir()
    try:
        project = world.make_world(elsewhere)
        project.environment["ENVMGR_CACHE_DIR"] = str(tmp_path / "cache")
        project.matrix(manifests=["one"])
        code, answer = project.json("matrix", "run")
        assert (code, [cell["outcome"] for cell in answer["data"]["cells"]]) == (0, ["passed"]), answer
    finally:
        shutil.rmtree(elsewhere)
