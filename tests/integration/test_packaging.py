"""What a release is made of: a sdist that builds, and a wheel that carries runners and manifests and works."""

import email
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.integration
ROOT = Path(__file__).resolve().parents[2]


SHIPPED = frozenset(
    {".py", ".pyi", ".typed", ".md", ".toml", ".txt", ".json", ".css", ".html", ".js", ".yml", ".svg", ".png"}
)
EXE = ".exe" if sys.platform == "win32" else ""
FOLDERS = ("envmgr", "runners", "manifests", "tests", "docs", "benchmarks", "examples", "changes")


def installed_folders():
    """Return where an environment has its programs and its libraries."""
    if sys.platform == "win32":
        return Path("Scripts"), Path("Lib/site-packages")
    return Path("bin"), Path("lib") / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def files_of(folder):
    """Yield what a folder of the checkout holds, as it is named from the checkout, without what running leaves there."""
    for path in (ROOT / folder).rglob("*"):
        hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(ROOT).parts)
        if path.suffix in SHIPPED and path.is_file() and not hidden:
            yield path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the sdist, and the wheel that is built out of it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("envmgr-*.tar.gz")), next(folder.glob("envmgr-*.whl"))


@pytest.fixture
def wheel(built):
    return built[1]


def test_the_sdist_holds_what_builds_tests_and_documents_it(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for folder in FOLDERS for name in files_of(folder)}
    wanted |= {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "importlinter.ini", "mkdocs.yml", "PKG-INFO"}
    assert sorted(wanted - names) == []
    assert [name for name in names if "__pycache__" in name or name.startswith((".envmgr", "build/"))] == []


def test_the_wheel_holds_the_package_and_what_the_checkout_ships(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        *files_of("envmgr"),
        *(f"envmgr/shipped/{name}" for each in ("runners", "manifests") for name in files_of(each)),
    }
    assert sorted(wanted - names) == []
    assert {"envmgr/py.typed", "envmgr/__init__.pyi"} <= wanted
    assert [name for name in names if not name.startswith(("envmgr/", "envmgr-"))] == []


def test_the_wheel_says_what_it_is(wheel):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        said = email.message_from_string(archive.read(info).decode())
        points = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
    assert (said["Name"], said["Version"]) == ("envmgr", project["version"])
    assert SpecifierSet(said["Requires-Python"]) == SpecifierSet(project["requires-python"])
    assert said["License-Expression"] == project["license"]
    assert said.get_payload().lstrip() == (ROOT / "README.md").read_text()
    asked = {
        canonicalize_name(Requirement(text).name) for text in said.get_all("Requires-Dist") if "extra ==" not in text
    }
    assert asked == {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    assert "envmgr = " in points


def test_an_installed_wheel_works_in_an_environment_of_its_own(wheel, tmp_path):
    """Its dependencies are those that the tests have: nothing is fetched."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    scripts, library = (tmp_path / "venv" / part for part in installed_folders())
    command = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python", scripts / f"python{EXE}", wheel]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, check=True, env={**os.environ, "PATH": programs})
    (library / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"HOME": str(tmp_path), "ENVMGR_CACHE_DIR": str(tmp_path / "cache"), "UV_OFFLINE": "1"}

    def envmgr(*words):
        done = subprocess.run(
            [scripts / f"envmgr{EXE}", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert envmgr("--version") == f"envmgr {project['version']}\n"
    assert json.loads(envmgr("schema"))["title"] == "A version set of envmgr"
    assert {each["name"] for each in json.loads(envmgr("list", "--json"))["data"]["manifests"]} >= {"plaidml-0.7.0"}
    shown = envmgr("show", "plaidml-0.7.0", "--json")
    assert Path(json.loads(shown)["data"]["path"]).resolve().is_relative_to((tmp_path / "venv").resolve())
    envmgr("init")
    assert "example" in envmgr("list")


def test_a_runner_of_an_installed_wheel_runs(wheel, tmp_path):
    place = tmp_path / "elsewhere"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", place, wheel],
        check=True,
    )
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r})\n"
        "import envmgr; from envmgr.app.whereabouts import shipped_folder\n"
        "print(envmgr.__file__); print(shipped_folder())"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    package, shipped = done.stdout.splitlines()
    assert Path(package).is_relative_to(place)
    assert Path(shipped).is_relative_to(place)

    request, report = tmp_path / "in.json", tmp_path / "out.json"
    request.write_text(
        json.dumps({"protocol": 1, "cell": "x", "device": None, "parameters": {"modules": ["json", "decimal"]}})
    )
    runner = Path(shipped) / "runners" / "import_probe.py"
    subprocess.run([sys.executable, "-I", runner, "--request", request, "--report", report], check=True, cwd=tmp_path)
    said = json.loads(report.read_text())
    assert said["status"] == "ok"
    assert set(said["modules"]) == {"json", "decimal"}
