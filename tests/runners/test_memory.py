"""The peak of a runner is its own, not that of a large parent that started it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parents[2] / "runners" / "import_probe.py"
LARGE_PARENT = """\
import subprocess, sys
ballast = bytearray(400 * 1024 ** 2)
ballast[::4096] = b"x" * len(ballast[::4096])
sys.exit(subprocess.call([sys.executable, "-I", *sys.argv[1:]]))
"""


@pytest.mark.integration
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone hands a parent's peak on")
def test_a_parents_memory_is_not_the_runners(tmp_path):
    report = tmp_path / "out.json"
    done = subprocess.run([sys.executable, "-c", LARGE_PARENT, str(RUNNER), "--report", str(report)], check=False)
    assert done.returncode == 0
    assert json.loads(report.read_text())["peak_memory"] < 200 * 1024**2
