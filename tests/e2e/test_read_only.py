"""A cache in which nothing can be written serves what is built in it."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform == "win32", reason="rights and mounts as POSIX has them"),
]

MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def unshared(*command):
    """The command in a name space of its own, where mounts are seen by nobody else."""
    return ("unshare", "--mount", *command)


@pytest.fixture
def reading(project):
    """Run envmgr with a cache that can only be read: by its rights, or for root, whom no rights hinder, by a mount."""
    cache = project.root.parent / "cache"
    project.run("build", "one")
    prefix = ()
    if os.geteuid() == 0:
        if not shutil.which("unshare") or subprocess.run(unshared("true"), capture_output=True, check=False).returncode:
            pytest.skip("mounting a folder read-only is not allowed here")
        prefix = unshared("sh", "-c", MOUNTED, "sh", str(cache))
    else:
        subprocess.run(["chmod", "-R", "a-w", cache], check=True)

    def run(*arguments, **environment):
        return subprocess.run(
            [*prefix, sys.executable, "-m", "envmgr", *arguments],
            cwd=project.root, env=project.environment | environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip

    yield run
    subprocess.run(["chmod", "-R", "u+w", cache], check=True)


def test_a_command_runs_in_it_with_a_home_of_its_own(reading, project):
    code = "import demo, pathlib; home = pathlib.Path.home(); (home / 'kept').touch(); print(demo.ANSWER, home)"
    for _ in range(2):
        done = reading("run", "one", "--", "python", "-c", code)
        assert (done.returncode, done.stderr) == (0, "")
    answer, home = done.stdout.split(maxsplit=1)
    assert answer == "42"
    assert not home.startswith(str(project.root.parent / "cache"))
    assert (Path(home.strip()) / "kept").is_file()


def test_it_is_looked_at_and_shown(reading, project):
    verify = ("verify one",) if os.geteuid() == 0 else ()  # other rights than when it was built are a change
    for command in ("list", "show one", "path one", "doctor", *verify, "build one", "build one"):
        done = reading(*shlex.split(command))
        assert done.returncode == 0, (command, done.stderr)
    shell = reading("shell", "one", SHELL="/bin/sh")
    assert shell.returncode == 0, shell.stderr


def test_what_is_not_built_in_it_cannot_be(reading, project):
    project.manifest("other", requirements=["demo==2.0"])
    for command in (("build", "other"), ("build", "one", "--again")):
        done = reading(*command)
        assert done.returncode == 3
        assert "try:" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert project.run("run", "one", "--", "python", "-c", "import demo").returncode == 0
