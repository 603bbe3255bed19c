"""A stranger with an empty home follows README from a fresh clone, and opens an environment in Jupyter."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]

TALK = """\
import sys, time
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name=sys.argv[1], startup_timeout=120)
def told(code, wait=lambda: None):
    number = client.execute(code)
    wait()
    found = []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") == number:
            content = message["content"]
            found.append(content.get("text") or content.get("ename") or "")
            if content.get("execution_state") == "idle":
                return "".join(found).strip()
def interrupt():
    time.sleep(2)
    manager.interrupt_kernel()
try:
    print(told("import six, os; print(six.__version__, os.environ['HOME'])"))
    print(told("1/0"))
    print(told("import time; time.sleep(50)", interrupt))
    print(told("print('still here')"))
finally:
    manager.shutdown_kernel(now=True)
"""


@pytest.fixture
def stranger(tmp_path):
    """Return what runs a line of a shell as somebody who has nothing but a home, and the settings of this network."""
    home = tmp_path / "home"
    home.mkdir()
    kept = ("PATH", "LANG", "TERM", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "PIP_INDEX_URL", "UV_INDEX_URL")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(home)}
    environment |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}

    def run(line, folder):
        done = subprocess.run(
            line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    run.home = home
    return run


def lines_of_readme(title):
    """The lines of a shell under a heading of README."""
    part = (ROOT / "README.md").read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [line[2:].split("  #")[0] for block in re.findall(r"```console\n(.*?)```", part, re.DOTALL)
            for line in block.splitlines() if line.startswith("$ ")]  # fmt: skip


def test_readme_leads_from_a_clone_to_a_first_table(stranger, tmp_path):
    clone = tmp_path / "clone"
    stranger(f"git clone --quiet {shlex.quote(str(ROOT))} {clone}", tmp_path)
    set_up = [line for line in lines_of_readme("Set up") if not line.endswith(("matrix run", "pytest"))]
    assert len(set_up) == 2
    for line in set_up:
        stranger(line.replace("python3 ", f"{shlex.quote(sys.executable)} "), clone)
    assert "Usage: envmgr" in stranger(".venv/bin/envmgr --help", clone)
    own = tmp_path / "own"
    own.mkdir()
    first, second = lines_of_readme("Your own project")
    for line in (first, second):
        told = stranger(f"{clone / '.venv' / 'bin'}/{line}", own)
    assert "1 passed" in told
    assert {path.name for path in own.iterdir()} == {"manifests", "runners", ".envmgr", ".gitignore"}
    allowed = {".cache", ".local", ".config", ".rustup"}  # pip asks rustc for its version
    unlooked = {path.name for path in stranger.home.iterdir()} - allowed
    assert unlooked == set(), "nothing else is written into the home"


def test_a_kernel_of_jupyter_computes_is_interrupted_and_goes_on(session, tmp_path):
    project = tmp_path / "project"
    (project / "manifests").mkdir(parents=True)
    minor = ".".join(str(part) for part in sys.version_info[:2])
    text = f'schema = 1\nname = "one"\npython = "=={minor}.*"\nrequirements = ["six==1.17.0"]\nrunners = ["import_probe"]\n'
    (project / "manifests" / "one.toml").write_text(text)
    environment = {**session.environment, "JUPYTER_DATA_DIR": str(tmp_path / "jupyter")}
    command = [sys.executable, "-m", "envmgr", "kernel", "install", "one"]
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    venv = tmp_path / "client"
    uv = find_uv_bin()
    subprocess.run([uv, "venv", "-q", "-p", sys.executable, venv], check=True)
    subprocess.run([uv, "pip", "install", "-q", "-p", venv / "bin" / "python", "jupyter_client"], check=True)
    done = subprocess.run(
        [venv / "bin" / "python", "-c", TALK, "envmgr-one"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()[-4:]  # the kernel itself talks before
    assert first.startswith("1.17.0 ")
    assert str(session.home) in first
    assert others == ["ZeroDivisionError", "KeyboardInterrupt", "still here"]
