"""envmgr as a library, as its documentation shows it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import envmgr
from envmgr import api

pytestmark = pytest.mark.integration

PROGRAM = """
from envmgr import EnvmgrError, build, compare, judge, load, measure, plan, verify

env = build("one")
print(env.resolved["demo"], verify("one").passed, len(plan().cells))
run = measure()
print([cell.outcome for cell in judge(run)], load().record.id == run.record.id)
again = measure(effort="quick")
print([pair.verdict.value for pair in compare(run.record.id, again.record.id).pairs])
try:
    build("nowhere")
except EnvmgrError as error:
    print(error.what)
"""


def test_a_program_builds_measures_and_compares(project):
    project.matrix(manifests=["one"])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=project.root, env=project.environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "1.0 True 1"
    assert "passed" in lines[1]
    assert lines[1].endswith("True")
    assert lines[2].startswith("[")
    assert lines[3] == "there is no manifest 'nowhere'"


def test_the_package_offers_what_the_module_has_and_its_types():
    stub = ast.parse(Path(envmgr.__file__).with_suffix(".pyi").read_text())
    typed = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(envmgr.__all__) == set(api.__all__) == typed
    assert all(getattr(envmgr, name) is getattr(api, name) for name in envmgr.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = envmgr.nothing


def test_importing_the_package_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import envmgr; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "['__future__', 'envmgr']"
