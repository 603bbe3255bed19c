"""A diagnosis with several experiments at a time finds what one by one finds, and its experiments do overlap."""

import threading

import pytest

from envmgr.app.diagnosing.diagnose import Question, diagnose
from envmgr.model.finding import World
from envmgr.ports import Listener

from .conftest import PYTHON

pytestmark = pytest.mark.integration


class Account(Listener):
    """Keeps what was begun ahead."""

    def __init__(self):
        self.told = []

    def on_event(self, event):
        if event.stage == "ahead":
            self.told.append(event.detail)


class Overlap:
    """Runs processes, and remembers how many probes ran at once at most."""

    def __init__(self, process, shared=None):
        self._process = process
        self.shared = shared or {"now": 0, "most": 0, "lock": threading.Lock()}

    def apart(self):
        return Overlap(self._process.apart(), self.shared)

    def stop_all(self):
        self._process.stop_all()

    def run(self, request):
        with self.shared["lock"]:
            self.shared["now"] += 1
            self.shared["most"] = max(self.shared["most"], self.shared["now"])
        try:
            return self._process.run(request)
        finally:
            with self.shared["lock"]:
                self.shared["now"] -= 1


@pytest.fixture
def found(user):
    """Diagnose a release that lost a name, with so many hands; give the finding, the account and the overlap."""
    user.wheel("alpha", "1.0", "from beta import old\n", requires=["beta"])
    for number in range(1, 9):
        user.wheel("beta", f"{number}.0", "old = 1\n" if number < 4 else "new = 1\n")

    def asked(hands, probe="import alpha"):
        place, account = user.place(), Account()
        process = Overlap(place.process)
        changes = {"hands": hands, "listener": account, "process": process}
        place = type(place)(**{name: changes.get(name, getattr(place, name)) for name in place.__slots__})
        world = World(python=PYTHON, requirements=("alpha==1.0",))
        finding = diagnose(Question(world, ("-c", probe), probe, budget=60.0), place)
        return finding, account.told, process.shared["most"]

    return asked


def told(finding):
    shown = finding.model_dump(exclude={"experiments"})
    return shown, [(one.change, one.outcome, one.reason) for one in finding.experiments]


def test_the_finding_is_the_same_and_several_experiments_ran_at_once(found, user):
    before = user.digest()
    (one, nothing, alone), (several, account, most) = found(1), found(3)
    assert one.confirmed
    assert one.fix.requirements
    assert told(one) == told(several)
    assert alone == 1
    assert not nothing
    assert most > 1
    assert "begun ahead" in account[0]
    assert user.digest() == before


def test_a_probe_that_looks_at_a_clock_runs_while_nothing_else_does(found):
    finding, account, most = found(3, "import time; time.perf_counter(); import alpha")
    assert finding.confirmed
    assert not account
    assert most == 1
