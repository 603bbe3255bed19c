"""Several experiments at a time: they overlap, the answers are those of one at a time, and nothing goes on in the end."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.app.experiments.crew import Crew, Job
from envmgr.ports import ProcessRequest
from envmgr.system.clock import RealClock

PATIENCE = 20.0


@pytest.fixture(scope="module")
def crew(stand_in):
    return lambda hands, **more: Crew(hands, stand_in(), RealClock(), **more)


def value(key):
    return Job(key, lambda _: key.upper())


def meeting(count):
    """Return a kind of job that ends only when so many are in it at once."""
    barrier = threading.Barrier(count)

    def met(key):
        def carry_out(_):
            barrier.wait(PATIENCE)
            return key

        return Job(key, carry_out)

    return met


@pytest.mark.parametrize("hands", [2, 3, 4])
def test_what_is_asked_together_is_done_together(crew, hands):
    met, keys = meeting(hands), "abcd"[:hands]
    with crew(hands).at_work() as working:
        assert working.now([met(key) for key in keys]) == list(keys)


def test_what_is_likely_is_done_beside_what_is_asked_and_taken_when_it_is_asked(crew):
    met = meeting(2)
    with crew(2).at_work() as working:
        assert working.now([met("asked")], lambda: [met("likely")]) == ["asked"]
        assert working.now([Job("likely", lambda _: "done anew")]) == ["likely"]
    assert (working.account.begun, working.account.used) == (1, 1)


def test_one_hand_begins_nothing_ahead_and_does_one_after_the_other(crew):
    inside, most = [], []

    def counted(key):
        def carry_out(_):
            inside.append(key)
            most.append(len(inside))
            inside.remove(key)
            return key

        return Job(key, carry_out)

    with crew(1).at_work() as working:
        assert working.now([counted(key) for key in "abc"], lambda: pytest.fail("it asked what is likely")) == [*"abc"]
    assert max(most) == 1
    assert working.account.sentence() == ""


def test_no_more_is_begun_ahead_than_hands_are_free(crew):
    begun = []
    release = threading.Event()

    def waiting(key):
        def carry_out(_):
            begun.append(key)
            if len(begun) == 3:
                release.set()
            release.wait(PATIENCE)
            return key

        return Job(key, carry_out)

    with crew(3).at_work() as working:
        assert working.now([waiting("asked")], lambda: [waiting(key) for key in "abcdef"]) == ["asked"]
        working.now([value("next")])
    assert set(begun[:3]) == {"asked", "a", "b"}


def test_what_is_no_longer_likely_is_stopped_and_counted_as_thrown_away(stand_in):
    process, started = stand_in(), threading.Event()

    def endless(part):
        started.set()
        part.stopped.wait(PATIENCE)
        part.run(ProcessRequest(("at once",)))

    def when_started(key):
        return Job(key, lambda _: started.wait(PATIENCE) and key)

    with Crew(2, process, RealClock()).at_work() as working:
        working.now([when_started("asked")], lambda: [Job("likely", endless)])
        working.now([value("other")])
    assert [part.stopped.is_set() for part in process.parts] == [False, True, False]
    assert (working.account.begun, working.account.used) == (1, 0)
    assert "1 thrown away" in working.account.sentence()


def test_nothing_goes_on_after_the_end_even_if_it_ends_in_an_error(stand_in):
    process, started = stand_in(), threading.Event()

    def endless(part):
        started.set()
        part.stopped.wait(PATIENCE)
        part.run(ProcessRequest(("at once",)))

    def broken(_):
        started.wait(PATIENCE)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), Crew(2, process, RealClock()).at_work() as working:
        working.now([Job("asked", broken)], lambda: [Job("likely", endless)])
    assert process.parts[1].stopped.is_set()


@pytest.mark.parametrize("spoilt", ["untrusted", OSError("disk full"), KeyboardInterrupt()])
def test_what_went_wrong_ahead_is_done_anew_when_it_is_asked(crew, spoilt):
    started, times = threading.Event(), []

    def likely(_):
        times.append(1)
        started.set()
        if len(times) > 1:
            return "good"
        if isinstance(spoilt, BaseException):
            raise spoilt
        return spoilt

    job = Job("likely", likely)
    with crew(2, trusted=lambda seen: seen != "untrusted").at_work() as working:
        working.now([Job("asked", lambda _: started.wait(PATIENCE))], lambda: [job])
        assert working.now([job]) == ["good"]
    assert (working.account.begun, working.account.used) == (1, 0)


def test_what_cannot_be_trusted_and_had_company_is_done_anew_alone(crew):
    inside, started, times = [], threading.Event(), []

    def short(_):
        times.append(len(inside))
        if len(times) == 1:
            started.wait(PATIENCE)
            return "short"
        return "good"

    def beside(part):
        inside.append(1)
        started.set()
        part.stopped.wait(PATIENCE)
        inside.clear()
        return "late"

    with crew(2, trusted=lambda seen: seen != "short").at_work() as working:
        assert working.now([Job("asked", short)], lambda: [Job("likely", beside)]) == ["good"]
    assert times[1:] == [0]


def test_what_cannot_be_trusted_and_was_alone_stands(crew):
    with crew(2, trusted=lambda _: False).at_work() as working:
        assert working.now([Job("asked", lambda _: "short")]) == ["short"]
        assert working.now([Job("asked", lambda _: "short again")]) == ["short again"]


@given(st.lists(st.tuples(st.sets(st.integers(0, 5), min_size=1, max_size=3), st.lists(st.integers(0, 9), max_size=4)), max_size=6))  # fmt: skip
def test_answers_are_the_same_with_one_hand_and_with_many(crew, rounds):
    def answers(hands):
        with crew(hands).at_work() as working:
            return [
                working.now([value(f"x{one}") for one in sorted(asked)], lambda: [value(f"x{one}") for one in likely])  # noqa: B023
                for asked, likely in rounds
            ]

    assert answers(1) == answers(3)
