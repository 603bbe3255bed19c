"""What PlaidML, JAX, torch and Keras really list in real envs."""

import os
from pathlib import Path

import pytest

from envmgr.backends import backend_for, operation_check
from envmgr.backends.keras import PROBE as KERAS_PROBE
from envmgr.backends.keras import check_active
from envmgr.env.inspect import inspect
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Step
from envmgr.model.outcome import Phase

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]

HOST = HostFacts(name="here", system="linux", machine="x86_64")
PLAIDML = backend_for("plaidml")


def plaidml_set(version):
    return f"plaidml=={version} plaidml-keras=={version} keras==2.2.4 h5py<4 numpy<1.24"


@pytest.mark.parametrize(("version", "experimental"), [("0.6.4", True), ("0.7.0", False)])
def test_plaidml_lists_its_processor_and_multiplies_there(workshop, home, version, experimental):
    env = workshop.env("3.8", plaidml_set(version))
    listing = workshop.ask(env, PLAIDML.probe, home)
    assert (listing.version, listing.facts["core"], listing.facts["bridge"]) == (version, version, version)
    device = next(each for each in listing.devices if each.id == "llvm_cpu.0")
    assert (device.valid, device.experimental, device.physical) == (True, experimental, "cpu")
    assert all(check.passed for check in PLAIDML.diagnose_listing(listing, HOST))
    tried = workshop.ask(env, PLAIDML.probe, home, device.id, PLAIDML.select(device))
    assert operation_check(tried, device.id).passed


def test_settings_in_the_home_neither_decide_nor_change(workshop, home):
    (home / ".plaidml").write_text('{"PLAIDML_DEVICE_IDS": ["metal_no_such_card.0"], "PLAIDML_EXPERIMENTAL": false}')
    before = (home / ".plaidml").read_text()
    env = workshop.env("3.8", plaidml_set("0.7.0"))
    assert "llvm_cpu.0" in [device.id for device in workshop.ask(env, PLAIDML.probe, home).devices]
    assert operation_check(workshop.ask(env, PLAIDML.probe, home, "llvm_cpu.0"), "llvm_cpu.0").passed
    assert (home / ".plaidml").read_text() == before


def test_a_device_that_plaidml_does_not_offer_is_an_error_of_the_run(workshop, home):
    env = workshop.env("3.8", plaidml_set("0.7.0"))
    listing = workshop.ask(env, PLAIDML.probe, home, "metal_amd_radeon_pro_5300m.0")
    assert listing.error_phase is Phase.RUN
    assert "metal_amd_radeon_pro_5300m.0" in listing.error


def test_keras_uses_the_backend_that_the_variables_name(workshop, home):
    env = workshop.env("3.8", plaidml_set("0.7.0"))
    listing = workshop.ask(env, KERAS_PROBE, home, variables=PLAIDML.base_environment())
    assert check_active(listing, "plaidml").passed
    assert not check_active(listing, "tensorflow").passed


def test_a_settings_file_of_keras_that_names_another_backend_is_told(workshop, home):
    (home / ".keras").mkdir()
    (home / ".keras" / "keras.json").write_text('{"backend": "theano"}')
    listing = workshop.ask(workshop.env("3.8", plaidml_set("0.7.0")), KERAS_PROBE, home)
    assert listing.facts["settings_backend"] == "theano"
    assert not check_active(listing, "plaidml").passed


def test_jax_lists_its_processor_and_multiplies_there(workshop, home):
    env = workshop.env("3.12", "jax")
    jax = backend_for("jax")
    listing = workshop.ask(env, jax.probe, home)
    assert listing.devices[0].id == "cpu:0"
    assert listing.available["cpu"] is True
    tried = workshop.ask(env, jax.probe, home, "cpu:0", jax.select(listing.devices[0]))
    assert operation_check(tried, "cpu:0").passed


def test_torch_of_the_wheel_folder_knows_its_kinds_and_multiplies(workshop, home):
    folder = Path(os.environ.get("PIP_FIND_LINKS", "").split(" ")[0] or "no-such-folder")
    if not list(folder.glob("torch-*+cpu-cp311-*.whl")):
        pytest.skip("no CPU wheel of torch for Python 3.11 in the folder that PIP_FIND_LINKS names")
    env = workshop.env("3.11", "torch==2.13.0+cpu")
    torch = backend_for("torch")
    listing = workshop.ask(env, torch.probe, home)
    assert [device.id for device in listing.devices] == ["cpu"]
    assert {"cpu", "cuda", "mps"} <= set(listing.kinds)
    assert listing.built == {"cuda": False, "mps": False}
    assert operation_check(workshop.ask(env, torch.probe, home, "cpu"), "cpu").passed


def test_the_history_that_started_the_project(workshop):
    """Reinstalling plaidml-keras leaves whatever plaidml is there: bridge and core come apart, and meet again."""
    steps = [
        Step(install=(f"plaidml-keras=={version}",), installer="pip==19.3.1") for version in ("0.7.0", "0.6.4", "0.7.0")
    ]
    states = workshop.env("3.7", *steps).steps
    versions = [(state.resolved["plaidml"], state.resolved["plaidml-keras"]) for state in states]
    assert versions == [("0.7.0", "0.7.0"), ("0.7.0", "0.6.4"), ("0.7.0", "0.7.0")]
    assert states[1].mismatches[0] == "core and bridge apart: plaidml 0.7.0 under plaidml-keras 0.6.4"
    assert "Requirement already satisfied: plaidml in" in states[1].mismatches[1]
    assert (states[0].mismatches, states[2].mismatches) == ((), ())
    assert states[0].resolved["pip"] == "19.3.1"


def test_a_real_env_has_clean_records(workshop):
    env = workshop.env("3.8", plaidml_set("0.7.0"))
    records = inspect(Path(env.python), workshop.process, workshop.files, deep=True).records
    assert records.checked > 1000
    assert (records.changed, records.missing, records.shared) == ((), (), ())
