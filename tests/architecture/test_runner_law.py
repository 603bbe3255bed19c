"""The law of the runners: one file each, for the standard library of Python 3.6, started by any interpreter."""

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

RUNNERS = sorted((Path(__file__).resolve().parents[2] / "runners").glob("*.py"))
HEAD = re.compile(r"^# /// script\n(.*?)^# ///$", re.MULTILINE | re.DOTALL)
SHARED = re.compile(r"^# \[shared: (\w+)\].*?^# \[end of shared: \1\]$", re.MULTILINE | re.DOTALL)
BACKENDS = {"plaidml", "tensorflow", "jax", "torch"}

each_runner = pytest.mark.parametrize("path", RUNNERS, ids=lambda path: path.stem)


def head_of(path):
    block = HEAD.search(path.read_text()).group(1)
    return tomllib.loads("".join(line.removeprefix("# ").removeprefix("#") for line in block.splitlines(keepends=True)))


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gate_of(path):
    """The place of the version gate among the statements of the module, and all statements."""
    body = ast.parse(path.read_text()).body
    return next(place for place, node in enumerate(body) if isinstance(node, ast.If)), body


def test_all_runners_are_here():
    assert {path.stem for path in RUNNERS} >= {
        "keras_inference",
        "keras_training",
        "torch_mnist",
        "device_smoke",
        "import_probe",
    }


@pytest.mark.integration
def test_nothing_is_younger_than_python_36():
    vermin = Path(sys.executable).with_name("vermin")
    command = [vermin, "--target=3.6-", "--violations", "--no-tips", *RUNNERS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@each_runner
def test_only_sys_is_imported_above_the_gate(path):
    place, body = gate_of(path)
    imported = [name.name for node in body[:place] if isinstance(node, ast.Import) for name in node.names]
    assert imported == ["sys"]
    assert not [node for node in body[:place] if not isinstance(node, ast.Import | ast.Expr)]


@each_runner
def test_the_gate_is_reached_by_any_python_3(path):
    """An older parser stumbles over f-strings and annotated assignments, and never comes to the gate."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    assert not [node.lineno for node in nodes if isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.NamedExpr)]
    ast.parse(path.read_text(), feature_version=(3, 5))


@pytest.mark.integration
@each_runner
def test_an_older_python_is_told_so(path):
    pretend = "import sys; sys.version_info = (3, 5, 9); exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'))"
    done = subprocess.run([sys.executable, "-I", "-c", pretend, path], capture_output=True, text=True, check=False)
    assert done.returncode == 86
    assert done.stderr == "envmgr-runner: too old a Python: wanted 3.6 or newer, found 3.5\n"


@each_runner
def test_a_runner_imports_the_standard_library_alone(path):
    """What is under test is imported in a phase, by name: so a runner starts, and reports, without it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module in sys.stdlib_module_names
        if isinstance(node, ast.Import):
            assert {name.name.partition(".")[0] for name in node.names} <= sys.stdlib_module_names


def test_shared_text_is_the_same_everywhere():
    texts = {}
    for path in RUNNERS:
        for match in SHARED.finditer(path.read_text()):
            texts.setdefault(match.group(1), {}).setdefault(match.group(0), []).append(path.stem)
    assert set(texts) >= {"prologue", "devices", "keras"}
    assert {name: sorted(copies.values()) for name, copies in texts.items() if len(copies) > 1} == {}
    assert sum(len(stems) for stems in texts["prologue"].values()) == len(RUNNERS)


@each_runner
def test_marks_of_shared_text_come_in_pairs(path):
    text = path.read_text()
    assert text.count("# [shared: ") == text.count("# [end of shared: ") == len(SHARED.findall(text))


@each_runner
def test_own_text_is_small(path):
    own = SHARED.sub("", path.read_text())
    assert len(own.splitlines()) <= 300
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 50, node.name
            assert len(node.args.args) <= 6, node.name


@each_runner
def test_the_head_says_what_envmgr_needs(path):
    head = head_of(path)
    assert head["requires-python"] == ">=3.6"
    assert all(isinstance(dependency, str) for dependency in head["dependencies"])
    settings = head["tool"]["envmgr"]
    assert set(settings) == {"backends", "needs-device", "neutral", "parameters", "metrics"}
    assert set(settings["backends"]) <= BACKENDS
    assert settings["needs-device"] == bool(settings["backends"])
    assert set(settings["neutral"]) <= set(settings["parameters"])
    assert all(unit and isinstance(unit, str) for unit in settings["metrics"].values())


@each_runner
def test_head_and_code_agree_on_the_parameters(path):
    defaults = {name: default for name, (default, _) in module_of(path).PARAMETERS.items()}
    declared = head_of(path)["tool"]["envmgr"]["parameters"]
    assert declared == defaults
    assert list(map(type, declared.values())) == list(map(type, defaults.values()))


@each_runner
def test_head_and_code_agree_on_the_metrics(path):
    named = set(re.findall(r'report\["metrics"\]\["(\w+)"\]', path.read_text()))
    assert set(head_of(path)["tool"]["envmgr"]["metrics"]) == named
