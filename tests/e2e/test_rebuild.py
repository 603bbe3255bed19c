"""A build that was made before is made again after its recipe: the same env and answer, until something is otherwise."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from tests.e2e.test_startup import imported

pytestmark = pytest.mark.integration

NEEDLESS = {"pydantic", "pydantic_core", "typer", "click", "rich", "virtualenv", "packaging", "yaml", "tomlkit",
            "psutil", "platformdirs", "asyncio", "importlib.metadata", "uuid"}  # fmt: skip
OURS = {"envmgr", "envmgr.app", "envmgr.env", "envmgr.errors", "envmgr.model", "envmgr.outside", "envmgr.system"}
OF_BUILDS = {"envmgr.app.repeating", "envmgr.model.redaction", "envmgr.model.sharing"}


def envs(project):
    return Path(project.environment["ENVMGR_CACHE_DIR"], "envs")


def recipes(project):
    return sorted(Path(project.environment["ENVMGR_CACHE_DIR"], "recipes").glob("*.json"))


@pytest.fixture
def built(project):
    """A project of which one env was built, locked, and built again, so that there is a recipe; the env is gone."""
    for _ in range(2):
        assert project.run("build", "one").returncode == 0
        shutil.rmtree(envs(project))
    assert len(recipes(project)) == 1
    return project


def is_repeated(project, *arguments, code=0, **environment):
    """Build and tell whether that was done after the recipe."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "envmgr", "build", "one", *arguments],
        cwd=project.root,
        env={**project.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return "envmgr.app.building" not in done.stderr


def timeless(text):
    return re.sub(r"\d+\.\d+ s|(?<=\"seconds\": )[\d.]+|(?<=\"built_at\": )\"[^\"]*\"", "", text)


def test_a_repeated_build_imports_little_and_says_what_it_said_before(built):
    first = built.run("build", "one", "--timings")
    mark = next(envs(built).glob("*/envmgr.json"))
    before, record = mark.read_text(), json.loads((envs(built) / f"{mark.parent.name}.files.json").read_text())
    shutil.rmtree(envs(built))

    shown, modules = imported(built, "build", "one")
    assert timeless(shown) == timeless(first.stdout)
    assert "built in" in shown
    assert not modules & NEEDLESS
    ours = {name for name in modules if name.startswith("envmgr")} - OURS - OF_BUILDS
    assert all(name.startswith(("envmgr.cli", "envmgr.env.", "envmgr.system.", "envmgr.__main__")) for name in ours), (
        ours
    )

    assert timeless(mark.read_text()) == timeless(before)
    again = json.loads((envs(built) / f"{mark.parent.name}.files.json").read_text())
    assert again["files"].keys() == record["files"].keys()
    told = built.json("verify", "one")
    assert told[0] == 0, told
    assert built.run("run", "one", "--", "python", "-c", "import demo; print(demo.ANSWER)").stdout == "42\n"


def test_progress_and_json_are_those_of_any_build(built):
    shutil.rmtree(envs(built), ignore_errors=True)
    whole = built.run("build", "one", "--json", "--timings")
    shutil.rmtree(envs(built))
    built.run("build", "one", "--json")
    shutil.rmtree(envs(built))
    again = built.run("build", "one", "--json")
    assert "timings:" in whole.stderr
    assert timeless(again.stdout) == timeless(whole.stdout)
    assert json.loads(again.stdout)["data"]["builds"][0]["seconds"] > 0
    assert timeless(again.stderr) == timeless(whole.stderr.partition("timings:")[0])
    shutil.rmtree(envs(built))
    assert built.run("build", "--quiet", "one").stderr == ""


def test_a_recipe_serves_until_something_changes_that_decides(built):
    assert is_repeated(built)
    shutil.rmtree(envs(built))
    assert not is_repeated(built, UV_LINK_MODE="copy")

    shutil.rmtree(envs(built))
    assert not is_repeated(built), "the last build was decided otherwise"
    shutil.rmtree(envs(built))
    assert is_repeated(built)

    shutil.rmtree(envs(built))
    built.manifest("one", requirements=["demo==2.0"])
    assert not is_repeated(built, code=3)
    assert built.run("lock", "one").returncode == 0
    assert not is_repeated(built)
    assert built.run("run", "one", "--", "python", "-c", "import demo; print(demo.ANSWER)").stdout == "43\n"


def test_an_env_that_is_there_is_left_alone_and_its_recipe_kept(built):
    assert is_repeated(built)
    said = built.run("build", "one")
    assert "nothing to do" in said.stdout
    assert len(recipes(built)) == 1
    shutil.rmtree(envs(built))
    assert is_repeated(built)


def test_what_the_interpreter_tells_otherwise_has_the_env_built_from_the_beginning(built):
    recipe = recipes(built)[0]
    known = json.loads(recipe.read_text())
    known["recipe"]["report"]["distributions"][0]["version"] = "9.9"
    recipe.write_text(json.dumps(known))
    assert not is_repeated(built)
    assert json.loads(next(envs(built).glob("*/envmgr.json")).read_text())["resolved"] == {"base": "1.5", "demo": "1.0"}
    shutil.rmtree(envs(built))
    assert is_repeated(built), "the recipe is that of the last build"


def test_a_changed_file_in_the_cache_of_uv_is_seen(built):
    assert is_repeated(built)
    if json.loads(next(envs(built).glob("*/envmgr.json")).read_text())["sharing"] != "hardlink":
        pytest.skip("files are not linked here")
    module = next(envs(built).glob("*/lib/*/site-packages/demo.py"))
    with module.open("a") as stream:
        stream.write("ANSWER = 666\n")
    shutil.rmtree(envs(built))
    done = built.run("build", "one")
    assert done.returncode == 0
    assert "uv's cache holds a changed demo, which is brought anew" in done.stderr
    assert built.run("run", "one", "--", "python", "-c", "import demo; print(demo.ANSWER)").stdout == "42\n"


def test_a_build_that_cannot_be_made_any_more_fails_as_any_other(built):
    shutil.rmtree(built.environment["UV_CACHE_DIR"])
    shutil.rmtree(built.index.folder)
    assert not is_repeated(built, code=3)
    code, told = built.json("build", "one")
    assert code == 3
    assert told["data"]["builds"][0]["failure"]["code"] == "build"
    assert recipes(built) == []


def test_a_repeated_build_waits_for_the_lock_and_can_be_interrupted(built):
    recipe = json.loads(recipes(built)[0].read_text())["recipe"]
    envs(built).mkdir(parents=True)
    with FileLock(Path(recipe["folder"] + ".lock")):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "envmgr", "build", "one", "--json"],
            cwd=built.root,
            env=built.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3)
        waiting.send_signal(signal.SIGTERM)
        stdout, stderr = waiting.communicate(timeout=30)
    assert waiting.returncode == 130
    assert "error: interrupted" in stderr
    assert json.loads(stdout)["error"]["what"] == "interrupted"


def test_what_may_hold_a_secret_is_not_written_down(built):
    recipes(built)[0].unlink()
    secret = built.index.url.replace("file://", "file://someone:hidden@localhost")
    built.run("build", "one", UV_EXTRA_INDEX_URL=secret)
    kept = Path(built.environment["ENVMGR_CACHE_DIR"]).rglob("*.json")
    assert not [path for path in kept if "recipes" in path.parts and "hidden" in path.read_text()]


def test_clean_removes_recipes_that_hold_no_more(built):
    built.manifest("one", requirements=["demo==2.0"])
    assert built.run("clean", "--yes").returncode == 0
    assert recipes(built) == []


def test_of_two_that_build_at_once_one_builds_and_the_recipe_stays(built):
    running = [built.start("build", "one") for _ in range(2)]
    said = [process.communicate(timeout=90)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert any("built in" in each for each in said)
    assert len(recipes(built)) == 1
    shutil.rmtree(envs(built))
    assert is_repeated(built)


def test_nobody_has_to_read_the_answer(built):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-u", "-m", "envmgr", "build", "one"],
            cwd=built.root,
            env=built.environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_an_env_that_was_cleaned_by_its_name_is_repeated_and_what_was_known_of_its_wheels_stays(built):
    assert is_repeated(built)
    sharing = json.loads(next(envs(built).glob("*/envmgr.json")).read_text())["sharing"]
    known = Path(built.environment["ENVMGR_CACHE_DIR"], "known-wheels")
    assert built.run("clean", "one", "--yes").returncode == 0
    assert known.exists() == (sharing == "hardlink")
    assert is_repeated(built)
    assert built.run("clean", "--yes").returncode == 0
    assert not known.exists()
    assert is_repeated(built), "the files are looked at anew"
