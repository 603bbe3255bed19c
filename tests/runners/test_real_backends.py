"""The runners on real packages: PlaidML, Keras on JAX and PyTorch, built from the package index by uv."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envmgr.model.cell import Cell
from envmgr.model.result import Report
from envmgr.stats.parity import compare

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]

RUNNERS = Path(__file__).resolve().parents[2] / "runners"
TOLERANCE = 1e-4  # of a row's root mean square; between the noise of floats (1e-6) and 1 % on one layer (5e-3)
PLAIDML = {"PLAIDML_DEVICE_IDS": "llvm_cpu.0", "PLAIDML_EXPERIMENTAL": "1", "KERAS_BACKEND": "plaidml.keras.backend"}
LAYERS_OF_TINY = 7
REFERENCE = Cell(id="reference", manifest="m", variant="default", runner="r")


def build(folder, python, *requirements):
    """An environment with the requirements; its interpreter."""
    subprocess.run(["uv", "venv", "--quiet", "--no-python-downloads", "--python", python, folder], check=True)
    interpreter = next(path for path in (folder / "bin" / "python", folder / "Scripts" / "python.exe") if path.exists())
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", interpreter, *requirements], check=True)
    return interpreter


def found_python(*versions):
    """An interpreter of the first version that pyenv or uv has."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in versions:
        for folder in sorted(pyenv.glob(f"{version}.*")):
            return folder / "bin" / "python"
        command = ["uv", "python", "find", "--no-python-downloads", version]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.strip()
    return pytest.skip(f"none of the Pythons {', '.join(versions)} is on this machine")


@pytest.fixture(scope="module")
def plaidml_070(tmp_path_factory):
    python = found_python("3.8", "3.7", "3.9")
    return build(tmp_path_factory.mktemp("env") / "plaidml", python, "plaidml==0.7.0", "plaidml-keras==0.7.0")


@pytest.fixture(scope="module")
def plaidml_064(tmp_path_factory):
    python = found_python("3.8", "3.7", "3.9")
    return build(tmp_path_factory.mktemp("env") / "plaidml", python, "plaidml==0.6.4", "plaidml-keras==0.6.4")


@pytest.fixture(scope="module")
def keras_jax(tmp_path_factory):
    return build(tmp_path_factory.mktemp("env") / "jax", sys.executable, "keras>=3", "jax")


@pytest.fixture(scope="module")
def torch_cpu(tmp_path_factory):
    folder = Path(os.environ.get("PIP_FIND_LINKS") or "no such folder")
    tag = f"-cp{sys.version_info[0]}{sys.version_info[1]}-"
    wheels = [path for path in folder.glob("torch-*cpu*.whl") if tag in path.name]
    if not wheels:
        pytest.skip("PIP_FIND_LINKS names no folder with a CPU wheel of torch for this Python")
    return build(tmp_path_factory.mktemp("env") / "torch", sys.executable, wheels[-1], "keras>=3")


@pytest.fixture
def measure(tmp_path):
    """Run a runner in an environment as envmgr does; its report."""

    def run(interpreter, runner, parameters, device=None, **variables):
        request = {"protocol": 1, "cell": "cell", "device": device, "parameters": parameters}
        (tmp_path / "in.json").write_text(json.dumps(request))
        command = [interpreter, "-I", RUNNERS / f"{runner}.py", "--request", "in.json", "--report", "out.json"]
        environment = {**os.environ, "HOME": str(tmp_path), **variables}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        report = Report.model_validate(json.loads((tmp_path / "out.json").read_text(), parse_constant=pytest.fail))
        (tmp_path / "out.json").unlink()
        return report

    return run


def rows_of(output):
    width = output.shape[-1]
    return [output.values[start : start + width] for start in range(0, len(output.values), width)]


def distance(found, wanted):
    """The largest distance of two rows, in units of the wanted row's root mean square."""
    rows = []
    for one, other in zip(rows_of(found), rows_of(wanted), strict=True):
        apart = math.hypot(*(a - b for a, b in zip(one, other, strict=True))) / math.hypot(*other)
        rows.append(apart if math.isfinite(apart) else math.inf)
    return max(rows)


FEW = {"batches": 3, "warmup": 1}


def test_plaidml_070_and_jax_agree(measure, plaidml_070, keras_jax):
    jax = measure(keras_jax, "keras_inference", FEW, "cpu:0", KERAS_BACKEND="jax")
    plaidml = measure(plaidml_070, "keras_inference", FEW, "llvm_cpu.0", **PLAIDML)
    assert (jax.status, jax.backend, jax.device, jax.versions["keras"][:2]) == ("ok", "jax", "cpu:0", "3.")
    assert (plaidml.status, plaidml.backend, plaidml.device) == ("ok", "plaidml", "llvm_cpu.0")
    assert (plaidml.versions["plaidml"], plaidml.versions["keras"]) == ("0.7.0", "2.2.4")
    assert set(jax.outputs) == {"logits", "probabilities", "loss"}
    assert {name: distance(plaidml.outputs[name], jax.outputs[name]) < TOLERANCE for name in jax.outputs} == {
        "logits": True,
        "probabilities": True,
        "loss": True,
    }


def test_what_plaidml_064_says_of_a_batch_is_wrong_in_the_softmax_alone(measure, plaidml_064, plaidml_070):
    wanted = measure(plaidml_070, "keras_inference", FEW, **PLAIDML).outputs
    found = measure(plaidml_064, "keras_inference", FEW, **PLAIDML).outputs
    assert distance(found["logits"], wanted["logits"]) < TOLERANCE
    assert distance(found["probabilities"], wanted["probabilities"]) > 100 * TOLERANCE


@pytest.mark.parametrize("layer", range(LAYERS_OF_TINY))
def test_one_percent_on_one_layer_is_far_beyond_the_noise(measure, keras_jax, layer):
    wanted = measure(keras_jax, "keras_inference", FEW, KERAS_BACKEND="jax").outputs
    found = measure(keras_jax, "keras_inference", {**FEW, "perturb-layer": layer}, KERAS_BACKEND="jax").outputs
    assert all(distance(found[name], wanted[name]) > 20 * TOLERANCE for name in ("logits", "probabilities"))


def test_outputs_are_spread_and_rows_differ(measure, keras_jax):
    outputs = measure(keras_jax, "keras_inference", FEW, KERAS_BACKEND="jax").outputs
    assert all(max(row) > 20 * min(row) for row in rows_of(outputs["probabilities"]))
    first, *others = rows_of(outputs["logits"])
    assert all(max(abs(a - b) for a, b in zip(first, row, strict=True)) > 0.1 for row in others)


def test_the_cumulative_seconds_are_those_of_the_batches(measure, keras_jax):
    report = measure(keras_jax, "keras_inference", {"batches": 4, "warmup": 2}, KERAS_BACKEND="jax")
    cumulative = report.metrics["cumulative_seconds"]
    assert (len(report.samples), len(cumulative)) == (4, 4)
    assert 3 <= len(report.warmup) <= 20
    assert sorted(cumulative) == list(cumulative)
    assert cumulative[-1] >= math.fsum(report.samples)
    assert report.items_per_sample == 8


SHORT = {"steps": 2, "warmup": 1, "batch-size": 4, "batch-sizes": "1,4"}


def test_training_agrees_across_backends_and_keras_versions(measure, plaidml_070, plaidml_064, keras_jax):
    wanted = measure(keras_jax, "keras_training", SHORT, KERAS_BACKEND="jax").outputs
    assert len(wanted) == 2 * (6 + 1)  # for each batch size: what changed in three kernels and biases, and the losses
    for interpreter in (plaidml_070, plaidml_064):
        found = measure(interpreter, "keras_training", SHORT, **PLAIDML).outputs
        assert compare(found, wanted, REFERENCE, TOLERANCE).verdict == "agrees"


@pytest.mark.parametrize("layer", range(3))
def test_one_percent_on_one_layer_shows_in_training(measure, keras_jax, layer):
    wanted = measure(keras_jax, "keras_training", SHORT, KERAS_BACKEND="jax").outputs
    found = measure(keras_jax, "keras_training", {**SHORT, "perturb-layer": layer}, KERAS_BACKEND="jax").outputs
    assert compare(found, wanted, REFERENCE, TOLERANCE).max_rel > 20 * TOLERANCE


def test_another_backend_than_asked_for_is_told(measure, keras_jax):
    report = measure(keras_jax, "keras_inference", {"backend": "tensorflow"}, KERAS_BACKEND="jax")
    assert (report.status, report.error.phase, report.backend) == ("failed", "backend", "jax")
    assert "wanted tensorflow, found jax" in report.error.message


def test_a_device_that_plaidml_does_not_offer_is_told(measure, plaidml_070):
    for runner in ("keras_inference", "device_smoke"):
        report = measure(plaidml_070, runner, {}, **{**PLAIDML, "PLAIDML_DEVICE_IDS": "metal_nothing.0"})
        assert (report.status, report.error.phase) == ("failed", "backend")
        assert "wanted metal_nothing.0, found " in report.error.message


def test_a_request_that_names_another_device_than_the_variables_is_told(measure, plaidml_070):
    report = measure(plaidml_070, "device_smoke", {}, "opencl_cpu.0", **PLAIDML)
    assert (report.error.phase, report.device) == ("backend", "llvm_cpu.0")


def test_without_any_setting_plaidml_opens_what_it_lists_first(measure, plaidml_064):
    report = measure(plaidml_064, "keras_inference", FEW)
    assert (report.status, report.backend, report.device) == ("ok", "plaidml", "llvm_cpu.0")


@pytest.mark.parametrize("environment", ["plaidml_064", "plaidml_070", "keras_jax", "torch_cpu"])
def test_the_device_is_real(request, measure, environment):
    variables = PLAIDML if environment.startswith("plaidml") else {}
    report = measure(request.getfixturevalue(environment), "device_smoke", {"size": 64, "repeats": 2}, **variables)
    assert report.status == "ok"
    assert [check.passed for check in report.checks] == [True]
    assert report.metrics["gflops"] > 0
    assert len(report.samples) == 2


def test_torch_learns_the_synthetic_digits(measure, torch_cpu):
    report = measure(torch_cpu, "torch_mnist", {}, "cpu")
    assert (report.status, report.device) == ("ok", "cpu")
    assert report.metrics["accuracy"] > 0.95
    assert report.metrics["loss_curve"][0] > 2 > report.metrics["loss_curve"][-1]
    assert report.notes[-1] == "data: synthetic seven-segment digits"


@pytest.mark.parametrize("layer", range(4))
def test_one_percent_shows_in_logits_and_losses_of_torch(measure, torch_cpu, layer):
    few = {"batches": 1, "data": "synthetic"}
    wanted = measure(torch_cpu, "torch_mnist", few).outputs
    found = measure(torch_cpu, "torch_mnist", {**few, "perturb-layer": layer}).outputs
    assert distance(found["logits"], wanted["logits"]) > 20 * TOLERANCE
    assert distance(found["losses_without_dropout"], wanted["losses_without_dropout"]) > 2 * TOLERANCE
    for count in (1, 4, 16):
        steps = [name for name in wanted if name.startswith(f"step with {count} images")]
        assert len(steps) == 8  # kernel and bias of four layers
        assert max(distance(found[name], wanted[name]) for name in steps) > 5 * TOLERANCE


def test_parity_of_torch_does_not_depend_on_neutral_parameters(measure, torch_cpu):
    short = {"batches": 1, "data": "synthetic"}
    one = measure(torch_cpu, "torch_mnist", short).outputs
    other = measure(
        torch_cpu, "torch_mnist", {**short, "batches": 2, "batch-size": 16, "epochs": 2, "gamma": 0.5}
    ).outputs
    assert one == other


def test_keras_on_torch_agrees_with_keras_on_jax(measure, torch_cpu, keras_jax):
    wanted = measure(keras_jax, "keras_inference", FEW, KERAS_BACKEND="jax").outputs
    report = measure(torch_cpu, "keras_inference", FEW, "cpu", KERAS_BACKEND="torch")
    assert report.backend == "torch"
    assert max(distance(report.outputs[name], wanted[name]) for name in wanted) < TOLERANCE


def test_a_device_that_this_torch_cannot_open_is_told(measure, torch_cpu):
    for runner in ("device_smoke", "torch_mnist"):
        report = measure(torch_cpu, runner, {}, "cuda:0")
        assert (report.status, report.error.phase, report.backend) == ("failed", "backend", "torch")
