"""The real machine, looked at twice with a busy process in between."""

import sys
import time

import pytest

from envmgr.cell.conditions import conditions_between
from envmgr.ports import ProcessRequest
from envmgr.system.machine import RealMachine, _counters, _counters_of_linux
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration


def test_counters_only_grow_and_levels_are_believable():
    first, second = RealMachine().look(), RealMachine().look()
    assert first.at < second.at
    assert first.busy <= second.busy
    assert 0 < first.available <= first.memory
    assert first.cores >= 1


def test_a_busy_neighbour_is_seen_and_the_own_process_is_not_taken_for_one():
    machine, busy = RealMachine(), "import time; end = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass"
    before = machine.look()
    completed = RealProcess({}).run(ProcessRequest((sys.executable, "-c", busy), env={}))
    after = machine.look()
    assert completed.processor_seconds is not None
    assert completed.processor_seconds > 0.1
    as_own = conditions_between(before, after, completed.processor_seconds)
    as_other = conditions_between(before, after, 0.0)
    assert as_other.others - as_own.others == pytest.approx(
        completed.processor_seconds / (after.at - before.at), abs=0.05
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the library is asked")
def test_counters_read_here_are_those_that_the_library_reads():
    read, told = _counters_of_linux(), _counters()
    assert read is not None
    assert read.memory == told.memory
    assert read.available == pytest.approx(told.available, rel=0.05)
    assert read.busy == pytest.approx(told.busy, abs=1.0)
    assert read.stolen == pytest.approx(told.stolen, abs=1.0)
    assert read.moved <= told.moved


def test_a_look_is_quick():
    begun = time.process_time()
    RealMachine().look()
    assert time.process_time() - begun < 0.5
