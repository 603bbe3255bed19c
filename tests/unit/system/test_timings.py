import time

import pytest

from envmgr.ports import Event, Listener
from envmgr.system.timings import TimedListener, Timings, covered, program_of


def test_overlapping_spans_count_once():
    assert covered([("a", 0.0, 2.0), ("b", 1.0, 3.0), ("c", 5.0, 6.0), ("d", 5.2, 5.4)]) == pytest.approx(4.0)
    assert covered([]) == 0


def test_stages_last_until_the_next_one_and_are_passed_on():
    heard = []

    class Other(Listener):
        def on_event(self, event):
            heard.append(event.stage)

    timings = Timings()
    listener = TimedListener(timings, Other())
    for stage in ("create", "install", "built"):
        listener.on_event(Event(stage, "one"))
    assert [name for name, _, _ in timings.stages] == ["create", "install"]
    assert heard == ["create", "install", "built"]


def test_the_account_tells_programs_and_the_rest():
    timings = Timings(begun=time.monotonic() - 3.0, start=0.25)
    timings.programs = [
        ("uv pip install", timings.begun, timings.begun + 1.0),
        ("uname", timings.begun + 0.5, timings.begun + 1.5),
    ]
    lines = timings.lines()
    assert "0.250 s  start" in lines[1]
    assert "1.500 s  waiting for programs" in lines[2]
    assert lines[3].split() == ["1.000", "s", "uv", "pip", "install"]
    assert float(lines[5].split()[0]) == pytest.approx(1.5, abs=0.2)


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("/x/bin/uv", "--config-file", "/tmp/uv.toml", "pip", "install", "-r", "/tmp/r.txt"), "uv pip install"),
        (("/env/bin/python", "-I", "/p/probes/inspect.py", "--request", "in.json"), "inspect.py"),
        (("uname", "-m"), "uname"),
    ],
)
def test_processes_are_called_by_what_they_do(argv, name):
    assert program_of(argv) == name
