"""The main job on real PlaidML, Keras and PyTorch, as README's command runs it."""

import os
import platform

import pytest

pytestmark = [
    pytest.mark.network,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(
        platform.system() != "Linux" or platform.machine() != "x86_64", reason="the outcomes of Linux x86-64"
    ),
    pytest.mark.xdist_group("real"),
]


@pytest.fixture(scope="module")
def matrix(session):
    code, data = session.json("matrix", "run")
    cells = {cell["name"]: cell for cell in data["cells"]}
    return code, cells


def test_nothing_is_unexpected(matrix):
    code, cells = matrix
    assert [name for name, cell in cells.items() if cell["unexpected"]] == []
    assert code == 0


def test_plaidml_is_really_installed_and_its_outcomes_are_true(matrix):
    _, cells = matrix
    new = cells["plaidml-0.7.0@py3.8/keras_inference/llvm_cpu.0"]
    assert new["outcome"] == "passed"
    assert (new["resolved"]["plaidml"], new["resolved"]["plaidml-keras"]) == ("0.7.0", "0.7.0")
    assert new["parity"]["verdict"] == "agrees"
    assert new["parity"]["max_rel"] < 1e-4
    old = cells["plaidml-0.6.4@py3.8/keras_inference/llvm_cpu.0"]
    assert (old["outcome"], old["observed"], old["expected"]) == ("xfail", "wrong", "wrong")
    assert old["reason"].startswith("output 'probabilities'")
    assert (old["resolved"]["plaidml"], old["resolved"]["plaidml-keras"]) == ("0.6.4", "0.6.4")
    assert cells["plaidml-0.6.4@py3.8/device_smoke/llvm_cpu.0"]["outcome"] == "passed"


def test_keras_3_baselines_agree_across_backends(matrix):
    _, cells = matrix
    for name in ("keras-jax/keras_inference/cpu:0", "keras-tensorflow/keras_inference/CPU:0"):
        assert cells[name]["outcome"] == "passed"
    assert cells["keras-tensorflow/keras_inference/CPU:0"]["parity"]["verdict"] == "agrees"
    assert cells["keras-tensorflow/keras_inference/CPU:0"]["parity"]["max_rel"] < 1e-4


@pytest.mark.skipif(
    not os.environ.get("PIP_FIND_LINKS"), reason="no folder with torch's CPU wheel, and its index may be out of reach"
)
def test_torch_passes_where_its_wheel_is_to_be_had(matrix):
    _, cells = matrix
    assert cells["torch-cpu/torch_mnist/cpu"]["outcome"] == "passed"
    assert cells["torch-cpu/device_smoke/cpu"]["outcome"] == "passed"


def test_what_this_host_lacks_is_unavailable_with_a_reason(matrix):
    _, cells = matrix
    absent = {name: cell for name, cell in cells.items() if cell["outcome"] in {"unavailable", "not-offered"}}
    assert "plaidml-0.7.0@py3.8/keras_inference/metal" in absent
    assert all(cell["reason"] for cell in absent.values())


@pytest.mark.parametrize("python", ["3.10", "3.12"])
def test_the_known_bad_sets_fail_as_expected(matrix, python):
    _, cells = matrix
    cell = cells[f"plaidml-0.7.0-python{python}/import_probe"]
    assert (cell["outcome"], cell["observed"], cell["phase"]) == ("xfail", "failed", "import")
    assert "cannot import name 'Iterable' from 'collections'" in cell["reason"]


def test_the_users_own_settings_are_neither_read_nor_written(matrix, session):
    session.assert_untouched()


def test_a_second_build_has_nothing_to_do(matrix, session):
    done = session.run("build", "plaidml-0.6.4")
    assert done.returncode == 0
    assert "nothing to do" in done.stdout


def test_verify_checks_the_active_backend_and_every_device(matrix, session):
    code, data = session.json("verify", "plaidml-0.7.0", "--deep")
    assert code == 0
    names = {check["name"] for check in data["checks"] if check["passed"]}
    assert {"asked", "locked", "interpreter", "file", "core and bridge", "keras", "operation"} <= names


def test_a_users_own_script_runs_on_the_device_in_the_callers_folder(matrix, session):
    script = session.home / "mine.py"
    script.write_text(
        "import os, keras\nprint(keras.backend.backend(), os.environ['PLAIDML_DEVICE_IDS'], os.path.exists('mine.py'))\n"
        "raise SystemExit(7)\n"
    )
    done = session.run("run", "plaidml-0.7.0", "--device", "llvm", "--", "python", "mine.py")
    assert done.returncode == 7, done.stderr
    assert "plaidml" in done.stdout
    assert "llvm_cpu.0" in done.stdout
    assert "True" in done.stdout
    session.assert_untouched()


def test_the_history_shows_core_and_bridge_after_each_step(session):
    code, data = session.json("build", "plaidml-reinstall")
    assert code == 0
    steps = data["builds"][0]["steps"]
    seen = [(step["resolved"]["plaidml"], step["resolved"]["plaidml-keras"]) for step in steps]
    assert seen == [("0.7.0", "0.7.0"), ("0.7.0", "0.6.4"), ("0.7.0", "0.7.0")]
    assert [bool(step["mismatches"]) for step in steps] == [False, True, False]
    assert "core and bridge apart" in steps[1]["mismatches"][0]
    session.assert_untouched()


def test_the_original_table_has_ten_batches_and_the_ratio(session):
    done = session.run("matrix", "run", "vgg19", "-e", "plaidml-0.7.0", "-e", "keras-jax")
    assert done.returncode == 0, done.stdout + done.stderr
    table = done.stdout[done.stdout.index("cumulative seconds") :]
    assert "llvm_cpu.0" in table
    assert "cpu:0" in table
    for batch in range(1, 11):
        assert any(line.split()[:1] == [str(batch)] for line in table.splitlines())
    assert "vs CPU" in table
