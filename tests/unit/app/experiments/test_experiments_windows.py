"""Experiments find an environment's programs where the system has them: told by its facts, tried without it."""

from pathlib import Path

import pytest

from envmgr.app.experiments.commands import Bench, calls
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import Snapshot
from envmgr.model.finding import World
from envmgr.model.manifest import Step
from envmgr.ports import Completed

PYTHON = {"linux": "bin/python", "macos": "bin/python", "windows": "Scripts/python.exe"}


class Process:
    """Remembers the command that it is asked to run."""

    def run(self, request):
        self.argv = request.argv
        return Completed(request.argv, 0)


def bench(system, probe=("-c", "")):
    return Bench(Path("uv"), {}, {}, Path("/me"), Path("/me"), {}, probe, system=system)


@pytest.mark.parametrize(("system", "python"), PYTHON.items())
def test_every_installer_is_given_the_interpreter_of_the_system(system, python):
    steps = (
        Step(install=["demo"], installer="uv"),
        Step(install=["base"], uninstall=["demo"], installer="pip==19.3.1"),
    )
    world = World(python="3.11", steps=steps, build_requires={"demo": ("setuptools",)})
    wanted = str(Path("/room/venv") / python)
    commands = [call.argv for call in calls(world, bench(system), Path("/room"), Path("/py"))][1:]
    assert len(commands) == 5
    assert all(wanted in argv for argv in commands)


@pytest.mark.parametrize(
    ("system", "probe", "own"),
    [
        ("linux", ("python3", "-V"), "bin/python"),
        ("linux", ("pytest", "-q"), "bin/pytest"),
        ("windows", ("python", "-V"), "Scripts/python.exe"),
        ("windows", ("python.exe", "-V"), "Scripts/python.exe"),
        ("windows", ("pytest", "-q"), "Scripts/pytest.exe"),
        ("windows", ("pytest.exe", "-q"), "Scripts/pytest.exe"),
        ("windows", ("-c", "pass"), "Scripts/python.exe"),
    ],
)
def test_a_probe_runs_the_programs_of_the_environment(workplace, tmp_path, system, probe, own):
    venv, process = tmp_path / "venv", Process()
    program = venv / own
    program.parent.mkdir(parents=True)
    program.touch()
    (tmp_path / "snapshot").mkdir()
    snapshot = Snapshot(tmp_path / "snapshot", ())
    stand = bench(system, probe)
    laboratory = Laboratory(stand, process, workplace.files, workplace.clock, tmp_path / "room", snapshot)
    laboratory.observe_standing(World(python="3.11"), venv, stand.python_of(venv))
    assert process.argv[0] == str(program)
