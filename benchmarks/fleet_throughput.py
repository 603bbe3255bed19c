"""How fast a fleet is beside plain Dask: trivial subprocesses on two workers, through both; memory of this client.

python benchmarks/fleet_throughput.py [COUNT]
"""

import subprocess
import sys
import tempfile
import time

import psutil

from envmgr.fleet.cluster import Cluster
from envmgr.fleet.remote import ClusterExecutor

SCHEDULER = """
from envmgr.fleet.cluster import schedule
schedule("127.0.0.1", 0, "tcp", lambda address: print(address, flush=True))
"""
WORKER = """
import sys
from envmgr.fleet.cluster import Announcement, serve
serve(sys.argv[1], Announcement(sys.argv[2], ""), sys.argv[3])
"""


def trivial(number):
    """Run one process that does nothing."""
    import subprocess
    import sys

    return number, subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True).returncode


def plain(address, count):
    """Let Dask itself spread the same work."""
    from distributed import Client, as_completed

    client = Client(address)
    begun = time.perf_counter()
    futures = client.map(trivial, range(count), pure=False)
    assert sorted(future.result()[0] for future in as_completed(futures)) == list(range(count))
    took = time.perf_counter() - begun
    client.close()
    return took


def ours(address, count):
    """Let the fleet's executor do it, and watch this client's memory."""
    cluster = Cluster(address)
    begun = time.perf_counter()
    memory, done = [], []
    for number, _ in ClusterExecutor(cluster).map(trivial, range(count)):
        done.append(number)
        if len(done) % (count // 10) == 0:
            memory.append(psutil.Process().memory_info().rss / 2**20)
    assert sorted(done) == list(range(count))
    took = time.perf_counter() - begun
    cluster.close()
    return took, memory


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
        address = scheduler.stdout.readline().strip()
        workers = [subprocess.Popen([sys.executable, "-c", WORKER, address, host, folder]) for host in ("a", "b")]
        try:
            waiting = Cluster(address)
            while len(waiting.members()) < 2:
                time.sleep(0.1)
            waiting.close()
            ours(address, 20), plain(address, 20)
            mine, memory = ours(address, count)
            theirs = plain(address, count)
        finally:
            for process in (*workers, scheduler):
                process.kill()
                process.wait()
    print(f"{count} subprocesses on 2 workers: Dask {theirs:.1f} s, fleet {mine:.1f} s, {mine / theirs:.2f} times")
    print("memory of the client, MiB: " + " ".join(f"{each:.0f}" for each in memory))


if __name__ == "__main__":
    main()
