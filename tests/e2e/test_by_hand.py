"""`run` and `shell`: one's own command in an environment, as if it had been started without envmgr."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals as POSIX has them"),
]

LISTENING = """\
import os, signal, sys, time
def told(number, frame):  # print is not to be called again from within print
    os.write(1, b"told %d\\n" % number)
    sys.exit(9)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, told)
print("ready", flush=True)
time.sleep(60)
"""


def by_hand(*command):
    return (sys.executable, "-m", "envmgr", "run", "one", "--", *command)


def test_words_input_and_exit_code_are_those_of_the_command(standing):
    code = "import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", code, "a b", "--json", "--timings"],
        cwd=standing.root, env=standing.environment, input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "['a b', '--json', '--timings'] typed\n")


def test_whoever_waits_sees_how_the_command_ended_and_json_tells_it_as_shells_do(standing):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert standing.run("run", "one", "--", "python", "-c", code).returncode == -signal.SIGKILL
    told, answer = standing.json("run", "one", "--json", "--", "python", "-c", code)
    assert (told, answer["data"]) == (128 + signal.SIGKILL, {"exit_code": 128 + signal.SIGKILL})


def test_no_process_of_envmgr_is_left_beside_the_command(project):
    """The first time it is built, too: what builds is not a child of what runs afterwards."""
    code = "import os, sys\ntry:\n    os.waitpid(-1, os.WNOHANG)\nexcept ChildProcessError:\n    print(os.getpid())\n"
    for _ in range(2):
        with project.start("run", "one", "--", "python", "-c", code) as running:
            assert running.communicate()[0] == f"{running.pid}\n"


def test_a_reader_that_goes_away_ends_the_command(standing):
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -1; echo ${PIPESTATUS[0]}', "bash", *by_hand("yes")],
        cwd=standing.root, env=standing.environment, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == f"y\n{128 + signal.SIGPIPE}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_reaches_the_command_and_its_exit_code_is_kept(standing, number):
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", LISTENING],
        cwd=standing.root, env=standing.environment, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.stdout.readline() == f"told {int(number)}\n"
        assert running.wait(timeout=60) == 9


@contextlib.contextmanager
def on_a_terminal(project, *command, **environment):
    """Start a command on a terminal of its own; gives its process and our end."""
    import fcntl
    import pty
    import termios

    main, side = pty.openpty()
    with subprocess.Popen(
        command, cwd=project.root, env={**project.environment, **environment}, stdin=side, stdout=side, stderr=side,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread
    ) as running:  # fmt: skip
        os.close(side)
        yield running, main
    os.close(main)


def shown_until(main, word):
    shown = b""
    with contextlib.suppress(OSError):
        while word not in shown and (block := os.read(main, 4096)):
            shown += block
    return shown


NEVER = b"\0 never"


def test_ctrl_c_in_a_terminal_is_the_commands_alone(standing):
    with on_a_terminal(standing, *by_hand("python", "-c", LISTENING)) as (running, main):
        shown = shown_until(main, b"ready")
        os.write(main, b"\x03")
        shown += shown_until(main, NEVER)
        assert running.wait(timeout=60) == 9
    assert b"told 2" in shown
    assert b"interrupted" not in shown


def test_a_loop_of_the_shell_ends_with_the_command_that_ctrl_c_ended(standing):
    code = "import time; print('re' + 'ady', flush=True); time.sleep(60)"
    loop = 'for number in 1 2; do "$@"; echo "went on"; done'
    with on_a_terminal(standing, "bash", "-c", loop, "bash", *by_hand("python", "-c", code)) as (running, main):
        shown_until(main, b"ready")
        os.write(main, b"\x03")
        shown = shown_until(main, NEVER)
        assert running.wait(timeout=60) == -signal.SIGINT
    assert b"went on" not in shown
    assert b"ready" not in shown


def test_the_terminal_is_the_commands_own_from_its_first_character_to_its_last(project):
    """The first command by hand also has the env's files copied, which is told while it lasts, and no longer."""
    project.run("build", "one")
    code = "import time; print('begun', end='', flush=True); time.sleep(1.2); print('-ended', end='', flush=True)"
    for _ in range(2):
        with on_a_terminal(project, *by_hand("python", "-c", code), TERM="xterm") as (running, main):
            shown = shown_until(main, NEVER)
            assert running.wait(timeout=60) == 0
        assert shown.endswith(b"begun-ended"), shown


def test_a_command_has_the_callers_programs_but_not_those_of_the_venv_the_caller_is_in(standing, tmp_path):
    venv = tmp_path / "venv"
    given = {"VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{tmp_path}/tools:{os.environ['PATH']}", "EDITOR": "ed"}
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    done = standing.run(
        "run", "one", "--", "python", "-c", code, **given, PYTHONPATH="/elsewhere", CONDA_PREFIX="/conda"
    )
    found = json.loads(done.stdout)
    folders = found["PATH"].split(":")
    assert folders[:2] == [f"{found['VIRTUAL_ENV']}/bin", f"{tmp_path}/tools"]
    assert f"{venv}/bin" not in folders
    assert found["EDITOR"] == "ed"
    assert not {"PYTHONPATH", "CONDA_PREFIX"} & set(found)


def test_envmgr_within_an_environment_has_the_callers_caches_and_indexes(project):
    envmgr = (sys.executable, "-m", "envmgr")
    project.run("build", "one")
    outside = project.run("path", "one").stdout
    assert outside
    assert project.run("run", "one", "--", *envmgr, "path", "one").stdout == outside
    project.manifest("two", requirements=["demo==2.0"])
    assert project.run("run", "one", "--", *envmgr, "build", "two").returncode == 0
    code = "import demo, os; print(demo.ANSWER, os.environ['PATH'])"
    twice = project.run("run", "one", "--", *envmgr, "run", "two", "--", "python", "-c", code)
    assert twice.stdout.startswith("43 ")
    assert outside.strip() not in twice.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "sh"])
def test_every_shell_shows_where_one_is_and_nothing_is_asked(standing, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    command = (sys.executable, "-m", "envmgr", "shell", "one")
    with on_a_terminal(standing, *command, SHELL=program, TERM="xterm") as (running, main):
        shown = shown_until(main, b"(one) ")
        os.write(main, b"python -c 'import demo; print(demo.ANSWER + 1)'\n")
        shown += shown_until(main, b"43")
        os.write(main, b"exit 7\n")
        shown += shown_until(main, NEVER)
        assert running.wait(timeout=60) == 7, shown


def test_a_program_of_another_python_is_told_of_before_it_runs(standing, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, first in (("pytest", sys.executable), ("mine", "/usr/bin/env python"), ("plain", "/bin/sh")):
        (programs / name).write_text(f"#!{first}\n")
        (programs / name).chmod(0o755)
    path = {"PATH": f"{programs}:{standing.environment['PATH']}"}
    told = standing.run("run", "one", "--", "pytest", **path)
    assert told.returncode == 0
    assert told.stderr.count("\n") == 1
    assert f"one has no program pytest; this is {programs / 'pytest'}" in told.stderr.replace("warning ", "")
    assert told.stdout == ""
    for command in (["mine"], ["plain"], ["ls"], ["python", "-c", ""], [str(programs / "pytest")]):
        assert standing.run("run", "one", "--", *command, **path).stderr == "", command
    assert standing.run("--quiet", "run", "one", "--", "pytest", **path).stderr == ""
