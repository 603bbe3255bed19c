"""What whoever can stop processes promises, for the real one and for the one that tests of experiments stand on."""

import sys
import threading

import pytest

from envmgr.ports import ProcessRequest
from envmgr.system.process import RealProcess

SLEEPER = "import pathlib, sys, threading; pathlib.Path(sys.argv[1]).touch(); threading.Event().wait(60)"


class Real:
    """Speaks of real processes as the tests do."""

    def __init__(self, process=None):
        self.process = process or RealProcess({})

    def apart(self):
        return Real(self.process.apart())

    def run(self, request):
        code = "" if request.argv[-1] == "at once" else SLEEPER
        self.process.run(ProcessRequest((sys.executable, "-I", "-S", "-c", code, str(request.argv[-1])), kept=True))

    def stop_all(self):
        self.process.stop_all()


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.integration)])
def process(request, stand_in):
    return stand_in() if request.param == "stand-in" else Real()


@pytest.fixture
def going(tmp_path):
    """Begin a process that lasts, and give the thread that sees to it and what it raised."""

    def begin(process, name):
        raised, mark = [], tmp_path / name

        def see():
            try:
                process.run(ProcessRequest((mark,)))
            except KeyboardInterrupt as error:
                raised.append(error)

        thread = threading.Thread(target=see)
        thread.start()
        while not mark.exists() and thread.is_alive():
            thread.join(0.005)
        return thread, raised

    return begin


def test_a_part_is_stopped_without_another(process, going):
    one, other = process.apart(), process.apart()
    (first, told), (second, untold) = going(one, "one"), going(other, "other")
    one.stop_all()
    first.join(20)
    assert told
    assert second.is_alive()
    assert not untold
    process.stop_all()
    second.join(20)
    assert untold


def test_what_is_stopped_runs_nothing_more_and_no_part_of_it_does(process):
    before = process.apart()
    before.run(ProcessRequest(("at once",)))
    process.stop_all()
    for each in (process, before, process.apart()):
        with pytest.raises(KeyboardInterrupt):
            each.run(ProcessRequest(("at once",)))
