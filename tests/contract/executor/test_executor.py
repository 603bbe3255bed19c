"""What every executor keeps."""

import pytest

from envmgr.errors import BuildError
from envmgr.fleet.inline import InlineExecutor
from envmgr.fleet.local import LocalExecutor

ON_A_FLEET = pytest.param(None, id="fleet", marks=[pytest.mark.fleet, pytest.mark.integration])


@pytest.fixture(
    params=[
        pytest.param(InlineExecutor, id="inline"),
        pytest.param(lambda: LocalExecutor(1), id="1"),
        pytest.param(lambda: LocalExecutor(3), id="3"),
        ON_A_FLEET,
    ]
)
def executor(request):
    return request.param() if request.param else request.getfixturevalue("standing")


def test_every_job_is_done_once(executor):
    assert sorted(executor.map(lambda job: job * 2, range(20))) == list(range(0, 40, 2))


def test_no_jobs_are_no_results(executor):
    assert list(executor.map(str, ())) == []


def test_none_is_a_result_like_any_other(executor):
    assert list(executor.map(lambda job: None, range(3))) == [None, None, None]


def test_a_failing_job_costs_no_other_its_result_and_surfaces_in_the_end(executor):
    def work(job):
        if job in {1, 3}:
            raise BuildError(f"job {job} failed", "why", "hint")
        return job

    results = executor.map(work, range(6))
    assert sorted(next(results) for _ in range(4)) == [0, 2, 4, 5]
    with pytest.raises(BuildError) as caught:
        next(results)
    told = [caught.value.what, *caught.value.__notes__]
    assert sorted(word for text in told for word in text.split() if word in {"1", "3"}) == ["1", "3"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_a_job_is_raised_at_once(executor, kind):
    def work(job):
        if job == 0:
            raise kind
        return job

    with pytest.raises(kind):
        list(executor.map(work, range(100)))


def test_jobs_may_come_from_a_generator_and_are_taken_as_they_are_needed(executor):
    taken = []

    def jobs():
        for job in range(50):
            taken.append(job)
            yield job

    results = executor.map(lambda job: job, jobs())
    next(results)
    results.close()
    assert len(taken) < 10


def test_an_error_of_the_jobs_themselves_is_raised(executor):
    def jobs():
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(executor.map(lambda job: job, jobs()))
