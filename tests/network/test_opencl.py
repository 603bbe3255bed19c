"""PlaidML on this host's processor through a CPU OpenCL driver (pocl), which `.ci/run` installs."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.system, pytest.mark.timeout(900)]

SELECTION = ("-e", "plaidml-0.6.4", "-e", "plaidml-0.7.0", "-e", "keras-jax", "--device", "opencl", "--device", "cpu")


def devices(session, name):
    _, data = session.json("devices", name)
    return {device["id"] for device in data["listing"]["devices"] if device["valid"]}, data["checks"]


def test_without_the_librarys_name_envmgr_says_what_is_missing(session):
    code, data = session.json("doctor")
    assert code == 0
    assert "libOpenCL.so" in {lack["name"] for lack in data["facts"]["lacks"]}
    session.run("build", "plaidml-0.6.4")
    code, data = session.json("verify", "plaidml-0.6.4")
    assert code == 0
    lacks = [lack["name"] for check in data["checks"] for lack in check["lacks"]]
    assert lacks == ["libOpenCL.so"]
    assert devices(session, "plaidml-0.6.4")[0] == {"llvm_cpu.0"}


def test_without_the_hardware_entry_envmgr_says_what_is_missing(session):
    session.json("devices", "plaidml-0.6.4", "--opencl-setup")
    configuration = session.home / "envmgr-config" / "host.toml"
    whole = configuration.read_text()
    link = next(line for line in whole.splitlines() if line.startswith("LD_LIBRARY_PATH"))
    configuration.write_text(f"[plaidml]\n{link}\n")
    try:
        found, checks = devices(session, "plaidml-0.6.4")
        assert found == {"llvm_cpu.0"}
        assert [lack["name"] for check in checks for lack in check["lacks"]] == ["PLAIDML_EXPERIMENTAL_CONFIG"]
    finally:
        configuration.write_text(whole)


def test_with_both_0_6_4_has_the_device_and_right_numbers_and_0_7_0_does_not_offer_it(session):
    session.json("devices", "plaidml-0.6.4", "--opencl-setup")
    assert devices(session, "plaidml-0.6.4")[0] == {"llvm_cpu.0", "opencl_cpu.0"}
    assert devices(session, "plaidml-0.7.0")[0] == {"llvm_cpu.0"}
    code, data = session.json("matrix", "run", *SELECTION)
    assert code == 0, [(cell["name"], cell["outcome"], cell["reason"]) for cell in data["cells"]]
    cells = {cell["name"]: cell for cell in data["cells"]}
    passed = cells["plaidml-0.6.4@py3.8/keras_inference/opencl_cpu.0"]
    assert passed["outcome"] == "passed"
    assert passed["parity"]["verdict"] == "agrees"
    absent = cells["plaidml-0.7.0@py3.8/keras_inference/opencl"]
    assert absent["outcome"] == "not-offered"
    assert "opencl" in absent["reason"]
    session.assert_untouched()


def test_a_manifest_can_say_the_same_in_its_own_variables(session, tmp_path):
    session.json("devices", "plaidml-0.6.4", "--opencl-setup")
    configuration = session.home / "envmgr-config" / "host.toml"
    variables = configuration.read_text().replace("[plaidml]", "[env]")
    configuration.unlink()
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "mine.toml").write_text(
        'schema = 1\nname = "mine"\npython = "==3.8.*"\nbackend = "plaidml"\n'
        'requirements = ["plaidml==0.6.4", "plaidml-keras==0.6.4", "h5py<3", "numpy<1.24"]\n' + variables
    )
    _, data = session.json("devices", "mine", "--project", str(tmp_path))
    assert {device["id"] for device in data["listing"]["devices"] if device["valid"]} == {"llvm_cpu.0", "opencl_cpu.0"}


def test_a_device_that_predicts_rightly_and_trains_wrongly_is_wrong(session):
    session.json("devices", "plaidml-0.6.4", "--opencl-setup")
    selection = ("-e", "plaidml-0.6.4", "-e", "keras-jax", "--device", "opencl", "--device", "cpu")

    def trained():
        _, data = session.json("matrix", "run", "training", *selection)
        return next(cell for cell in data["cells"] if (cell["device"] or {}).get("id") == "opencl_cpu.0")

    assert trained()["outcome"] == "passed"
    entry = experimental_config(session)
    whole = entry.read_text()
    configuration = json.loads(whole)
    for hardware in configuration["platform"]["hardware_configs"]:
        if "vendor_regex" in hardware["sel"]:
            hardware["settings"] |= {"threads": 32, "vec_size": 16, "stripe_config": "cpu"}
    entry.write_text(json.dumps(configuration))
    try:
        cell = trained()
    finally:
        entry.write_text(whole)
    assert cell["outcome"] == "wrong"
    assert "squared error with 4 images" in cell["reason"]
    assert cell["parity"]["verdict"] == "disagrees"


def experimental_config(session):
    """The file in which PlaidML looks for the settings of hardware, as this host's configuration names it."""
    lines = (session.home / "envmgr-config" / "host.toml").read_text().splitlines()
    value = next(line.partition("=")[2] for line in lines if line.startswith("PLAIDML_EXPERIMENTAL_CONFIG"))
    return Path(value.strip().strip('"'))
