"""A fleet in processes of its own, as its users start it, for whoever wants to try an executor on it."""

import subprocess
import sys
import time

import pytest

SCHEDULER = """
from envmgr.fleet.cluster import schedule
schedule("127.0.0.1", 0, "tcp", lambda address: print(address, flush=True))
"""
WORKER = """
import sys
from envmgr.fleet.cluster import Announcement, serve
serve(sys.argv[1], Announcement(sys.argv[2], "facts of " + sys.argv[2]), sys.argv[3])
"""


class Fleet:
    """A scheduler and its workers on loopback; every process that was started here ends with it."""

    def __init__(self, folder):
        self.folder = folder
        self.workers = {}
        self.scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
        self.address = self.scheduler.stdout.readline().strip()

    def add(self, host):
        arguments = [sys.executable, "-c", WORKER, self.address, host, str(self.folder)]
        self.workers[host] = subprocess.Popen(arguments, cwd=self.folder, stderr=subprocess.DEVNULL)

    def wait_for(self, cluster, count):
        limit = time.monotonic() + 60
        while len(cluster.members()) != count:
            assert time.monotonic() < limit, cluster.members()
            time.sleep(0.1)

    def end(self):
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()
        self.scheduler.stdout.close()


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """An executor over two hosts that stand for all tests of a module."""
    from envmgr.fleet.cluster import Cluster
    from envmgr.fleet.remote import ClusterExecutor

    made = Fleet(tmp_path_factory.mktemp("fleet"))
    made.add("one")
    made.add("two")
    cluster = Cluster(made.address)
    made.wait_for(cluster, 2)
    yield ClusterExecutor(cluster)
    cluster.close()
    made.end()
