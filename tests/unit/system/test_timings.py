import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from envmgr.cell.script import words_to_run
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


def test_the_account_tells_for_how_long_network_or_runners_were_waited_for():
    timings = Timings(begun=time.monotonic() - 10.0)
    begun = timings.begun
    timings.stages = [
        ("look up", begun, begun + 1.0),
        ("fetch", begun + 1.0, begun + 2.0),
        ("fetch", begun + 1.5, begun + 3.0),
        ("build", begun + 3.0, begun + 4.0),
    ]
    timings.programs = [
        ("uv pip install", begun, begun + 5.0),
        ("device_smoke.py", begun + 2.5, begun + 6.0),
        ("torch_devices.py", begun + 6.0, begun + 8.0),
    ]
    TimedListener(timings, Listener()).on_cell_started(SimpleNamespace(runner="device_smoke"), 0)
    told = [line.split("s  ", 1) for line in timings.lines()[1:5]]
    assert [(words, round(float(seconds))) for seconds, words in told] == [
        ("network or a runner (60 % of the time)", 6),
        ("the network: indexes and downloads", 3),
        ("runners", 4),
        ("neither", 4),
    ]


def test_the_account_tells_how_busy_processors_were_besides():
    timings = Timings(begun=time.monotonic() - 10.0)
    begun = timings.begun
    timings.stages = [("fetch", begun, begun + 4.0), ("fetch", begun + 6.0, begun + 8.0)]
    timings.idle = [(begun, begun + 3.0, 1.0), (begun + 3.0, begun + 5.0, 0.5), (begun + 8.0, begun + 10.0, 0.2)]
    (line,) = [line for line in timings.lines() if "neither" in line]
    assert line.split("s  ")[1] == "neither; processors were 70 % busy"


def test_processors_are_looked_at_from_the_start():
    timings = Timings()
    timings.note_start()
    until = time.monotonic() + 10.0
    while not timings.idle and time.monotonic() < until:
        time.sleep(0.01)
    begun, ended, idle = timings.idle[0]
    assert begun < ended
    assert 0.0 <= idle <= 1.0


def test_where_neither_network_nor_runner_takes_part_nothing_is_told_of_them():
    timings = Timings()
    timings.programs = [("inspect.py", timings.begun, timings.begun + 1.0)]
    assert "start of the interpreter" in timings.lines()[1]


def test_all_that_is_told_of_cells_is_passed_on():
    heard = []

    class Other(Listener):
        def on_plan(self, plan, measured=0):
            heard.append("plan")

        def on_further(self, processes):
            heard.append(processes)

        def on_cell_started(self, cell, round_number):
            heard.append(cell.runner)

        def on_cell_finished(self, cell, result):
            heard.append(result)

    listener = TimedListener(Timings(), Other())
    listener.on_plan(None)
    listener.on_further(3)
    listener.on_cell_started(SimpleNamespace(runner="one"), 0)
    listener.on_cell_finished(None, "result")
    assert heard == ["plan", 3, "one", "result"]


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


def test_a_plain_script_goes_by_its_own_name_and_not_by_that_of_what_runs_it():
    words = words_to_run(Path("/p/runners/mine.py"), "# /// script\n# dependencies = []\n# ///\nprint()\n")
    assert len(words) == 2
    assert program_of(("/e/bin/python", "-I", *words, "--request", "in.json")) == "mine.py"
    assert program_of(("/e/bin/python", "first.py", "second.py")) == "first.py"
