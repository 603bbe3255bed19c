"""What `clean` takes away, and what it leaves because somebody uses it."""

import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.integration


def envs(project):
    return [path for path in (project.root.parent / "cache" / "envs").iterdir() if path.is_dir()]


def test_an_env_in_use_stays_and_goes_when_it_is_free(project):
    project.matrix(manifests=["one"], entries=[{"behaviour": "slow"}])
    with project.start("matrix", "run") as process:
        deadline = time.monotonic() + 60
        while not list((project.root.parent / "cache" / "scratch").glob("cell.*")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        code, answer = project.json("clean", "--yes")
        assert (code, answer["error"]["code"]) == (4, "nothing-selected")
        assert "in use" in answer["error"]["why"]
        process.kill()
    (env,) = envs(project)
    code, answer = project.json("clean", "--yes")
    assert code == 0
    assert str(env) in [item["path"] for item in answer["data"]["items"]]
    assert envs(project) == []
    left = list((project.root.parent / "cache" / "scratch").iterdir())
    assert left == [], "what the killed run left is gone as well"


def test_clean_is_not_led_outside_by_links(project, tmp_path):
    precious = tmp_path / "precious"
    (precious / "inner").mkdir(parents=True)
    for path in (precious / "envmgr.json", precious / "inner" / "file.txt"):
        path.write_text("{}")
    project.run("build", "one")
    (env,) = envs(project)
    cache = project.root.parent / "cache"
    (env / "link").symlink_to(precious)
    (cache / "envs" / ("0" * 32)).symlink_to(precious)
    (cache / "homes").mkdir(exist_ok=True)
    (cache / "homes" / "other").symlink_to(precious)
    (cache / "scratch" / f"cell.{project.index.folder.name}.1.00000000").symlink_to(precious)
    assert project.run("clean", "--yes").returncode == 0
    assert envs(project) == []
    assert sorted(path.name for path in precious.rglob("*")) == ["envmgr.json", "file.txt", "inner"]


def test_locks_and_remembered_answers_of_what_is_gone_go_as_well(project):
    project.manifest("two", requirements=["demo==2.0"])
    for name in ("one", "two"):
        for _ in range(2):
            assert project.run("build", name).returncode == 0
    cache = project.root.parent / "cache"
    receipts = set((cache / "receipts").iterdir())
    assert len(receipts) == 2
    assert project.run("clean", "one", "--yes").returncode == 0
    (env,) = envs(project)
    assert [path.name for path in (cache / "envs").glob("*.lock")] == [f"{env.name}.lock"]
    assert project.run("build", "two").stdout.startswith("two: nothing to do")
    assert len(set((cache / "receipts").iterdir()) & receipts) == 1, "what still holds is kept"
    (project.root / "manifests" / "two.toml").unlink()
    code, answer = project.json("clean", "--dry-run")
    assert (code, "remembered" in answer["data"]["items"][-1]["what"]) == (0, True)
    assert project.run("clean", "--yes").returncode == 0
    assert list((cache / "receipts").iterdir()) == []
    assert list((cache / "envs").iterdir()) == []
    assert project.run("clean", "--yes").returncode == 4


def test_what_is_asked_can_be_answered_no_and_nobody_is_no_fault(project):
    folder = project.built("one")
    refused = subprocess.run(
        [sys.executable, "-m", "envmgr", "clean"], cwd=project.root, env=project.environment, input="n\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (refused.returncode, refused.stdout) == (0, "nothing is removed\n")
    alone = project.run("clean")
    assert alone.returncode == 2
    assert "try: envmgr clean --yes" in alone.stderr
    assert project.run("clean", "--older-than", "-1", "--yes").returncode == 2
    assert folder.is_dir()
