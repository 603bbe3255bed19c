"""`--install-completion` in real shells: what Tab writes into the line, for commands, options and names."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform == "win32", reason="shells of POSIX")]


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed here")


@pytest.fixture
def installed(project):
    """Return a function that installs the completion from within a shell, as its user would; Enter only tells the line."""
    project.manifest("two", tables='[variants]\npython = ["3.11", "3.12", "3.9"]\n', python=">=3.9,<3.13")
    project.write("manifests/broken.toml", "schema = 1\nname = [\n")
    project.write("runners/läufer zwei.py", "")
    project.matrix(manifests=["one"], name="nightly")
    elsewhere = project.root / "other place"
    (elsewhere / "manifests").mkdir(parents=True)
    (elsewhere / "manifests" / "far-away.toml").write_text("schema = 1\n")
    program = project.write(
        "bin/envmgr",
        '#!/bin/sh\ncase "$*$_ENVMGR_COMPLETE" in\n'
        f'*complete*|*completion*) exec {sys.executable} -m envmgr "$@";;\n'
        '*) echo "LINE $*.";;\nesac\n',
    )
    program.chmod(0o755)
    environment = {
        **project.environment, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm",
        "ENV": "", "HISTFILE": os.devnull,
    }  # fmt: skip
    for name in ("ZDOTDIR", "BASH_ENV", "PROMPT_COMMAND"):
        environment.pop(name, None)

    def install(shell):
        environment["SHELL"] = shutil.which(shell)
        done = subprocess.run(
            [shell, "-c", "envmgr --install-completion; true"], cwd=project.root, env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert f"{shell} completion installed" in done.stdout, done.stderr
        return environment

    return install


def typed(command, text, folder, environment):
    """Return what a shell on a terminal of its own writes when this is typed into it."""
    import pty

    main, side = pty.openpty()
    with subprocess.Popen(
        command, cwd=folder, stdin=side, stdout=side, stderr=side, env=environment, start_new_session=True
    ) as shell:
        os.close(side)
        os.write(main, text.encode())
        shown = b""
        with contextlib.suppress(OSError):
            while block := os.read(main, 4096):
                shown += block
        shell.wait(timeout=60)
    os.close(main)
    return shown.decode(errors="replace")


FIRST = "envmgr do\t"
"""Its Tab may do nothing: the first of a zsh only reads the file that Typer's `--install-completion` wrote."""
LINES = {
    "envmgr bug\t": "LINE bug-report.",
    "envmgr build o\t": "LINE build one.",
    "envmgr verify two@py3.9\t": "LINE verify two@py3.9.",
    "envmgr verify two@py3.1\t2\t": "LINE verify two@py3.12.",
    "envmgr build one t\t": "LINE build one two.",
    "envmgr build --project 'other place' f\t": "LINE build --project other place far-away.",
    "envmgr bisect one --runner lä\t": "LINE bisect one --runner läufer zwei.",
    "envmgr run one --device met\t": "LINE run one --device metal.",
    "envmgr lock --platform windows\t": "LINE lock --platform windows-x86_64.",
    "envmgr matrix run --effort=lo\t": "LINE matrix run --effort=long.",
    "envmgr matrix run ni\t": "LINE matrix run nightly.",
    "envmgr export one --to py\t": "LINE export one --to pylock.",
    "envmgr build --off\t": "LINE build --offline.",
}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["bash", "-i"], marks=needs("bash"), id="bash"),
        pytest.param(["zsh", "-i"], marks=needs("zsh"), id="zsh"),
    ],
)
def test_tab_completes_the_line_in_a_shell_of_its_user(installed, project, command):
    environment = installed(command[0])
    shown = typed(command, "\n".join([FIRST, *LINES, "exit", ""]), project.root, environment)
    found = (re.match(r"(?:\x1b\[J)?(LINE .*)", line) for line in shown.splitlines())
    told = [each[1].strip().replace(" .", ".") for each in found if each]
    assert told[1:] == list(LINES.values()), shown


@needs("fish")
def test_fish_offers_commands_options_and_names(installed, project):
    environment = installed("fish")
    for keys, told in LINES.items():
        line = keys.partition("\t")[0]
        done = subprocess.run(
            ["fish", "-c", 'complete -C "$argv"', "--", line], cwd=project.root, env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        offered = [row.partition("\t")[0] for row in done.stdout.splitlines()]
        wanted = told.rstrip(".").removeprefix("LINE")
        assert any(wanted.endswith(f" {word}") for word in offered), (line, done.stdout, done.stderr)
