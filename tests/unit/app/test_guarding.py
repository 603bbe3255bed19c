"""What becomes of results whose env turns out to have been changed."""

import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from envmgr.app.env_guard import EnvGuard, Visitor
from envmgr.app.judging import judged_cells
from envmgr.app.reporting import reading_of
from envmgr.app.turns import Turns
from envmgr.app.workplace import Workplace
from envmgr.model.env import Env
from envmgr.model.host import Interpreter
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult
from envmgr.report import terminal
from envmgr.report.look import Look

RUN = "20260101T000000Z-a"


class Ticking:
    """A clock on which every look takes a second: far more than the cells, which are then looked after together."""

    def __init__(self):
        self.seconds = 0.0

    def monotonic(self):
        self.seconds += 1.0
        return self.seconds


@pytest.fixture
def env(workplace):
    """An env of one module, and how to make it again."""
    folder = workplace.folders.envs / ("e" * 32)

    def build():
        folder.mkdir(parents=True)
        (folder / "module.py").write_text("ANSWER = 42\n")
        interpreter = Interpreter(executable="/p/bin/python3.11", version="3.11.7", arch="x86_64", system="linux")
        facts = {"manifest": "alpha", "variant": "default", "interpreter": interpreter, "resolved": {}}
        made = Env(key=folder.name, path=str(folder), python=str(folder / "python"), lock_digest="d", **facts)
        built.append(made)
        return made

    built: list[Env] = []
    return SimpleNamespace(folder=folder, build=build, built=built, module=folder / "module.py")


@pytest.fixture
def guard(project, env):
    place = Workplace(project)
    place.clock = Ticking()
    made = EnvGuard(place)
    made.take("alpha", env.build(), env.build, fresh=True)
    made.accept("alpha")
    return made


def measured(guard, name, runner, run, number=0):
    def within_its_turn(room):
        with room.turn(lambda: None):
            return run(room)

    result, seen = guard.measure(name, Visitor(runner, "alpha-box", number), within_its_turn)
    return seen.told_in(result)


def passed(number):
    return CellResult(cell="alpha-box", round=number, outcome=Outcome.PASSED, elapsed=0.1)


def test_a_change_that_is_seen_at_once_fails_the_cell_and_the_next_finds_what_was_built(guard, env):
    def change(_room):
        env.module.write_text("ANSWER = 43\n")
        return passed(0)

    result = measured(guard, "alpha", "speed", change)
    assert (result.outcome, result.env_changed) == (Outcome.FAILED, "1 altered (module.py)")
    assert result.reason.startswith("while it ran its environment was changed: 1 altered (module.py)")
    assert env.module.read_text() == "ANSWER = 42\n"
    assert guard.late() == ()


def test_a_change_that_is_seen_late_fails_every_result_that_it_may_have_spoilt(guard, env, workplace, store_run):
    measured(guard, "alpha", "speed", lambda _: passed(0))
    measured(guard, "alpha", "speed", lambda _: passed(1), 1)

    def change(_room):
        env.module.write_text("ANSWER = 43\n")
        return passed(2)

    assert measured(guard, "alpha", "speed", change, 2).outcome is Outcome.PASSED
    guard.look_at_all()
    (late,) = guard.late()
    assert late.cells == (("alpha-box", 1), ("alpha-box", 2))
    assert guard.late() == ()
    store_run(RUN, {"alpha": 1.0, "beta": 1.0}, processes=3)
    workplace.store.set_aside(RUN, late)
    run = workplace.store.load(RUN)
    assert {result.outcome for result in run.results} == {Outcome.PASSED}, "what was stored is not touched"
    alpha, beta = judged_cells(run)
    assert (alpha.outcome, beta.outcome) == (Outcome.FAILED, Outcome.PASSED)
    assert [result.outcome for result in alpha.results] == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]
    assert "while it or 1 others ran its environment was changed: 1 altered (module.py)" in alpha.reason


def test_an_env_that_was_changed_before_is_told_by_the_first_cell_and_by_the_table(guard, env, workplace, store_run):
    env.module.write_text("ANSWER = 43\n")
    again = guard.take("alpha", Env.model_validate(guard._envs["alpha"]), env.build, fresh=False)
    assert Path(again.path, "module.py").read_text() == "ANSWER = 42\n"
    results = [measured(guard, "alpha", "speed", lambda _, number=number: passed(number)) for number in range(2)]
    assert [result.env_changed for result in results] == ["1 altered (module.py)", ""]
    assert {result.outcome for result in results} == {Outcome.PASSED}
    store_run(RUN, {"beta": 1.0}, processes=1)
    run = workplace.store.load(RUN)
    told = run.results[0].model_copy(update={"env_changed": results[0].env_changed})
    shown = terminal.matrix(reading_of(workplace, run.model_copy(update={"results": (told,)})).view, Look(width=120))
    said = " ".join(shown.split())
    assert "e its environment was found changed (1 altered (module.py)), set aside and built again" in said


def test_what_another_process_has_built_again_is_taken_as_it_is(project, guard, env):
    other = EnvGuard(Workplace(project))
    other.take("alpha", env.built[0], env.build, fresh=False)

    def change(_room):
        env.module.write_text("ANSWER = 43\n")
        return passed(0)

    measured(guard, "alpha", "speed", change)
    assert measured(other, "alpha", "speed", lambda _: passed(1)).outcome is Outcome.PASSED
    assert len(env.built) == 2, "once at first, once by the one that found the change"


def test_an_env_that_is_gone_is_built_again(guard, env):
    def take_away(_room):
        env.module.unlink()
        env.folder.rmdir()
        return passed(0)

    assert "its folder is gone" in measured(guard, "alpha", "speed", take_away).reason
    assert env.module.read_text() == "ANSWER = 42\n"


def test_bytecode_that_is_being_written_is_no_change(guard, env):
    def begin_to_write(_room):
        cache = env.folder / "__pycache__"
        cache.mkdir()
        (cache / "module.cpython-311.pyc.140487187772352").write_bytes(b"half")
        return passed(0)

    def write_on(_room):
        (env.folder / "__pycache__" / "module.cpython-311.pyc.140487187772352").unlink()
        return passed(1)

    assert measured(guard, "alpha", "speed", begin_to_write).outcome is Outcome.PASSED
    assert measured(guard, "alpha", "other", write_on).outcome is Outcome.PASSED


def test_a_cell_that_could_not_start_has_its_env_looked_at_at_once(guard, env):
    measured(guard, "alpha", "speed", lambda _: passed(0))
    env.module.unlink()
    result, seen = guard.measure("alpha", Visitor("speed", "alpha-box", 1), lambda _room: passed(1))
    assert seen.told_in(result).outcome is Outcome.FAILED
    assert env.module.read_text() == "ANSWER = 42\n"


def test_whoever_goes_in_before_its_turn_neither_runs_nor_looks_before_it(guard, env):
    measured(guard, "alpha", "speed", lambda _: passed(0))
    turns, entrances, order = Turns(1), Turns(1), []

    def visit(number):
        def run(room):
            order.append(("inside", number))
            if number == 0:
                assert inside.wait(10), "the second is not held up by the first"
            else:
                inside.set()
            with room.turn(lambda: None):
                order.append(("runs", number))
            return passed(number)

        visitor = Visitor("speed", "alpha-box", number, entrances.take(number), partial(turns.take, number))
        guard.measure("alpha", visitor, run)

    inside = threading.Event()
    threads = [threading.Thread(target=visit, args=(number,), daemon=True) for number in (1, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert order == [("inside", 0), ("inside", 1), ("runs", 0), ("runs", 1)]
