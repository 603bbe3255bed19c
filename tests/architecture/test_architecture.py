"""The laws of the architecture, as tests that fail."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "envmgr"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "shipped" not in path.parts)
FORBIDDEN_NAMES = {"utils", "util", "helpers", "common", "misc"}


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.integration
def test_imports_go_one_way_and_effects_have_one_door():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint, "importlinter.ini", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_module_is_small(path):
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_functions_are_short_with_few_parameters(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1].lineno if ast.get_docstring(node) and len(node.body) > 1 else node.body[0].lineno
            length = (node.end_lineno or first) - first + 1
            assert length <= 50, f"{node.name} has {length} lines"
            arguments = node.args
            count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
            if "cli" not in path.parts:  # a command has as many parameters as it has options
                assert count <= 7, f"{node.name} has {count} parameters"


def test_no_module_is_a_grab_bag():
    assert [named(path) for path in MODULES if path.stem in FORBIDDEN_NAMES] == []


def test_no_import_hides_from_the_linter():
    guarded = [named(path) for path in MODULES if "if TYPE_CHECKING" in path.read_text()]
    assert guarded == []


WITHOUT_UNIX = """
import importlib, pkgutil, sys
import psutil, filelock  # have their own ways on each system
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
import envmgr
for found in pkgutil.walk_packages(envmgr.__path__, "envmgr."):
    if ".probes." not in found.name and not found.name.startswith("envmgr.fleet.") and found.name != "envmgr.__main__":
        importlib.import_module(found.name)
"""


@pytest.mark.integration
def test_nothing_that_is_imported_is_of_unix_alone():
    done = subprocess.run([sys.executable, "-c", WITHOUT_UNIX], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
