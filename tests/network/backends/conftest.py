"""Real envs from the package index, built once a session by envmgr's own steps."""

import hashlib
import json
import os
import platform
import shlex
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.backends import invariants
from envmgr.env.build import build
from envmgr.env.content import BuildRequest, HistoryContent, Places, Switches, Tools
from envmgr.env.surroundings import CellPlace, CellWishes, cell_environment
from envmgr.model.env import DeviceListing
from envmgr.model.host import InstallerSettings, Interpreter
from envmgr.model.manifest import Step
from envmgr.model.platform import platform_of
from envmgr.ports import Listener, ProcessRequest
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

PLATFORM = platform_of(platform.system(), platform.machine())


def interpreter(minor):
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = sorted(root.glob(f"{minor}.*/bin/python{minor}"))
    if not found:
        pytest.skip(f"no Python {minor} below {root}")
    path = found[-1].resolve()
    return Interpreter(
        executable=str(path),
        version=path.parts[-3],
        arch=PLATFORM.arch,
        system=PLATFORM.system,
        base_prefix=str(path.parents[1]),
        identity=RealFiles(Path()).identity(path),
    )


class Workshop:
    """Builds envs by steps, and asks their backends in a cell's surroundings."""

    def __init__(self, folder):
        self.folder = folder
        self.files = RealFiles(folder / "scratch")
        self.process = RealProcess(dict(os.environ))
        self.built = {}

    def env(self, minor, *steps):
        """The env after these steps; a text is `uv pip install` of what it says."""
        history = tuple(
            Step(install=tuple(each.split()), installer="uv") if isinstance(each, str) else each for each in steps
        )
        key = hashlib.sha256(repr((minor, history)).encode()).hexdigest()[:16]
        if key not in self.built:
            self.built[key] = build(self._request(key, minor, history), self._tools(), invariants)
        return self.built[key]

    def _request(self, key, minor, history):
        folders = tuple(shlex.split(os.environ.get("PIP_FIND_LINKS", "")))
        uv_cache = Path(os.environ.get("UV_CACHE_DIR") or self.folder / "uv")
        return BuildRequest(
            manifest="workshop",
            variant="default",
            key=key,
            interpreter=interpreter(minor),
            content=HistoryContent(digest=key, steps=history),
            places=Places(
                envs=self.folder / "envs",
                uv_cache=uv_cache,
                pip_cache=self.folder / "pip",
                app_data=self.folder / "app",
            ),
            switches=Switches(
                uv=find_uv_bin(), settings=InstallerSettings(find_links=folders), caller=dict(os.environ)
            ),
        )

    def _tools(self):
        return Tools(self.process, self.files, RealClock(), Listener())

    def ask(self, env, probe, home, device=None, variables=None):
        """What a probe reports when it runs as a cell does, with `home` as its home."""
        place = CellPlace(env=Path(env.path), home=home, project=home, system=PLATFORM.system)
        environment = cell_environment(dict(os.environ), place, CellWishes(manifest=variables or {}))
        with self.files.scratch("ask") as scratch:
            request, report = scratch / "in.json", scratch / "out.json"
            self.files.write(request, json.dumps({"device": device}))
            argv = (env.python, "-I", str(probe), "--request", str(request), "--report", str(report))
            done = self.process.run(ProcessRequest(argv, cwd=scratch, env=environment, timeout=100))
            assert done.good, done.stderr
            return DeviceListing.model_validate_json(self.files.read(report))


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
