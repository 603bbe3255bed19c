"""A fleet whose hosts are network namespaces, each with an address of its own, one of them cut off in the middle."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.fleet,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        shutil.which("ip") is None or not hasattr(os, "geteuid") or os.geteuid() != 0, reason="wants network namespaces"
    ),
]

NAMES = ("client", "left", "right")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def network():
    """Three namespaces on one bridge: 10.77.0.1 (client and scheduler), .2 (left), .3 (right)."""
    names = {name: f"envmgr-{os.getpid()}-{name}" for name in NAMES}
    try:
        for name in names.values():
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError:
        pytest.skip("network namespaces cannot be made here")
    hub = names["client"]
    try:
        ip("-n", hub, "link", "add", "hub", "type", "bridge")
        ip("-n", hub, "addr", "add", "10.77.0.1/24", "dev", "hub")
        ip("-n", hub, "link", "set", "hub", "up")
        for number, name in enumerate(("left", "right"), start=2):
            ip("-n", hub, "link", "add", name, "type", "veth", "peer", "name", "net0", "netns", names[name])
            ip("-n", hub, "link", "set", name, "master", "hub", "up")
            ip("-n", names[name], "addr", "add", f"10.77.0.{number}/24", "dev", "net0")
            ip("-n", names[name], "link", "set", "net0", "up")
        yield names
    finally:
        for name in names.values():
            ip("netns", "delete", name)


def test_a_host_that_is_cut_off_costs_no_cell(project, network):
    project.matrix(manifests=["one"], entries=[{"answer": 42, "number": number} for number in range(120)])
    started = []

    def start(place, *arguments):
        command = ["ip", "netns", "exec", network[place], sys.executable, "-m", "envmgr", *arguments]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        made = subprocess.Popen(command, cwd=project.root, env=project.environment, text=True, **streams)
        started.append(made)
        return made

    try:
        address = "tcp://10.77.0.1:8786"
        up = start("client", "fleet", "up", "--workers", "0", "--address", address, "--insecure")
        assert address in up.stderr.readline()
        for name in ("left", "right"):
            start(name, "fleet", "worker", address, "--name", name, "--together", "--insecure")
        time.sleep(8)
        run = start("client", "matrix", "run", "--fleet", address, "--insecure", "--json")
        runs = project.root / ".envmgr" / "runs"
        while run.poll() is None and len(list(runs.glob("*/results/*.json"))) < 30:
            time.sleep(0.1)
        ip("-n", network["client"], "link", "set", "right", "down")
        stdout, stderr = run.communicate(timeout=200)
        cells = json.loads(stdout)["data"]["cells"]
        assert len(cells) == 120
        assert {cell["outcome"] for cell in cells} == {"passed"}, stderr
        assert {cell["host"] for cell in cells} == {"left", "right"}
        assert run.returncode == 0
        assert len(list(runs.glob("*/results/*.json"))) == 120
    finally:
        for process in started:
            process.kill()
            process.communicate()
