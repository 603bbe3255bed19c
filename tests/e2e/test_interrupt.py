"""Being told to end: once, and what is done is kept; twice, and it is over."""

import json
import signal
import sys
import time

import psutil
import pytest

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

STUBBORN = """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
open(os.environ["HOME"] + "/ready", "w").close()
time.sleep(60)
"""


def begun(project, process):
    """Wait until the cell that does not want to end is running."""
    deadline = time.monotonic() + 60
    while not list((project.root.parent / "cache" / "scratch").glob("cell.*/home/ready")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def runners_of(project):
    found = []
    for process in psutil.process_iter():
        try:
            if str(project.root / "runners") in " ".join(process.cmdline()) and process.status() != "zombie":
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def stubborn(project):
    runner = project.root / "runners" / "answer.py"
    runner.write_text(runner.read_text().replace("    time.sleep(30)\n", "    exec('''" + STUBBORN + "''')\n"))
    project.matrix(manifests=["one"], entries=[{}, {"behaviour": "slow"}, {"behaviour": "never reached"}])
    return project


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.robustness)]
)
def test_once_ends_the_cell_keeps_the_results_and_shows_them(stubborn, number):
    with stubborn.start("matrix", "run") as process:
        begun(stubborn, process)
        process.send_signal(number)
        _, talk = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume" in talk
    assert "Traceback" not in talk
    assert runners_of(stubborn) == []
    results = list(stubborn.root.glob(".envmgr/runs/*/results/*.json"))
    kept = [json.loads(path.read_text())["outcome"] for path in results]
    assert kept == ["passed"] * talk.count("answer: passed"), "what was ended by envmgr is no result"
    assert f"{len(kept)} passed" in talk or not kept
    assert list((stubborn.root.parent / "cache" / "scratch").iterdir()) == []


def test_twice_ends_at_once_and_nothing_runs_on(stubborn):
    with stubborn.start("matrix", "run", "--jobs", "2") as process:
        begun(stubborn, process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, talk = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in talk
    deadline = time.monotonic() + 10
    while runners_of(stubborn):
        assert time.monotonic() < deadline
        time.sleep(0.02)
