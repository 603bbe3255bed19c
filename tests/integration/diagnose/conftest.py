"""A user with a folder, a HOME and an index of tiny wheels, and the engine pointed at them."""

import base64
import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.app.diagnosing.diagnose import Question, diagnose
from envmgr.app.experiments.standpoint import Place
from envmgr.model.finding import World
from envmgr.ports import Listener
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess
from envmgr.system.web import RealWeb

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def _hash_of(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class User:
    """Who stands somewhere with something that fails."""

    def __init__(self, root):
        self.root = root
        self.home, self.folder, self.index = root / "home", root / "folder", root / "index" / "simple"
        for place in (self.home, self.folder, self.index):
            place.mkdir(parents=True)
        self.variables = {}

    def wheel(self, name, version, code, requires=(), extras=()):
        """Put a wheel of one module on the index."""
        module = name.replace("-", "_")
        info = f"{module}-{version}.dist-info"
        lines = [f"Requires-Dist: {line}" for line in requires] + [f"Provides-Extra: {line}" for line in extras]
        files = {
            f"{module}.py": code,
            f"{info}/METADATA": "\n".join(
                ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, ""]
            ),
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        folder = self.index / name
        folder.mkdir(exist_ok=True)
        with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
            rows = [f"{path},sha256={_hash_of(text)},{len(text.encode())}\n" for path, text in files.items()]
            archive.writestr(f"{info}/RECORD", "".join([*rows, f"{info}/RECORD,,\n"]))
        links = (f'<a href="{path.name}">{path.name}</a>' for path in sorted(folder.glob("*.whl")))
        (folder / "index.html").write_text("\n".join(links))

    def environment(self):
        base = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": str(self.home), "PIP_INDEX_URL": self.index.as_uri(), "UV_CACHE_DIR": str(self.root / "cache")}
        return base | own | self.variables

    def place(self):
        environment = self.environment()
        return Place(
            environment=environment,
            home=self.home,
            folder=self.folder,
            uv=Path(find_uv_bin()),
            interpreters={PYTHON: Path(sys.executable)},
            system="linux" if sys.platform.startswith("linux") else "macos",
            machine="x86_64",
            accelerators=(),
            process=RealProcess(environment),
            files=RealFiles(self.root / "scratch"),
            clock=RealClock(),
            web=RealWeb(environment),
            listener=Listener(),
        )

    def diagnose(self, requirements, probe, **more):
        world = World(python=PYTHON, requirements=tuple(requirements))
        command, source = (("-c", probe), probe) if isinstance(probe, str) else (probe, "")
        return diagnose(Question(world, command, source, budget=60.0, **more), self.place())

    def digest(self):
        """Everything in HOME and the folder, as names with digests."""
        paths = [path for top in (self.home, self.folder) for path in sorted(top.rglob("*")) if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)
