"""What may be imported before it is needed, and when an answer that was given before is given again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

HEAVY = {"pydantic", "rich", "virtualenv", "typer", "packaging", "yaml", "tomlkit", "psutil", "filelock", "uuid",
         "platformdirs", "asyncio", "importlib.metadata", "subprocess", "dataclasses", "typing"}  # fmt: skip
OURS = {"envmgr", "envmgr.__main__", "envmgr.cli", "envmgr.cli.quick", "envmgr.cli.said", "envmgr.cli.wishes",
        "envmgr.system", "envmgr.system.receipts"}  # fmt: skip


def imported(project, *arguments):
    """Run a command and return its output and what it has imported beyond a plain interpreter."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "import atexit, json\n"
        f"sys.argv = {['envmgr', *arguments]!r}\n"
        "atexit.register(lambda: print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr))\n"
        "from envmgr.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


def test_help_imports_the_command_line_alone(project):
    shown, modules = imported(project, "--help")
    assert "build" in shown
    assert not modules & (HEAVY - {"typer", "typing", "uuid", "subprocess", "dataclasses"})
    ours = {name for name in modules if name.startswith("envmgr")}
    assert all(name in OURS | {"envmgr.errors"} or name.startswith("envmgr.cli") for name in ours), ours


def test_what_tab_offers_is_read_off_the_disk_without_anything_heavy(project):
    line = {"_ENVMGR_COMPLETE": "complete_bash", "COMP_WORDS": "envmgr\nrun\none\n--device\n", "COMP_CWORD": "4"}
    project.environment |= line
    shown, modules = imported(project)
    assert "metal" in shown
    assert not modules & (HEAVY - {"typer", "typing", "uuid", "subprocess", "dataclasses", "platformdirs"})
    rooms = {name.split(".")[1] for name in modules if name.startswith("envmgr.")}
    assert rooms <= {"__main__", "app", "cli", "errors"}, rooms


def test_a_build_with_nothing_to_do_imports_next_to_nothing(project):
    for _ in range(2):
        assert project.run("build", "one").returncode == 0
    shown, modules = imported(project, "build", "one")
    assert "nothing to do" in shown
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("envmgr")} <= OURS


def test_a_build_of_a_lock_that_is_there_imports_neither_what_resolves_nor_what_reads_runs(project):
    assert project.run("build", "one").returncode == 0
    for kept in ("envs", "recipes", "receipts"):
        shutil.rmtree(Path(project.environment["ENVMGR_CACHE_DIR"], kept), ignore_errors=True)
    shown, modules = imported(project, "build", "one")
    assert "built in" in shown
    assert not modules & {"rich", "virtualenv", "yaml", "tomlkit", "psutil", "asyncio"}
    rooms = {name.removeprefix("envmgr.") for name in modules if name.startswith("envmgr.")}
    assert not rooms & {"lock.resolve", "lock.artefacts", "app.past", "app.judging"}
    assert not {name.partition(".")[0] for name in rooms} & {"cell", "diagnose", "infer", "stats", "store"}


def given_again(project, **environment):
    """Run the build and tell whether its answer came without a look at the project."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "envmgr", "build", "one"],
        cwd=project.root,
        env={**project.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return "envmgr.app" not in done.stderr


def test_an_answer_is_given_again_until_something_changes_that_decides_it(project, tmp_path):
    for _ in range(2):
        assert project.run("build", "one").returncode == 0
    assert given_again(project)

    folder = tmp_path / "bin"
    folder.mkdir()
    assert not given_again(project, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    project.run("build", "one")

    lock = next((project.root / "manifests" / "locks" / "one").iterdir())
    text = lock.read_text()
    lock.write_text(text.replace("1.5", "1.6"))
    assert not given_again(project)
    lock.write_text(text)

    shutil.rmtree(project.run("path", "one").stdout.strip())
    assert "built in" in project.run("build", "one").stdout
    project.run("build", "one")
    assert given_again(project)

    project.manifest("one", requirements=["demo==2.0"])
    assert project.run("build", "one").returncode == 3


def test_an_answer_is_not_given_again_when_a_manifest_appears_nearer(project):
    inner = project.root / "inner"
    inner.mkdir()
    command = [sys.executable, "-m", "envmgr", "build", "one"]
    for _ in range(2):
        subprocess.run(command, cwd=inner, env=project.environment, capture_output=True, check=True)
    (inner / "manifests").mkdir()
    (inner / "manifests" / "two.toml").write_text("schema = 1\n")
    second = subprocess.run(command, cwd=inner, env=project.environment, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "there is no manifest 'one'" in second.stderr


def test_what_is_answered_at_once_is_what_was_answered_before(project):
    project.run("build", "one")
    answers = [project.json("build", "one") for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][1]["data"]["builds"][0]["fresh"] is False
    assert len(list(Path(project.environment["ENVMGR_CACHE_DIR"], "receipts").iterdir())) == 1


def test_every_command_accounts_for_its_time(project):
    done = project.run("build", "one", "--timings")
    assert done.returncode == 0
    for word in ("timings:", "start of the interpreter", "uv pip install", "inspect.py", "envmgr itself", "install"):
        assert word in done.stderr, word
    assert "timings" not in done.stdout
    assert "timings:" in project.run("--timings", "path", "one").stderr
    assert "timings:" not in project.run("run", "one", "--", "python", "-c", "print('--timings')", "--timings").stderr
