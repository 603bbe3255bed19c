"""A folder of tiny distributions made on the spot, an old interpreter of this machine, and real tools on real files."""

import base64
import hashlib
import io
import os
import platform
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.env.content import BuildRequest, LockedContent, Places, RequirementGroup, SourceBuilds, Switches, Tools
from envmgr.env.identity import env_key
from envmgr.model.host import InstallerSettings, Interpreter
from envmgr.model.platform import platform_of
from envmgr.ports import Listener
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

PLATFORM = platform_of(platform.system(), platform.machine())


class Wheelhouse:
    """Distributions without an index: each is one module that knows its version."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def wheel(self, name, version, *, requires=(), files=None, tag="py3-none-any"):
        contents = {f"{name}.py": f"version = {version!r}\n"} if files is None else dict(files)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {need}\n" for need in requires)
        info = f"{name}-{version}.dist-info"
        contents[f"{info}/METADATA"] = metadata
        contents[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"
        rows = [f"{path},sha256={_digest(text)},{len(text)}" for path, text in contents.items()]
        contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
        path = self.folder / f"{name}-{version}-{tag}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for place, text in contents.items():
                archive.writestr(place, text)
        return pinned(name, version, path)

    def source(self, name, version, *, build="", requires=()):
        """A source distribution that builds itself; `build` is run when its wheel is made."""
        base = f"{name}-{version}"
        files = {
            "pyproject.toml": f'[build-system]\nrequires = {list(requires)!r}\nbuild-backend = "backend"\nbackend-path = ["."]\n',
            "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            "backend.py": _BACKEND.format(name=name, version=version, build=build or "pass"),
        }
        path = self.folder / f"{base}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for place, text in files.items():
                entry = tarfile.TarInfo(f"{base}/{place}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        return pinned(name, version, path)


_BACKEND = """
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    {build}
    name = "{name}-{version}-py3-none-any.whl"
    info = "{name}-{version}.dist-info/"
    with zipfile.ZipFile(folder + "/" + name, "w") as archive:
        archive.writestr("{name}.py", "built = True\\n")
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(info + "RECORD", "{name}.py,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n")
    return name
def build_sdist(folder, config_settings=None):
    raise NotImplementedError
"""


def _digest(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def pinned(name, version, path):
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


class CountingProcess:
    """The real thing, and a list of what was run."""

    def __init__(self):
        self.real = RealProcess(dict(os.environ))
        self.requests = []

    def run(self, request):
        self.requests.append(request)
        return self.real.run(request)


@pytest.fixture
def wheelhouse(tmp_path):
    return Wheelhouse(tmp_path / "wheels")


@pytest.fixture
def tools(tmp_path):
    return Tools(CountingProcess(), RealFiles(tmp_path / "scratch"), RealClock(), Listener())


def found_interpreters():
    """The Python that runs the tests, and the oldest that pyenv has, if any."""
    own = Path(sys.executable).resolve()
    found = [interpreter(own, platform.python_version(), sys.base_prefix)]
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    old = sorted(root.glob("3.[678].*/bin/python3.[678]")) if root.is_dir() else []
    return found + [interpreter(path.resolve(), path.parts[-3], str(path.parents[1])) for path in old[:1]]


def interpreter(path, version, base_prefix):
    return Interpreter(
        executable=str(path),
        version=version,
        arch=PLATFORM.arch,
        system=PLATFORM.system,
        base_prefix=base_prefix,
        identity=RealFiles(Path()).identity(path),
    )


@pytest.fixture(params=found_interpreters(), ids=lambda each: each.version)
def each_interpreter(request):
    return request.param


@pytest.fixture
def own_interpreter():
    return found_interpreters()[0]


@pytest.fixture
def ask(tmp_path, wheelhouse, own_interpreter):
    """Make a build request for requirement lines served by the wheelhouse alone."""

    def make(*lines, python=None, sources=None, caller=None, **switches):
        text = "".join(lines)
        digest = hashlib.sha256(text.encode()).hexdigest()
        content = LockedContent(
            digest=digest,
            groups=(RequirementGroup(text=text, name="the wheel folder"),),
            sources=sources or SourceBuilds(),
        )
        base = python or own_interpreter
        cache = tmp_path / "cache"
        return BuildRequest(
            manifest="tiny",
            variant="default",
            key=env_key(digest, base, PLATFORM),
            interpreter=base,
            content=content,
            places=Places(
                envs=tmp_path / "envs", uv_cache=cache / "uv", pip_cache=cache / "pip", app_data=cache / "app"
            ),
            switches=Switches(
                uv=find_uv_bin(),
                settings=InstallerSettings(no_index=True, find_links=(str(wheelhouse.folder),)),
                caller=dict(os.environ) if caller is None else caller,
                **switches,
            ),
        )

    return make
