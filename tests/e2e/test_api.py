"""envmgr as a library, as its documentation shows it."""

import ast
import importlib.metadata
import inspect
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import envmgr
from envmgr import api

pytestmark = pytest.mark.integration

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "library.md"
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


def test_the_examples_of_the_documentation_run_as_they_stand(project):
    project.index.add("keras", "3.0", {"keras.py": ""}, ["demo==1.0"])
    project.manifest("keras-jax", requirements=["keras==3.0"])
    project.manifest("plaidml-0.7.0", requirements=["keras", "demo<2"])
    project.matrix(manifests=["keras-jax", "plaidml-0.7.0"])
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    program = "\n".join(f"{block}\nprint('---')" for block in blocks)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.root, env=project.environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    built, measured, compared, heard, refused, here, _ = done.stdout.split("---\n")
    assert built.splitlines()[0].endswith(" 3.0")
    assert "wanted" not in built
    assert "will measure keras-jax/answer" in measured
    assert "plaidml-0.7.0/answer" in measured.splitlines()[-1]
    assert "passed" in measured
    assert compared.startswith("keras-jax/answer")
    assert "measuring keras-jax/answer" in heard
    assert "'keras-jaxx'" in refused
    assert "did you mean 'keras-jax'?" in refused
    assert here.split()[0] in {"linux", "macos", "windows"}


def test_every_name_of_the_library_is_in_its_page():
    text = PAGE.read_text()
    assert [name for name in envmgr.__all__ if not re.search(rf"\b{name}\b", text)] == []


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


def test_all_that_is_taken_told_and_returned_can_be_named_without_another_module():
    functions = [getattr(envmgr, name) for name in envmgr.__all__ if inspect.isfunction(getattr(envmgr, name))]
    functions += [method for method in vars(envmgr.Listener).values() if inspect.isfunction(method)]
    kinds = {
        kind for function in functions for hint in typing.get_type_hints(function).values() for kind in parts(hint)
    }
    own = {kind.__name__ for kind in kinds if kind.__module__.startswith("envmgr.")}
    assert {"Cell", "Event", "Run", "Env"} <= own <= set(envmgr.__all__)


def parts(hint):
    """Yield the classes of which an annotation is made."""
    inner = typing.get_args(hint)
    if isinstance(hint, type) and not inner:
        yield hint
    for each in inner:
        yield from parts(each)


def test_the_package_tells_its_version():
    assert envmgr.__version__ == importlib.metadata.version("envmgr")
