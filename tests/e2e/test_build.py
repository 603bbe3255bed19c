"""From a manifest to an env, with a local index and real processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import THIS_PYTHON

pytestmark = pytest.mark.integration


def test_a_second_build_has_nothing_to_do(project):
    first = project.run("build", "one")
    assert first.returncode == 0, first.stderr
    assert "built in" in first.stdout
    second = project.run("build", "one")
    assert second.returncode == 0
    assert "nothing to do" in second.stdout


def test_a_build_makes_a_lock_without_urls(project):
    project.run("build", "one")
    locks = list((project.root / "manifests" / "locks" / "one").iterdir())
    assert len(locks) == 1
    text = locks[0].read_text()
    assert "demo==1.0" in text
    assert "base==1.5" in text
    assert "sha256:" in text
    assert "://" not in text


def test_the_result_says_what_is_really_installed(project):
    code, answer = project.json("build", "one")
    assert code == 0
    report = answer["data"]["builds"][0]
    assert report["resolved"] == {"base": "1.5", "demo": "1.0"}
    assert Path(report["path"], "envmgr.json").is_file()


def test_path_prints_the_folder_of_a_built_env(project):
    missing = project.run("path", "one")
    assert missing.returncode == 3
    assert "envmgr build one" in missing.stderr
    project.run("build", "one")
    there = project.run("path", "one")
    assert there.returncode == 0
    assert Path(there.stdout.strip()).is_dir()


def test_an_unmarked_folder_is_rubbish_and_rebuilt(project):
    folder = project.built("one")
    (folder / "envmgr.json").unlink()
    (folder / "left-behind").write_text("half a build")
    again = project.run("build", "one")
    assert "built in" in again.stdout
    assert not (folder / "left-behind").exists()


def test_a_changed_requirement_makes_the_lock_stale(project):
    project.run("build", "one")
    assert project.run("lock", "--check").returncode == 0
    project.manifest("one", requirements=["demo==2.0"])
    check = project.run("lock", "--check", UV_DEFAULT_INDEX="http://127.0.0.1:9/none")
    assert check.returncode == 1
    assert "one" in check.stdout
    build = project.run("build", "one")
    assert build.returncode == 3
    assert "stale" in build.stdout + build.stderr
    assert "envmgr lock one" in build.stdout + build.stderr
    assert project.run("lock", "one").returncode == 0
    assert project.run("lock", "--check").returncode == 0
    code, answer = project.json("build", "one")
    assert (code, answer["data"]["builds"][0]["resolved"]["demo"]) == (0, "2.0")


def test_a_changed_wheel_is_refused(project):
    project.run("lock", "one")
    project.index.add("demo", "1.0", {"demo.py": "__version__ = '1.0'\nANSWER = 'stolen'\n"}, ["base>=1"])
    code, answer = project.json("build", "one", UV_CACHE_DIR=str(project.root.parent / "fresh-cache"))
    assert code == 3
    failure = answer["data"]["builds"][0]["failure"]
    assert "demo" in failure["what"] + failure["why"]
    assert "wanted sha256:" in failure["why"]


def test_one_that_fails_does_not_stop_the_others(project):
    project.manifest("broken", requirements=["nowhere==9"])
    code, answer = project.json("build", "broken", "one")
    assert code == 3
    broken, one = answer["data"]["builds"]
    assert broken["failure"]["code"] == "resolve"
    assert "nowhere" in broken["failure"]["what"] + broken["failure"]["why"]
    assert one["failure"] is None


def test_an_index_that_does_not_answer_is_named(project):
    code, answer = project.json("build", "one", UV_DEFAULT_INDEX="http://127.0.0.1:9/simple", UV_HTTP_RETRIES="0")
    assert code == 3
    failure = answer["data"]["builds"][0]["failure"]
    assert "127.0.0.1:9" in json.dumps(failure)


def test_credentials_of_an_index_are_never_shown(project):
    address = "http://user:s3cr3t@127.0.0.1:9/simple"
    done = project.run("build", "one", UV_DEFAULT_INDEX=address, UV_HTTP_RETRIES="0")
    assert done.returncode == 3
    assert "s3cr3t" not in done.stdout + done.stderr
    for path in project.root.parent.rglob("*"):
        if path.is_file() and path.suffix in {".txt", ".json", ".log", ".toml"}:
            assert "s3cr3t" not in path.read_text(errors="replace"), path


def test_verify_finds_a_file_that_was_changed(project):
    project.run("build", "one")
    assert project.run("verify", "one", "--deep").returncode == 0
    folder = Path(project.run("path", "one").stdout.strip())
    module = next(folder.rglob("demo.py"))
    module.write_text("ANSWER = 0\n")
    code, answer = project.json("verify", "one", "--deep")
    assert code == 1
    assert any("demo" in json.dumps(check) for check in answer["data"]["checks"] if not check["passed"])


def test_a_write_in_one_env_reaches_no_other(project):
    project.manifest("two", requirements=["demo==1.0", "base==1.5"])
    project.manifest("three", requirements=["base>=1.4", "demo==1.0"])
    folder = project.built("one")
    next(folder.rglob("demo.py")).write_text("ANSWER = 0\n")
    project.manifest("later", requirements=["demo==1.0", "other==1"])
    project.index.add("other", "1", {"other.py": ""})
    later = project.built("later")
    assert later != folder
    assert "ANSWER = 42" in next(later.rglob("demo.py")).read_text()


def test_clean_shows_sizes_and_removes(project):
    nothing = project.run("clean", "--dry-run")
    assert nothing.returncode == 4
    folder = project.built("one")
    dry = project.run("clean", "--dry-run")
    assert dry.returncode == 0
    assert str(folder) in dry.stdout
    assert "B" in dry.stdout
    assert folder.is_dir()
    assert project.run("clean", "one", "--yes").returncode == 0
    assert not folder.exists()


def test_init_starts_a_project_that_works(project, tmp_path):
    project.index.add("numpy", "2.5", {"numpy/__init__.py": "__version__ = '2.5'\n"})
    place = tmp_path / "fresh"
    place.mkdir()
    assert project.run("init", "--project", str(place)).returncode == 0
    again = project.run("init", "--project", str(place))
    assert again.returncode == 2
    done = project.run("matrix", "run", "--project", str(place))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


@pytest.mark.parametrize("option", ["--name", "--with"])
def test_what_is_said_of_a_file_needs_one(project, option):
    code, answer = project.json("init", option, "x")
    assert (code, answer["error"]["what"]) == (2, f"{option} is for --from")


def test_a_cache_folder_that_cannot_be_made_is_told(project, tmp_path):
    (tmp_path / "file").write_text("")
    done = project.run("build", "one", ENVMGR_CACHE_DIR=str(tmp_path / "file"))
    assert done.returncode == 3
    assert "error: " + str(tmp_path / "file") in done.stderr
    assert "ENVMGR_CACHE_DIR" in done.stderr
    assert "fault of its own" not in done.stderr


def test_names_that_differ_in_case_alone_are_one_name(project):
    if (project.root / "manifests" / "ONE.toml").exists():
        pytest.skip("this file system holds one of them only")
    assert project.run("build", "one").returncode == 0
    project.manifest("One")
    done = project.run("build", "one")
    assert done.returncode == 2
    assert "two manifests are called 'one'" in done.stderr
    assert "manifests/One.toml and in manifests/one.toml" in done.stderr


def test_data_that_a_link_leads_out_of_the_project_are_refused(project, tmp_path):
    (tmp_path / "outside").mkdir()
    (project.root / "weights").symlink_to(tmp_path / "outside")
    (project.root / "gone").symlink_to(project.root / "nowhere")
    project.manifest("one", data=["gone"])
    assert project.run("run", "one", "--", "true").returncode == 0
    project.manifest("one", data=["weights"])
    done = project.run("run", "one", "--", "true")
    assert done.returncode == 2
    assert "data: 'weights' leaves the project" in done.stderr


def test_by_hand_json_is_one_document_and_dropped_data_is_gone(project):
    (project.root / "weights").mkdir()
    (project.root / "weights" / "w.txt").write_text("heavy")
    project.manifest("one", data=["weights"])
    look = "import os; print(os.path.exists(os.path.expanduser('~/data/weights/w.txt')))"
    done = project.run("run", "one", "--json", "--", "python", "-c", look)
    assert json.loads(done.stdout)["data"] == {"exit_code": 0}
    assert "True" in done.stderr
    assert project.run("run", "one", "--", "python", "-c", look).stdout == "True\n"
    project.manifest("one")
    assert project.run("run", "one", "--", "python", "-c", look).stdout == "False\n"


def test_builds_of_several_overlap_and_are_told_in_the_order_of_the_names(project, index):
    for number in range(3):
        index.add(f"part{number}", "1.0", {f"part{number}.py": ""})
        project.manifest(f"set{number}", requirements=[f"part{number}==1.0"])
    _, answer = project.json("build", "set2", "set0", "set1")
    assert [each["name"] for each in answer["data"]["builds"]] == ["set2", "set0", "set1"]
    assert all(each["fresh"] and not each["failure"] for each in answer["data"]["builds"])
    project.run("clean", "--yes")
    told = project.run("build", "set2", "set0", "set1").stderr
    begun = [told.index(f"create set{number}") for number in range(3)]
    done = [told.index(f"built set{number}") for number in range(3)]
    assert max(begun) < min(done), told


def of_python_3_10(index):
    """Put a distribution into the index that has a wheel for a Python alone on which no test can run."""
    wheel = index.add("old", "1.0", {"old.py": ""})
    wheel.rename(wheel.with_name("old-1.0-cp310-none-any.whl"))
    index._write_page(wheel.parent)


def test_a_lock_is_for_another_python_where_the_manifest_leaves_it_open(project, index):
    of_python_3_10(index)
    project.manifest("open", python=">=3.9", requirements=["old==1.0"])
    code, answer = project.json("lock", "open", "--platform", "linux-x86_64")
    (made,) = answer["data"]["locks"]
    assert (code, made["state"]) == (0, "made")
    assert made["notes"][-1].startswith("for Python 3.10, as `python` leaves it open and old==1.0 has no")
    assert "# python: 3.10" in (project.root / made["path"]).read_text()


def test_what_floats_keeps_the_python_that_it_was_resolved_for(project, index):
    wheel = index.add("drifting", "1.0", {"drifting.py": ""})
    project.manifest("floats", python=f">=3.10,<={THIS_PYTHON}.99", requirements=["drifting"], floating=True)
    code, answer = project.json("build", "floats")
    assert (code, answer["data"]["builds"][0]["resolved"]["drifting"]) == (0, "1.0")
    wheel.rename(wheel.with_name("drifting-1.0-cp310-none-any.whl"))
    index._write_page(wheel.parent)
    code, answer = project.json("build", "floats")
    assert code == 3
    assert "it was resolved before" in json.dumps(answer)


def test_a_lock_is_for_no_python_that_the_manifest_does_not_admit(project, index):
    of_python_3_10(index)
    project.manifest("newer", python=">=3.11", requirements=["old==1.0"])
    project.manifest("varied", requirements=["old==1.0"], python=">=3.10", tables='[variants]\npython = ["3.11"]\n')
    project.manifest("misspelt", requirements=["oldd==1.0"], python=">=3.9")
    code, answer = project.json("lock", "--platform", "linux-x86_64", "newer", "varied", "misspelt")
    assert code == 3
    for made in answer["data"]["locks"]:
        assert made["state"] == "failed"
        assert "3.10" not in made["error"]
        assert made["hint"]


def test_an_environment_without_its_sign_is_built_again(project):
    folder = project.built("one")
    (folder / "pyvenv.cfg").unlink()
    assert "built in" in project.run("build", "one").stdout
    assert project.run("run", "one", "--", "python", "-c", "import demo; print(demo.ANSWER)").stdout == "42\n"


def test_outside_of_a_project_the_way_to_one_is_told(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "envmgr", "build", "one"], cwd=elsewhere, env=project.environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--project DIR" in done.stderr
    assert "--project DIR" not in project.run("build", "onn").stderr


def test_what_verify_finds_missing_is_mended_by_the_command_that_it_names(project):
    project.run("build", "one")
    _, answer = project.json("build", "one")
    env = Path(answer["data"]["builds"][0]["path"])
    module = next(env.rglob("demo.py"))
    module.unlink()
    assert "nothing to do" in project.run("build", "one").stdout
    found = project.run("verify", "one")
    assert found.returncode == 1
    assert "`envmgr build one --again`" in found.stdout
    code, answer = project.json("build", "one", "--again")
    assert (code, answer["data"]["builds"][0]["fresh"]) == (0, True)
    assert module.is_file()
    assert project.run("verify", "one").returncode == 0
    assert project.json("build", "one")[1]["data"]["builds"][0]["fresh"] is False


def test_two_names_of_one_environment_are_built_again_once(project):
    project.manifest("other")
    project.run("build", "one", "other")
    code, answer = project.json("build", "one", "other", "--again")
    assert code == 0
    assert sorted(each["fresh"] for each in answer["data"]["builds"]) == [False, True]


def test_an_environment_in_use_is_not_taken_away_to_be_built_again(project):
    project.run("build", "one")
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", "print(1, flush=True); input()"],
        cwd=project.root, env=project.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout.readline() == b"1\n"
        refused = project.run("build", "one", "--again")
        running.communicate(b"\n")
    assert refused.returncode == 3
    assert "is in use" in refused.stdout
    assert project.run("build", "one", "--again").returncode == 0


def test_what_somebody_has_installed_or_removed_by_hand_is_told_by_the_next_build(project):
    project.run("build", "one")
    assert "warning" not in project.run("build", "one").stdout
    env = Path(project.json("build", "one")[1]["data"]["builds"][0]["path"])
    (info,) = env.rglob("base-1.5.dist-info")
    (info.parent / "alien-3.0.dist-info").mkdir()
    told = project.run("build", "one")
    assert told.returncode == 0
    assert "installed alien: wanted nothing: it was not there when this was built; found 3.0" in told.stdout
    assert project.run("build", "one", "--strict").returncode == 1
    info.rename(info.with_name("base-1.4.dist-info"))
    for _ in range(2):  # the second is remembered
        assert "installed base: wanted 1.5; found 1.4" in project.run("build", "one").stdout
    assert "`envmgr build one --again`" in project.run("build", "one").stdout
    assert "warning" not in project.run("build", "one", "--again").stdout
    assert "warning" not in project.run("build", "one").stdout
