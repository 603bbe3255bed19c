"""Cells run for real: this interpreter as the env's, small scripts as runners."""

import json
import sys
import textwrap
from pathlib import Path

import pytest

from envmgr.cell.run import Surroundings, lay_request, run_cell
from envmgr.errors import BuildError
from envmgr.model.cell import Cell
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome, Phase
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration

HEAD = """
import argparse, json, os, sys
parser = argparse.ArgumentParser()
parser.add_argument("--request"); parser.add_argument("--report")
places = parser.parse_args()
request = json.load(open(places.request))
def report(**fields):
    full = {"protocol": 1, "cell": request["cell"], "status": "ok", "device": request["device"], "samples": [0.1]}
    full.update(fields)
    with open(places.report, "w") as file:
        json.dump(full, file)
"""
CELL = Cell(
    id="c1",
    manifest="m",
    variant="default",
    runner="r",
    device=Device(id="llvm_cpu.0", api="llvm"),
    parameters={"size": 3},
    timeout=30,
)


@pytest.fixture
def run(tmp_path):
    def run(body, cell=CELL, python=sys.executable, files=None, **fields):
        runner = tmp_path / "runner.py"
        runner.write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
        files = files or RealFiles(tmp_path / "scratch")
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        lay_request(cell, folder, files)
        surroundings = Surroundings(
            process=RealProcess({}),
            files=files,
            folder=folder,
            clock=RealClock(),
            python=Path(python),
            runner=fields.pop("runner", runner),
            variables={"HOME": str(tmp_path), "MARK": "x"},
            log=tmp_path / "run" / "logs" / "c1-1.log",
            log_name="logs/c1-1.log",
            **fields,
        )
        return run_cell(cell, 1, surroundings)

    return run


def test_a_runner_gets_request_environment_and_folder_and_its_report_is_read(run, tmp_path):
    result = run("""
        print("hello", flush=True)
        report(notes=[json.dumps([request, dict(os.environ), os.getcwd(), sys.flags.isolated])])
    """)
    assert (result.outcome, result.cell, result.round) == (Outcome.PASSED, "c1", 1)
    request, variables, folder, isolated = json.loads(result.report.notes[0])
    assert request == {"protocol": 1, "cell": "c1", "device": "llvm_cpu.0", "parameters": {"size": 3}}
    assert set(variables) - {"LC_CTYPE", "SYSTEMROOT"} == {"HOME", "MARK"}
    assert Path(folder) == tmp_path / "work"
    assert isolated == 1
    assert result.log == "logs/c1-1.log"
    assert (tmp_path / "run" / result.log).read_text(encoding="utf-8") == "hello\n"
    assert result.started_at.endswith("+00:00")
    assert result.elapsed > 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_a_crash_is_told_by_its_signal(run):
    result = run("import faulthandler; faulthandler.enable(); os.kill(os.getpid(), 11)")
    assert (result.outcome, result.signal) == (Outcome.CRASHED, 11)
    assert result.reason == "killed by SIGSEGV; its last words: Fatal Python error: Segmentation fault"


def test_a_runner_that_hangs_is_stopped(run):
    result = run("import time; time.sleep(60)", CELL.model_copy(update={"timeout": 0.5}))
    assert (result.outcome, result.reason) == (Outcome.TIMEOUT, "it did not end within 0.5 s and was stopped")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded from outside on Linux alone")
def test_memory_is_bounded(run):
    result = run("bytearray(10**9)", CELL.model_copy(update={"memory": 300_000_000}))
    assert result.outcome is Outcome.OUT_OF_MEMORY
    assert "MemoryError" in result.reason


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("open(places.report, 'w').write('{')", "cannot be read"),
        ("open(places.report, 'wb').write(bytes(range(256)))", "cannot be read"),
        ("report(cell='c9')", "of another cell"),
        ("os.symlink(os.path.abspath(places.request), places.report)", "not a plain file"),
        ("os.mkfifo(places.report)", "not a plain file"),
        ("os.mkdir(places.report)", "not a plain file"),
        ("open(places.report, 'w').truncate(65_000_000)", "too large: 65000000 bytes"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are of POSIX")
def test_what_is_no_report_is_not_taken_for_one(run, body, told):
    result = run(body)
    assert (result.outcome, result.phase) == (Outcome.FAILED, Phase.CHECK)
    assert told in result.reason


def test_a_missing_interpreter_or_runner_is_a_failure_of_the_cell(run, tmp_path):
    missing = tmp_path / "nowhere"
    assert run("", python=missing).reason == f"the env's interpreter is not there: {missing}"
    assert run("", runner=missing).reason == f"the runner is not there: {missing}"
    text = tmp_path / "python"
    text.write_text("", encoding="utf-8")
    result = run("", python=text)
    assert (result.outcome, result.phase) == (Outcome.FAILED, Phase.INTERPRETER)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), BuildError("x is held", "", "wait")])
def test_an_error_of_envmgr_itself_is_a_failure_of_the_cell(run, tmp_path, error):
    class Unreadable(RealFiles):
        def read(self, path):
            raise error

    result = run("report()", files=Unreadable(tmp_path / "scratch"))
    assert result.outcome is Outcome.FAILED
    assert result.reason.startswith("envmgr could not run the cell: ")
    assert str(error).splitlines()[0] in result.reason
