import json
from dataclasses import replace

import pytest

from envmgr.cell.classify import Evidence, classify
from envmgr.model.cell import Cell
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome, Phase
from envmgr.ports import Completed

CELL = Cell(
    id="c1",
    manifest="m",
    variant="default",
    runner="r",
    backend="tensorflow",
    device=Device(id="CPU:0", api="cpu"),
    timeout=7,
)
STACK = """Fatal Python error: Segmentation fault

Current thread 0x01 (most recent call first):
  File "plugin.py", line 3 in <module>
  File "<frozen importlib._bootstrap>", line 219 in _call_with_frames_removed
"""


def ended(exit_code=None, signal=None, **fields):
    return Completed(("python",), exit_code, signal, **fields)


def report(**fields):
    default = {"protocol": 1, "cell": "c1", "status": "ok", "backend": "tensorflow", "device": "/device:CPU:0"}
    return json.dumps({**default, "samples": [0.5], **fields})


def classified(completed=None, text=None, **fields):
    return classify(Evidence(completed or ended(0), text, **fields), CELL, 2)


def told(result):
    return result.outcome, result.phase, result.reason


def test_a_good_report_passes():
    result = classified(ended(0, peak_memory=5, elapsed=1.5), report())
    assert told(result) == (Outcome.PASSED, None, "")
    assert (result.cell, result.round, result.exit_code, result.peak_memory, result.elapsed) == ("c1", 2, 0, 5, 1.5)
    assert result.report.samples == (0.5,)


def test_the_memory_that_the_runner_saw_stands_in_where_the_system_tells_none():
    assert classified(ended(0), report(peak_memory=9)).peak_memory == 9


@pytest.mark.parametrize(
    ("completed", "fields", "outcome", "phase", "reason"),
    [
        (ended(signal=11), {}, Outcome.CRASHED, Phase.RUN, "killed by SIGSEGV; it said nothing"),
        (
            ended(signal=11),
            {"log": STACK},
            Outcome.CRASHED,
            Phase.IMPORT,
            "killed by SIGSEGV; its last words: Fatal Python error: Segmentation fault",
        ),
        (ended(3), {"log": "one\ntwo\n"}, Outcome.CRASHED, Phase.RUN, "no report, exit code 3; its last words: two"),
        (ended(0), {}, Outcome.CRASHED, Phase.RUN, "no report, exit code 0; it said nothing"),
        (
            ended(1),
            {"log": "Traceback ...\nValueError: bad\n  more"},
            Outcome.CRASHED,
            Phase.RUN,
            "no report, exit code 1; its last words: ValueError: bad",
        ),
        (
            ended(signal=9),
            {},
            Outcome.CRASHED,
            Phase.RUN,
            "killed by SIGKILL (often the system, short of memory); it said nothing",
        ),
        (
            replace(ended(signal=9), over_memory=True),
            {"memory_limit": 100},
            Outcome.OUT_OF_MEMORY,
            Phase.RUN,
            "it and what it started took more than the memory limit of 100 bytes; it said nothing",
        ),
        (
            ended(signal=6),
            {"log": "terminate called after throwing an instance of 'std::bad_alloc'"},
            Outcome.OUT_OF_MEMORY,
            Phase.RUN,
            (
                "it ran out of memory ('std::bad_alloc' in its log); its last words: "
                "terminate called after throwing an instance of 'std::bad_alloc'"
            ),
        ),
        (
            ended(signal=15, timed_out=True),
            {},
            Outcome.TIMEOUT,
            Phase.RUN,
            "it did not end within 7 s and was stopped",
        ),
        (
            ended(86),
            {"log": "envmgr-runner: too old a Python: wanted 3.6 or newer, found 3.5"},
            Outcome.FAILED,
            Phase.INTERPRETER,
            "envmgr-runner: too old a Python: wanted 3.6 or newer, found 3.5",
        ),
        (
            ended(2),
            {"log": "usage: r.py\nr.py: error: the request speaks protocol 2; wanted 1"},
            Outcome.FAILED,
            Phase.RUN,
            "the runner does not take its request: r.py: error: the request speaks protocol 2; wanted 1",
        ),
        (
            ended(started=False, stderr="/x/python: No such file or directory"),
            {},
            Outcome.FAILED,
            Phase.INTERPRETER,
            "the interpreter does not start: /x/python: No such file or directory",
        ),
        (ended(0), {"report_problem": "it is a link"}, Outcome.FAILED, Phase.CHECK, "it is a link"),
    ],
)
def test_without_a_report_the_end_of_the_process_tells(completed, fields, outcome, phase, reason):
    result = classified(completed, **fields)
    assert told(result) == (outcome, phase, reason)
    assert result.report is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cannot be read"),
        ("\x00\ufffd", "cannot be read"),
        (report()[:40], "cannot be read"),
        (report(protocol=2), "cannot be read: protocol"),
        (report(surprise=1), "cannot be read: surprise"),
        (report(cell="c2"), "of another cell: wanted 'c1', found 'c2'"),
        (report(outputs={"y": {"shape": [2, 3], "values": [1]}}), "output 'y' has shape (2, 3) and 1 numbers"),
        (report(outputs={"y": {"shape": [-1, -1], "values": [1]}}), "has shape (-1, -1)"),
        (report(samples=[-1]), "a time that is none"),
        (report(first_call=float("nan")), "a time that is none"),
        (report(status="failed"), "names no error"),
    ],
)
def test_a_report_that_cannot_be_trusted_is_a_failure_of_the_check(text, reason):
    result = classified(ended(0), text)
    assert (result.outcome, result.phase) == (Outcome.FAILED, Phase.CHECK)
    assert reason in result.reason


def error(kind, message, phase="import"):
    return report(status="failed", error={"phase": phase, "type": kind, "message": message, "traceback": "..."})


def test_a_failed_report_gives_phase_and_reason_of_its_error():
    result = classified(ended(0), error("ImportError", "no module\n  named x"))
    assert told(result) == (Outcome.FAILED, Phase.IMPORT, "ImportError: no module named x")


@pytest.mark.parametrize(
    ("kind", "message"), [("MemoryError", ""), ("RuntimeError", "CUDA out of memory. Tried to allocate 2 GiB")]
)
def test_memory_errors_are_told_apart(kind, message):
    assert classified(ended(0), error(kind, message, "run")).outcome is Outcome.OUT_OF_MEMORY


def test_a_long_reason_is_cut_in_the_middle():
    reason = classified(ended(0), error("ImportError", "a" * 5000 + " the end")).reason
    assert len(reason) <= 600
    assert reason.startswith("ImportError: aaa")
    assert reason.endswith("the end")


def output(*values, shape):
    return {"shape": shape, "values": values}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"outputs": {"probabilities": output(*[0.1] * 10, *["nan"] * 7, "inf", 0, 1, shape=[2, 10])}},
            "output 'probabilities' is not finite: 8 of 20 numbers (first at row 1)",
        ),
        (
            {"outputs": {"losses": output(0.5, "-inf", shape=[2])}},
            "output 'losses' is not finite: 1 of 2 numbers (first at number 1)",
        ),
        ({"metrics": {"loss": ["nan"]}}, "metric 'loss' is not finite: 1 of 1 numbers (first at number 0)"),
        (
            {"checks": [{"name": "product", "passed": False, "wanted": 30, "found": 31}]},
            "check 'product' failed: wanted 30, found 31",
        ),
    ],
)
def test_numbers_that_cannot_be_right_are_wrong(fields, reason):
    result = classified(ended(0), report(**fields))
    assert told(result) == (Outcome.WRONG, Phase.CHECK, reason)
    assert result.report is not None


def test_another_backend_or_device_than_asked_for_is_a_failure_of_the_backend():
    result = classified(ended(0), report(backend="jax", device="cuda:0", metrics={"loss": "nan"}))
    assert told(result) == (
        Outcome.FAILED,
        Phase.BACKEND,
        (
            "another backend is active than asked for: wanted tensorflow, found jax; "
            "another device was used than asked for: wanted CPU:0, found cuda:0"
        ),
    )


@pytest.mark.parametrize(
    ("completed", "note"),
    [
        (ended(signal=11), "after its report it was killed by SIGSEGV"),
        (ended(1), "after its report it ended with exit code 1"),
        (ended(signal=15, timed_out=True), "after its report it did not end within 7 s and was stopped"),
    ],
)
def test_an_end_that_goes_wrong_after_the_report_is_noted(completed, note):
    assert told(classified(completed, report())) == (Outcome.PASSED, None, note)
