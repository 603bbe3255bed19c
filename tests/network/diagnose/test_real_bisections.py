"""Where real releases changed, found on the caller's index."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]


def test_the_first_numpy_without_float(tmp_path):
    (tmp_path / "home").mkdir()
    cache = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "UV_CACHE_DIR": cache}
    environment |= {"PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))}
    environment |= {"ENVMGR_STATE_DIR": str(tmp_path / "state"), "ENVMGR_CACHE_DIR": str(tmp_path / "cache")}
    words = ["--package", "numpy", "--python", "3.8", "--require", "numpy", "--good", "1.18.0", "--bad", "1.24.4"]
    done = subprocess.run(
        [Path(sys.executable).with_name("envmgr"), "bisect", *words, "--probe", "import numpy; numpy.float", "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)["data"]["bisect"]
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.23.5", "1.24.0")
    assert found["probes"] <= found["bound"]
    assert found["reason"] == "AttributeError: module 'numpy' has no attribute 'float'"
    assert found["last_good"]["point"]["date"] == "2022-11-20"
    assert found["first_bad"]["revisions"]["numpy"].startswith("8cec8201")
