"""Jobs take their turns in order, whichever thread is ready first."""

import threading
import time

import pytest

from envmgr.app.turns import Turns


def in_threads(turns, numbers, do):
    threads = [threading.Thread(target=do, args=(turns, number), daemon=True) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_the_order_is_that_of_the_numbers():
    order = []

    def do(turns, number):
        with turns.take(number):
            order.append(number)

    in_threads(Turns(1), reversed(range(20)), do)
    assert order == list(range(20))


def test_no_more_than_some_at_a_time():
    together, most, guard = [0], [0], threading.Lock()

    def do(turns, number):
        with turns.take(number):
            with guard:
                together[0] += 1
                most[0] = max(most[0], together[0])
            threading.Event().wait(0.002)
            with guard:
                together[0] -= 1

    in_threads(Turns(3), range(30), do)
    assert 1 < most[0] <= 3


def test_one_that_gives_up_holds_up_nobody():
    order = []

    def do(turns, number):
        if number % 3 == 0:
            turns.give_up(number)
            return
        with turns.take(number):
            order.append(number)

    in_threads(Turns(1), reversed(range(12)), do)
    assert order == [number for number in range(12) if number % 3]


def test_whoever_leaves_begins_the_turn_of_the_next():
    turns, begun = Turns(1), []
    waiting = threading.Thread(
        target=lambda: turns.take(1, lambda: begun.append(threading.current_thread())).__enter__()
    )
    with turns.take(0):
        waiting.start()
        while not turns._waiting:
            time.sleep(0.001)
    assert begun == [threading.current_thread()]
    waiting.join(10)


def test_what_goes_wrong_at_the_beginning_is_told_to_whose_turn_it_was_and_holds_up_nobody():
    turns = Turns(1)

    def fail():
        raise LookupError("nothing to begin with")

    with pytest.raises(LookupError), turns.take(0, fail):
        pytest.fail("it has not begun")
    with turns.take(1):
        pass
