"""A small world for whole runs: tiny wheels in an index on disk, a project, and envmgr as its users start it."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

THIS_PYTHON = ".".join(str(part) for part in sys.version_info[:2])
TESTERS_OWN = ("PIP_", "UV_", "PYTHON", "ENVMGR_", "KERAS_", "PLAIDML_")
"""How variables begin that decide what envmgr does; the last three also where a fixture is made before a test's own."""

RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
#
# [tool.envmgr.parameters]
# answer = 42
# behaviour = "good"
# ///
import json, os, sys, time

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
report = sys.argv[sys.argv.index("--report") + 1]
parameters = request["parameters"]
if parameters.get("behaviour") == "crash":
    os.abort()
if parameters.get("behaviour") == "slow":
    time.sleep(30)
import demo
answer = demo.ANSWER
json.dump({
    "protocol": 1, "cell": request["cell"], "status": "ok", "first_call": 0.1, "samples": [0.1, 0.2],
    "versions": {"demo": demo.__version__}, "outputs": {"answer": {"shape": [1], "values": [answer]}},
    "checks": [{"name": "answer", "passed": answer == parameters["answer"], "wanted": parameters["answer"], "found": answer}],
    "notes": [os.environ.get("HOME", ""), os.environ.get("SECRET", "no secret")],
}, open(report, "w"))
"""


class Index:
    """A package index in a folder (PEP 503), filled with wheels made on the spot."""

    def __init__(self, folder):
        self.folder = folder
        self.url = folder.as_uri()

    def add(self, name, version, files, requires=()):
        """Put one pure wheel into the index and return its file."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        stem = f"{name.replace('-', '_')}-{version}"
        info = f"{stem}.dist-info"
        metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        metadata += [f"Requires-Dist: {each}" for each in requires]
        content = {
            **files,
            f"{info}/METADATA": "\n".join(metadata) + "\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        rows = []
        for path, text in content.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(text.encode())}")
        content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
        wheel = place / f"{stem}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in content.items():
                archive.writestr(path, text)
        self._write_page(place)
        return wheel

    @staticmethod
    def _write_page(place):
        links = []
        for wheel in sorted(place.glob("*.whl")):
            digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
            links.append(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')
        (place / "index.html").write_text("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>")


class Project:
    """A user's project, and envmgr run in it as a user would."""

    def __init__(self, root, index):
        self.root = root
        self.index = index
        self.home = root.parent / "home"
        self.home.mkdir()
        (root / "manifests" / "matrices").mkdir(parents=True)
        (root / "runners").mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(TESTERS_OWN)}
        self.environment |= {
            "HOME": str(self.home),
            "ENVMGR_CACHE_DIR": str(root.parent / "cache"),
            "UV_DEFAULT_INDEX": index.url,
            "UV_CACHE_DIR": str(root.parent / "uv-cache"),
            "PIP_CONFIG_FILE": os.devnull,
            "NO_COLOR": "1",
            "COLUMNS": "120",
        }
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
            self.environment.pop(name, None)

    def write(self, path, text):
        """Write one file of the project."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def manifest(self, name, **keys):
        """Write a manifest; what is not given is sensible."""
        keys = {"python": f"=={THIS_PYTHON}.*", "requirements": ["demo==1.0"], "runners": ["answer"], **keys}
        tables = keys.pop("tables", "")
        lines = ["schema = 1", f'name = "{name}"']
        lines += [f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in keys.items()]
        return self.write(f"manifests/{name}.toml", "\n".join(lines) + "\n" + tables)

    def matrix(self, name="quick", **keys):
        """Write a matrix of the runner `answer`."""
        entries = keys.pop("entries", [{}])
        lines = ["schema = 1", f'name = "{name}"', f"manifests = {json.dumps(keys.pop('manifests'))}"]
        lines += ['effort = "quick"'] if "effort" not in keys else []
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        for parameters in entries:
            inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
            lines += ["[[entry]]", 'runner = "answer"', f"parameters = {{ {inline} }}"]
        return self.write(f"manifests/matrices/{name}.toml", "\n".join(lines) + "\n")

    def start(self, *arguments, **environment):
        """Start envmgr and return the running process."""
        return subprocess.Popen(
            [sys.executable, "-m", "envmgr", *arguments],
            cwd=self.root,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments, **environment):
        """Run envmgr to its end; its output must never hold a traceback."""
        with self.start(*arguments, **environment) as process:
            stdout, stderr = process.communicate(timeout=90)
        assert "Traceback" not in stderr, stderr
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def json(self, *arguments, **environment):
        """Run envmgr with --json and return exit code and envelope."""
        done = self.run(*arguments, "--json", **environment)
        return done.returncode, json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))

    def built(self, name):
        """Build what has this name and return the folder of its environment."""
        code, answer = self.json("build", name)
        assert code == 0, answer
        return Path(answer["data"]["builds"][0]["path"])


def filled_index(folder):
    """An index of two versions of `demo` and what they need."""
    made = Index(folder)
    for version in ("1.0", "2.0"):
        answer = 42 if version == "1.0" else 43
        made.add("demo", version, {"demo.py": f"__version__ = {version!r}\nANSWER = {answer}\n"}, ["base>=1"])
    made.add("base", "1.5", {"base.py": "BASE = 1\n"})
    return made


def small_project(root, index):
    """A project of one manifest and one runner."""
    root.mkdir()
    made = Project(root, index)
    made.write("runners/answer.py", RUNNER)
    made.manifest("one")
    return made


@pytest.fixture(scope="session")
def acquainted(tmp_path_factory):
    """A cache from which all is taken but what it knows of this machine's Pythons, asked in one build from nothing.

    Each test would ask them all again, which takes a third of its first build and finds the same.
    """
    folder = tmp_path_factory.mktemp("acquainted")
    made = small_project(folder / "project", filled_index(folder / "index"))
    done = made.run("build", "one")
    assert done.returncode == 0, done.stderr
    cache = Path(made.environment["ENVMGR_CACHE_DIR"])
    for place in cache.iterdir():
        if place.name in {"interpreters.json", "virtualenv"}:
            continue
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
    return cache


@pytest.fixture
def index(tmp_path):
    return filled_index(tmp_path / "index")


def acquainted_project(folder, index, acquainted):
    """A small project whose cache knows this machine's Pythons."""
    made = small_project(folder / "project", index)
    shutil.copytree(acquainted, made.environment["ENVMGR_CACHE_DIR"], symlinks=True)
    return made


@pytest.fixture
def project(tmp_path, index, acquainted):
    return acquainted_project(tmp_path, index, acquainted)


@pytest.fixture(scope="module")
def standing(tmp_path_factory, acquainted):
    """A project of which `one` is built, for all tests of a module that change nothing in it."""
    folder = tmp_path_factory.mktemp("standing")
    made = acquainted_project(folder, filled_index(folder / "index"), acquainted)
    done = made.run("build", "one")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def repository():
    """The checkout under test."""
    return Path(__file__).resolve().parents[2]
