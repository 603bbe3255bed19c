"""Failures that people meet, diagnosed with real releases from the caller's index."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.timeout(400)]


@pytest.fixture
def diagnose(tmp_path):
    def run(*words):
        for place in ("home", "folder"):
            (tmp_path / place).mkdir(exist_ok=True)
        cache = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
        environment = {**os.environ, "HOME": str(tmp_path / "home"), "UV_CACHE_DIR": cache}
        environment |= {"PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))}
        argv = [Path(sys.executable).with_name("envmgr"), "diagnose", *words, "--json"]
        done = subprocess.run(
            argv, cwd=tmp_path / "folder", env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)["data"]["finding"]

    return run


def test_an_abi_break_of_numpy_is_capped_and_the_pin_stays(diagnose):
    finding = diagnose("--python", "3.11", "--require", "h5py==3.9.0", "--probe", "import h5py")
    assert finding["cause"]["name"] == "numpy"
    assert finding["confirmed"]
    assert "h5py==3.9.0" in finding["fix"]["requirements"]


def test_a_name_that_python_lost_leads_to_the_last_python_that_had_it(diagnose):
    probe = "import plaidml.keras; plaidml.keras.install_backend(); import keras"
    words = ("--require", "plaidml==0.7.0", "--require", "plaidml-keras==0.7.0", "--probe", probe)
    finding = diagnose("--python", "3.10", *words)
    assert finding["cause"]["kind"] == "python"
    assert finding["fix"]["python"] == "3.9"
    assert finding["confirmed"]


def test_a_bridge_over_another_core_is_found_though_the_probe_passes(diagnose):
    finding = diagnose("--python", "3.8", "--require", "plaidml-keras==0.6.4", "--probe", "import plaidml.keras")
    assert finding["cause"]["name"] == "plaidml"
    assert finding["check"] != "the probe"
    assert set(finding["fix"]["requirements"]) == {"plaidml-keras==0.6.4", "plaidml==0.6.4"}
    assert finding["confirmed"]


def test_what_is_sound_gets_no_finding(diagnose):
    assert diagnose("--python", "3.11", "--require", "six==1.16.0", "--probe", "import six") is None
