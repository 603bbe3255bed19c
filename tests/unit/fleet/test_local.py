import threading

import pytest

from envmgr.fleet.local import LocalExecutor


def test_as_many_jobs_as_workers_run_at_once_and_no_more():
    together = threading.Barrier(3, timeout=30)
    guard, running, most = threading.Lock(), 0, 0

    def work(job):
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        together.wait()
        with guard:
            running -= 1

    list(LocalExecutor(3).map(work, range(9)))
    assert most == 3


def test_results_come_in_the_order_of_completion():
    release = threading.Event()

    def work(job):
        if job == 0:
            assert release.wait(30)
        else:
            release.set()
        return job

    assert list(LocalExecutor(2).map(work, range(2))) == [1, 0]


def test_an_interrupted_consumer_waits_for_nobody_and_starts_nothing_more():
    hang, started = threading.Event(), []

    def work(job):
        started.append(job)
        if job:
            hang.wait(60)
        return job

    def consume():
        for _ in LocalExecutor(2).map(work, range(50)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert set(started) <= {0, 1, 2}
    assert all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    hang.set()


def test_fewer_than_one_worker_is_one():
    assert list(LocalExecutor(0).map(str, [1, 2])) == ["1", "2"]


def test_a_thread_does_one_job_after_the_other_and_ends_when_all_are_done():
    threads = list(LocalExecutor(2).map(lambda _: threading.current_thread(), range(50)))
    assert len(set(threads)) <= 2
    for thread in threads:
        thread.join(5.0)
        assert not thread.is_alive()
