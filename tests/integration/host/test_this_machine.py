"""Discovery and facts on the machine that runs the tests."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from envmgr.host.facts import gather
from envmgr.host.interpreters import PROBE, discover
from envmgr.host.surroundings import Means, Surroundings, system_of
from envmgr.model.host import HostFacts
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration


class Threads:
    def map(self, function, jobs):
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(function, list(jobs))


BASE = Path(os.path.realpath(sys._base_executable))


@pytest.fixture
def here(tmp_path):
    """This machine as seen from an empty home, with PATH alone to find Pythons by."""

    def make(*folders, **more):
        environment = {"PATH": os.pathsep.join(str(folder) for folder in folders), "PYTHONPATH": "/nowhere"}
        means = Means(RealProcess(environment), RealFiles(tmp_path / "scratch"), Threads())
        return means, Surroundings(system_of(sys.platform), environment, tmp_path / "home", **more)

    return make


def link(folder, name, target):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(target)
    return folder


def by_executable(discovery):
    return {interpreter.executable: interpreter for interpreter in discovery.interpreters}


def test_a_link_is_resolved_and_two_are_one(here, tmp_path):
    one, two = link(tmp_path / "one", "python3", BASE), link(tmp_path / "two", "python", BASE)
    means, around = here(one, two)
    found = by_executable(discover(means, around, tmp_path / "cache"))
    assert found[str(BASE)].version == "{}.{}.{}".format(*sys.version_info[:3])
    assert found[str(BASE)].identity == means.files.identity(BASE)
    assert not any(str(tmp_path) in executable for executable in found)


def test_a_virtual_environment_gives_its_base(here, tmp_path):
    subprocess.run([BASE, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    discovery = discover(*here(tmp_path / "venv" / "bin"), tmp_path / "cache")
    assert str(BASE) in by_executable(discovery)
    assert not any(str(tmp_path) in executable for executable in by_executable(discovery))


def test_what_is_broken_is_told_and_stops_nothing(here, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "python3").write_text("#!/bin/sh\necho 'no such library' >&2\nexit 127\n")
    (broken / "python3").chmod(0o755)
    (broken / "python3.9").write_text("not a program")
    discovery = discover(*here(broken, link(tmp_path / "good", "python3", BASE)), tmp_path / "cache")
    reasons = {Path(one.executable).name: one.reason for one in discovery.rejected if str(broken) in one.executable}
    assert reasons["python3"] == "does not work (exit code 127): no such library"
    assert reasons["python3.9"].startswith("cannot be started: ")
    assert str(BASE) in by_executable(discovery)


def test_the_second_time_nothing_is_started(here, tmp_path):
    means, around = here(link(tmp_path / "one", "python3", BASE))
    first = discover(means, around, tmp_path / "cache")

    class Refusing:
        def run(self, request):
            assert str(PROBE) not in request.argv
            return means.process.run(request)

    assert discover(Means(Refusing(), means.files, means.executor), around, tmp_path / "cache") == first


def test_every_python_of_this_machine_answers_the_probe(tmp_path):
    """Old Pythons, where the machine has them, are the point of this test."""
    environment = dict(os.environ)
    means = Means(RealProcess(environment), RealFiles(tmp_path / "scratch"), Threads())
    around = Surroundings(system_of(sys.platform), environment, Path.home())
    discovery = discover(means, around, tmp_path / "cache")
    unexpected = [one for one in discovery.rejected if "too old" not in one.reason and one.source == "pyenv"]
    assert unexpected == []
    assert len({one.executable for one in discovery.interpreters}) == len(discovery.interpreters)
    assert not any("/shims/" in one.executable for one in discovery.interpreters)
    assert all(one.arch and one.version and one.build for one in discovery.interpreters)


def test_facts_of_this_machine_survive_their_json(tmp_path):
    environment = dict(os.environ)
    means = Means(RealProcess(environment), RealFiles(tmp_path / "scratch"), Threads())
    facts = gather(means, Surroundings(system_of(sys.platform), environment, tmp_path), tmp_path / "cache")
    assert facts.machine
    assert facts.cores >= 1
    assert facts.memory > 0
    assert HostFacts.model_validate_json(facts.model_dump_json(by_alias=True)) == facts
