"""`run` and `shell`: one's own command in an environment, as if it had been started without envmgr."""

import contextlib
import os
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


def test_words_input_and_exit_code_are_those_of_the_command(project):
    project.run("build", "one")
    code = "import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", code, "a b", "--json", "--timings"],
        cwd=project.root, env=project.environment, input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "['a b', '--json', '--timings'] typed\n")


def test_a_command_that_was_killed_has_the_exit_code_that_shells_give(project):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert project.run("run", "one", "--", "python", "-c", code).returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_reaches_the_command_and_its_exit_code_is_kept(project, number):
    project.run("build", "one")
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", LISTENING],
        cwd=project.root, env=project.environment, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.stdout.readline() == f"told {int(number)}\n"
        assert running.wait(timeout=60) == 9


def test_ctrl_c_in_a_terminal_is_the_commands_alone(project):
    import fcntl
    import pty
    import termios

    project.run("build", "one")
    main, side = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "run", "one", "--", "python", "-c", LISTENING],
        cwd=project.root, env=project.environment, stdin=side, stdout=side, stderr=side, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread runs here
    ) as running:  # fmt: skip
        os.close(side)
        shown = b""
        while b"ready" not in shown:
            shown += os.read(main, 4096)
        os.write(main, b"\x03")
        with contextlib.suppress(OSError):
            while block := os.read(main, 4096):
                shown += block
        assert running.wait(timeout=60) == 9
    os.close(main)
    assert b"told 2" in shown
    assert b"interrupted" not in shown
