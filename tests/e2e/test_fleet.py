"""One matrix over several hosts: a scheduler and workers on loopback, as their users start them."""

import json
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.integration, pytest.mark.fleet, pytest.mark.timeout(400)]

HOSTS = Path(__file__).resolve().parents[1] / "hosts"

STAND_IN = """\
#!{python} -I
import json, sys
asked = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
if "cell" in asked:
    answer = {{
        "protocol": 1, "cell": asked["cell"], "status": "ok", "first_call": 0.5, "samples": [0.1],
        "device": asked["device"], "outputs": {{"answer": {{"shape": [1], "values": [42]}}}},
    }}
else:
    answer = {{"backend": "torch", "version": "2.9", "devices": [
        {{"id": "cpu", "api": "cpu"}}, {{"id": {device!r}, "api": {device!r}}}], "kinds": ["cpu", {device!r}]}}
json.dump(answer, open(sys.argv[sys.argv.index("--report") + 1], "w"))
"""

TORCH = '''\
"""A tiny torch: as much of it as its probe and a runner ask for."""
__version__ = "2.9"


class version:
    cuda = None
    hip = None
'''


class Fleet:
    """Processes of a fleet, started as a user would; all that was started here ends with the test."""

    def __init__(self, project):
        self.project = project
        self.workers = []
        self.scheduler = project.start("fleet", "up", "--workers", "0", "--address", "tcp://127.0.0.1:0")
        try:
            self.address = address_of(self.scheduler)
        except BaseException:
            kill(self.scheduler)
            raise

    def worker(self, name, *options, **environment):
        made = self.project.start(
            "fleet", "worker", self.address, "--name", name, "--together", *options, **environment
        )
        self.workers.append(made)
        return made

    def members(self):
        """Return the addresses of the workers that are there."""
        from envmgr.fleet.cluster import Cluster

        cluster = Cluster(self.address)
        found = {member.address for member in cluster.members()}
        cluster.close()
        return found

    def wait(self, count):
        self.wait_for(lambda members: len(members) >= count)

    def wait_for(self, good):
        limit = time.monotonic() + 90
        while not good(self.members()):
            assert time.monotonic() < limit, "workers do not come"
            time.sleep(0.2)

    def end(self):
        for process in (*self.workers, self.scheduler):
            kill(process)
            process.communicate()


def address_of(process, protocol="tcp://"):
    """Return the address that `fleet up` tells."""
    told = []
    for line in process.stderr:
        told.append(line)
        words = [word for word in line.split() if word.startswith(protocol)]
        if words:
            return words[0]
    pytest.fail("".join(told))


def kill(process):
    """Kill one process that was started here, with its own descendants."""
    try:
        descendants = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    process.kill()
    for each in descendants:
        if each.is_running():
            each.kill()


@pytest.fixture
def fleet(project):
    made = Fleet(project)
    yield made
    made.end()


def results_of(project):
    run = max((project.root / ".envmgr" / "runs").iterdir())
    return sorted((run / "results").glob("*.json"))


def stand_in(tmp_path, name, device):
    """Make an interpreter that answers for every env, with a device of its own."""
    made = tmp_path / f"{name}-python"
    made.write_text(STAND_IN.format(python=sys.executable, device=device))
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    return str(made)


def stood_in(fleet, tmp_path, name, facts, device):
    """Start a worker that announces another machine's facts, and whose interpreter answers for every env."""
    interpreter = stand_in(tmp_path, name, device)
    fleet.worker(name, "--facts", str(HOSTS / f"{facts}.json"), "--stand-in", interpreter)


def test_each_cell_of_one_matrix_is_measured_at_the_right_one_of_three_hosts(project, fleet, tmp_path):
    project.index.add("torch", "2.9", {"torch.py": TORCH})
    keys = {"requirements": ["torch==2.9"], "backend": "torch", "runners": ["answer"]}
    project.manifest("on-metal", python="==3.11.*", platforms=["macos-arm64"], **keys)
    project.manifest("on-cuda", python="==3.12.*", platforms=["linux-x86_64"], device="cuda", **keys)
    exactly = ".".join(str(part) for part in sys.version_info[:3])
    project.manifest("one", python=f"=={exactly}", platforms=["linux-x86_64", "linux-aarch64"])
    project.manifest("nowhere", python="==3.11.*", platforms=["windows-x86_64"], requirements=["demo==1.0"])
    runner = (project.root / "runners" / "answer.py").read_text()
    project.write("runners/on_device.py", runner.replace("needs-device = false", "needs-device = true"))
    matrix = project.matrix(manifests=["on-metal", "on-cuda", "one", "nowhere"], entries=[{}])
    text = matrix.read_text().replace(
        'runner = "answer"\nparameters = {  }', 'runner = "answer"\nmanifests = ["one", "nowhere"]'
    )
    text += '[[entry]]\nrunner = "on_device"\nmanifests = ["on-metal", "on-cuda"]\ndevices = ["mps"]\n'
    matrix.write_text(text)
    for name, facts, device in (("m1", "m1-arm64-py38", "mps"), ("rack", "linux-cuda", "cuda")):
        stood_in(fleet, tmp_path, name, facts, device)
    fleet.worker("real")
    fleet.wait(3)
    code, answer = project.json("matrix", "run", "--fleet", fleet.address)
    assert answer["data"], answer
    found = {(cell["name"], cell["host"]): cell["outcome"] for cell in answer["data"]["cells"]}
    assert found["on-metal/on_device/mps", "m1"] == "passed"
    assert found["on-cuda/on_device/cuda", "rack"] == "passed"
    assert found["one/answer", "real"] == "passed"
    assert found["nowhere/answer", ""] == "unavailable"
    reason = next(cell["reason"] for cell in answer["data"]["cells"] if cell["manifest"] == "nowhere")
    assert all(word in reason for word in ("no host of the fleet can have it", "m1:", "rack:", "real:"))
    assert code == 0, found


def many(project, count, **parameters):
    project.matrix(
        manifests=["one"], entries=[{"answer": 42, "number": number, **parameters} for number in range(count)]
    )


def test_workers_killed_at_random_cost_no_cell_and_none_is_counted_twice(project, fleet):
    many(project, 200)
    named = {name: fleet.worker(name) for name in ("h0", "h1", "h2")}
    fleet.wait(3)
    run = project.start("matrix", "run", "--fleet", fleet.address, "--json")
    chance = random.Random(17)
    for number in range(3, 7):
        while run.poll() is None and len(
            results_of(project) if (project.root / ".envmgr" / "runs").exists() else ()
        ) < 40 * (number - 2):
            time.sleep(0.1)
        name = chance.choice(["h0", "h1", "h2"])
        kill(named[name])
        named[name] = fleet.worker(name)
    stdout, stderr = run.communicate(timeout=200)
    assert run.returncode == 0, stderr
    cells = json.loads(stdout)["data"]["cells"]
    assert len(cells) == 200
    assert {cell["outcome"] for cell in cells} == {"passed"}
    assert len(results_of(project)) == 200
    assert {cell["host"] for cell in cells} == set(named)


def test_a_scheduler_killed_in_the_middle_leaves_a_run_that_resume_finishes(project):
    many(project, 60)
    first = Fleet(project)
    try:
        first.worker("a")
        first.wait(1)
        run = project.start("matrix", "run", "--fleet", first.address)
        while run.poll() is None and not (
            (project.root / ".envmgr" / "runs").exists() and len(results_of(project)) >= 10
        ):
            time.sleep(0.1)
        kill(first.scheduler)
        _, stderr = run.communicate(timeout=90)
    finally:
        first.end()
    assert run.returncode == 3, stderr
    assert "is gone" in stderr
    assert "--resume --fleet" in stderr
    before = {path: path.read_bytes() for path in results_of(project)}
    assert 10 <= len(before) < 60
    second = Fleet(project)
    try:
        second.worker("a")
        second.wait(1)
        code, answer = project.json("matrix", "run", "--resume", "--fleet", second.address)
    finally:
        second.end()
    assert (code, len(answer["data"]["cells"]), answer["data"]["run"]["finished"]) == (0, 60, True)
    assert all(path.read_bytes() == content for path, content in before.items())
    assert len(results_of(project)) == 60


def test_cells_whose_values_scatter_get_further_rounds_on_their_host(project, fleet):
    runner = project.root / "runners" / "answer.py"
    scattered = '"samples": [1 + __import__("random").random()]'
    runner.write_text(runner.read_text().replace('"samples": [0.1, 0.2]', scattered))
    project.matrix(manifests=["one"], effort="default")
    fleet.worker("only")
    fleet.wait(1)
    done = project.run("matrix", "run", "--fleet", fleet.address, "--json")
    answer = json.loads(done.stdout)["data"]
    assert (done.returncode, answer["run"]["finished"]) == (0, True), done.stderr
    (rounds,) = answer["run"]["rounds"]
    assert (rounds["host"], rounds["processes"], rounds["ended"]) == ("only", 30, "most")
    assert len(answer["cells"][0]["samples"]) == 30
    assert "[30/30]" in done.stderr
    assert "going on answer one more, as after 10 processes a cell only" in done.stderr


def test_cells_whose_only_host_leaves_are_told_and_left_for_a_resume(project, fleet):
    many(project, 30)
    only = fleet.worker("only")
    fleet.wait(1)
    run = project.start("matrix", "run", "--fleet", fleet.address, "--json")
    while run.poll() is None and not ((project.root / ".envmgr" / "runs").exists() and len(results_of(project)) >= 5):
        time.sleep(0.1)
    kill(only)
    stdout, stderr = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "is left for `envmgr matrix run --resume --fleet ADDRESS`" in stderr
    assert json.loads(stdout)["data"]["run"]["finished"] is False
    fleet.worker("only")
    fleet.wait(1)
    code, answer = project.json("matrix", "run", "--resume", "--fleet", fleet.address)
    assert (code, answer["data"]["run"]["finished"], len(answer["data"]["cells"])) == (0, True, 30)


def test_an_unencrypted_fleet_elsewhere_is_refused(project):
    many(project, 1)
    for command in (
        ("matrix", "run", "--fleet", "tcp://192.0.2.1:8786"),
        ("fleet", "worker", "192.0.2.1:8786"),
        ("fleet", "up", "--address", "tcp://0.0.0.0:8786"),
    ):
        done = project.run(*command)
        assert (done.returncode, "is not encrypted" in done.stderr) == (2, True), done.stderr


def test_no_fleet_and_a_fleet_without_hosts_are_clear_errors(project, fleet):
    many(project, 1)
    nobody = project.run("matrix", "run", "--fleet", "127.0.0.1:9")
    assert (nobody.returncode, "does not answer" in nobody.stderr) == (3, True)
    empty = project.run("matrix", "run", "--fleet", fleet.address)
    assert (empty.returncode, "the fleet has no host" in empty.stderr) == (3, True)


def test_fleet_up_replaces_a_worker_that_dies_and_ends_them_all(project):
    up = project.start("fleet", "up", "--workers", "2", "--address", "tcp://127.0.0.1:0")
    try:
        address = address_of(up)
        fleet = Fleet.__new__(Fleet)
        fleet.address = address
        fleet.wait(2)
        workers = [
            each
            for each in psutil.Process(up.pid).children(recursive=True)
            if address in each.cmdline() and "worker" in each.cmdline()
        ]
        before = fleet.members()
        workers[0].kill()
        fleet.wait_for(lambda members: len(members) == 2 and members != before)
        many(project, 4)
        assert project.run("matrix", "run", "--fleet", address).returncode == 0
        descendants = psutil.Process(up.pid).children(recursive=True)
        up.send_signal(signal.SIGTERM)
        up.communicate(timeout=30)
        _, alive = psutil.wait_procs(descendants, timeout=20)
        assert alive == []
    finally:
        kill(up)


def test_an_encrypted_fleet_takes_dasks_own_certificates_and_nobody_without(project, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("wants openssl")
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=fleet"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    trust = {f"{prefix}CA_FILE": certificate}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        trust |= {f"{prefix}{role}__KEY": key, f"{prefix}{role}__CERT": certificate}
    many(project, 2)
    up = project.start("fleet", "up", "--workers", "1", "--address", "tls://127.0.0.1:0", **trust)
    try:
        address = address_of(up, "tls://")
        limit = time.monotonic() + 60
        while (done := project.run("matrix", "run", "--fleet", address, **trust)).returncode == 3:
            assert "has no host" in done.stderr, done.stderr
            assert time.monotonic() < limit
        assert (done.returncode, "2 passed" in done.stdout) == (0, True)
        without = project.run("matrix", "run", "--fleet", address)
        assert (without.returncode, "has no certificates" in without.stderr) == (3, True)
    finally:
        up.send_signal(signal.SIGTERM)
        up.communicate(timeout=30)


def test_a_host_that_joins_in_the_middle_gets_what_no_other_can_have(project, fleet, tmp_path):
    project.manifest("on-metal", python="==3.11.*", platforms=["macos-arm64"], requirements=["demo==1.0"])
    many(project, 40)
    matrix = project.root / "manifests" / "matrices" / "quick.toml"
    matrix.write_text(matrix.read_text().replace('manifests = ["one"]', 'manifests = ["one", "on-metal"]', 1))
    # However slowly it joins, the others have not ended before: most cells wait until it has measured one.
    joined = tmp_path / "joined"
    runner = project.root / "runners" / "answer.py"
    held = f"while parameters['number'] > 9 and not os.path.exists({str(joined)!r}):\n    time.sleep(0.05)\n"
    runner.write_text(runner.read_text().replace("import demo\n", held + "import demo\n"))
    fleet.worker("real")
    fleet.wait(1)
    run = project.start("matrix", "run", "--fleet", fleet.address, "--json")

    def measured():
        return results_of(project) if (project.root / ".envmgr" / "runs").exists() else []

    while run.poll() is None and len(measured()) < 3:
        time.sleep(0.1)
    stood_in(fleet, tmp_path, "m1", "m1-arm64-py38", "mps")
    while run.poll() is None and not any(json.loads(path.read_text())["host"] == "m1" for path in measured()):
        time.sleep(0.1)
    joined.touch()
    stdout, stderr = run.communicate(timeout=200)
    assert "m1 has joined; asked for on-metal" in stderr
    data = json.loads(stdout)["data"]
    found = [(cell["manifest"], cell["host"], cell["outcome"]) for cell in data["cells"]]
    assert sorted(set(found)) == [("on-metal", "m1", "passed"), ("one", "real", "passed")], stderr
    assert len(found) == 80
    assert (run.returncode, data["run"]["finished"]) == (0, True)


def test_failed_measures_on_a_fleet_what_failed_and_nothing_else(project, fleet):
    project.matrix(manifests=["one"], entries=[{}, {"answer": 41}, {"behaviour": "crash"}])
    fleet.worker("a")
    fleet.wait(1)
    code, answer = project.json("matrix", "run", "--fleet", fleet.address)
    assert (code, sorted(cell["outcome"] for cell in answer["data"]["cells"])) == (1, ["crashed", "passed", "wrong"])
    code, answer = project.json("matrix", "run", "--failed", "--fleet", fleet.address)
    assert (code, sorted(cell["outcome"] for cell in answer["data"]["cells"])) == (1, ["crashed", "wrong"])


def test_a_cell_that_changes_the_env_of_a_fleets_host_is_told_and_the_next_finds_a_clean_one(project, fleet):
    runner = (project.root / "runners" / "answer.py").read_text()
    change = (
        'import demo\nif parameters.get("behaviour") == "change":\n    open(demo.__file__, "a").write("ANSWER = 43")\n'
    )
    project.write("runners/answer.py", runner.replace("import demo\n", change))
    project.matrix(manifests=["one"], entries=[{"behaviour": "change"}, {}, {"behaviour": "change", "number": 2}])
    fleet.worker("a", UV_LINK_MODE="copy")  # where files are links, the first is kept from writing as well
    fleet.wait(1)
    code, answer = project.json("matrix", "run", "--fleet", fleet.address)
    first, second, third = answer["data"]["cells"]
    assert (code, first["outcome"], second["outcome"]) == (1, "failed", "passed"), answer
    assert "while it ran its environment was changed: 1 altered" in first["reason"]
    assert third["outcome"] in {"crashed", "failed"}, "later cells of a runner may not write there, or are told as well"
    assert project.json("verify", "one", "--deep")[0] == 0


def test_a_host_that_comes_after_a_run_adds_to_it_when_it_is_resumed(project, fleet, tmp_path):
    project.manifest("on-metal", python="==3.11.*", platforms=["macos-arm64"], requirements=["demo==1.0"])
    project.matrix(manifests=["one", "on-metal"])
    fleet.worker("real")
    fleet.wait(1)
    _, answer = project.json("matrix", "run", "--fleet", fleet.address)
    assert {cell["manifest"]: cell["outcome"] for cell in answer["data"]["cells"]} == {
        "one": "passed",
        "on-metal": "unavailable",
    }
    stood_in(fleet, tmp_path, "m1", "m1-arm64-py38", "mps")
    fleet.wait(2)
    code, answer = project.json("matrix", "run", "--resume", "--fleet", fleet.address)
    assert answer["data"], answer["error"]
    found = {cell["manifest"]: (cell["host"], cell["outcome"]) for cell in answer["data"]["cells"]}
    assert (code, found) == (0, {"one": ("real", "passed"), "on-metal": ("m1", "passed")})
    assert answer["data"]["run"]["host"] == "real, m1"
    assert len(results_of(project)) == 2
