"""`pipx install` of the wheel gives a working envmgr, on the Python that is asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


def test_pipx_installs_the_wheel_with_what_it_depends_on(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT],
        check=True,
        capture_output=True,
    )
    wheel = next((tmp_path / "dist").glob("envmgr-*.whl"))
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIPX_", "XDG_"))}
    environment = kept | {
        "HOME": str(home), "PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"), "PIPX_COMPLETION_DIR": str(tmp_path / "completion"), "NO_COLOR": "1",
    }  # fmt: skip

    def run(*command):
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    subprocess.run([sys.executable, "-m", "venv", tmp_path / "tools"], check=True)
    python = tmp_path / "tools" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "pipx")
    run(python, "-m", "pipx", "install", "--python", sys.executable, wheel)
    envmgr = next((tmp_path / "bin").glob("envmgr*"))
    assert run(envmgr, "--version").startswith("envmgr ")
    assert json.loads(run(envmgr, "schema"))["title"] == "A version set of envmgr"
    run(envmgr, "init")
    assert "example" in run(envmgr, "list")
    run(envmgr, "lock", "example")
    assert (home / "manifests" / "locks" / "example").is_dir()
