"""What an executor over other hosts keeps besides, when hosts come and go."""

import os
import signal
import time

import pytest

from envmgr.errors import FleetError
from envmgr.fleet.addresses import checked_address

pytestmark = [pytest.mark.fleet, pytest.mark.integration]


@pytest.fixture
def cluster(fleet):
    from envmgr.fleet.cluster import Cluster

    made = Cluster(fleet.address)
    yield made
    made.close()


def executor(cluster, **options):
    from envmgr.fleet.remote import ClusterExecutor

    return ClusterExecutor(cluster, **options)


def pause(job):
    import time

    time.sleep(0.05)
    return job


def test_each_job_goes_where_it_can_and_is_packed_for_that_host(fleet, cluster):
    fleet.add("left")
    fleet.add("right")
    fleet.wait_for(cluster, 2)
    assert {member.announced for member in cluster.members()} == {"facts of left", "facts of right"}
    made = executor(
        cluster,
        where=lambda job, hosts: {"left" if job % 2 else "right"} & set(hosts),
        pack=lambda job, host: (job, host),
    )
    found = dict(made.map(pause, range(20)))
    assert found == {job: "left" if job % 2 else "right" for job in range(20)}


def test_a_job_whose_worker_dies_is_done_elsewhere_and_yielded_once(fleet, cluster):
    for name in ("a", "b", "c"):
        fleet.add(name)
    fleet.wait_for(cluster, 3)
    found = []
    for job in executor(cluster).map(pause, range(100)):
        found.append(job)
        if len(found) in {10, 40}:
            fleet.workers[{10: "a", 40: "b"}[len(found)]].kill()
            fleet.add(f"new{len(found)}")
    assert sorted(found) == list(range(100))


def test_a_job_that_nobody_can_take_is_handed_back_and_the_others_are_done(fleet, cluster):
    fleet.add("a")
    fleet.wait_for(cluster, 1)
    made = executor(
        cluster,
        where=lambda job, hosts: hosts if job else (),
        unplaced=lambda job, said, worn: f"{job}: {said} {worn}",
        patience=0.5,
    )
    found = list(made.map(str, [0, 1, 2]))
    assert found[:2] == ["1", "2"]
    assert found[2].startswith("0: no host that can take it is in the fleet (there: a)")


def test_a_job_that_kills_its_workers_costs_three_and_no_more(fleet, cluster):
    for name in ("a", "b", "c", "d"):
        fleet.add(name)
    fleet.wait_for(cluster, 4)

    def work(job):
        if job == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return job

    made = executor(cluster, unplaced=lambda job, said, worn: (said, worn))
    found = list(made.map(work, range(10)))
    (told,) = [each for each in found if isinstance(each, tuple)]
    assert told[0].startswith("its worker died 3 times")
    assert told[1] is True
    assert sorted(each for each in found if not isinstance(each, tuple)) == list(range(1, 10))
    assert len(cluster.members()) == 1


def test_a_scheduler_that_dies_is_an_error_with_the_remedy(fleet, cluster):
    fleet.add("a")
    fleet.wait_for(cluster, 1)
    results = executor(cluster).map(pause, range(1000))
    next(results)
    fleet.scheduler.kill()
    begun = time.monotonic()
    with pytest.raises(FleetError, match="is gone") as caught:
        list(results)
    assert "--resume" in caught.value.hint
    assert time.monotonic() - begun < 30


def test_no_scheduler_is_an_error_with_the_remedy():
    from envmgr.fleet.cluster import Cluster

    with pytest.raises(FleetError, match="does not answer"):
        Cluster(checked_address("127.0.0.1:9", insecure=False), timeout=1)
