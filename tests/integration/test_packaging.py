"""The wheel carries runners and manifests, and a runner runs from it."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("envmgr-*.whl"))


def test_the_wheel_holds_what_the_checkout_ships(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("runners", "manifests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".txt", ".json"}:
                assert f"envmgr/shipped/{path.relative_to(ROOT)}" in names
    assert {"envmgr/py.typed", "envmgr/__init__.pyi"} <= names


def test_a_runner_of_an_installed_wheel_runs(wheel, tmp_path):
    place = tmp_path / "elsewhere"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", place, wheel],
        check=True,
    )
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r})\n"
        "import envmgr; from envmgr.app.project import shipped_folder\n"
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
