"""PlaidML on this processor through OpenCL: what is lacking at each stage, and right numbers at the end."""

import json
from pathlib import Path

import pytest

from envmgr.backends import backend_for, operation_check
from envmgr.backends.opencl import LINK, opencl_devices, processor_setup
from envmgr.model.host import HostFacts
from envmgr.model.outcome import Outcome

pytestmark = [pytest.mark.system, pytest.mark.network, pytest.mark.timeout(600)]

HOST = HostFacts(name="here", system="linux", machine="x86_64")
PLAIDML = backend_for("plaidml")


@pytest.fixture
def old(workshop):
    return workshop.env("3.8", "plaidml==0.6.4 plaidml-keras==0.6.4 keras==2.2.4 h5py<4 numpy<1.24")


@pytest.fixture
def setup(workshop, old, home):
    """The whole setup in a cell's home, as the app writes it."""
    stock = (Path(old.path) / "share" / "plaidml" / "experimental.json").read_text()
    made = processor_setup(workshop.ask(old, PLAIDML.probe, home), stock, home)
    for path, text in made.files.items():
        workshop.files.write(Path(path), text)
    for path, target in made.links.items():
        workshop.files.link(Path(target), Path(path))
    return made.variables


def listed(listing):
    return {device.id: device.valid for device in listing.devices}


def told(listing):
    return {check.name: check for check in PLAIDML.diagnose_listing(listing, HOST)}


def test_the_driver_is_seen_from_inside_an_env(workshop, old, home):
    listing = workshop.ask(old, PLAIDML.probe, home)
    assert "cpu" in [device.type for device in opencl_devices(listing)], listing.facts


def test_without_the_library_name_it_is_said_that_this_is_missing(workshop, old, home):
    listing = workshop.ask(old, PLAIDML.probe, home)
    if listing.facts["opencl_library"] == LINK:
        pytest.skip(f"this system has {LINK} everywhere: its absence cannot be shown")
    assert listed(listing) == {"llvm_cpu.0": True}
    assert told(listing)["opencl library"].lacks[0].name == LINK


def test_without_the_entry_the_device_is_invalid_and_it_is_said_why(workshop, old, home, setup):
    only_library = {"LD_LIBRARY_PATH": setup["LD_LIBRARY_PATH"]}
    listing = workshop.ask(old, PLAIDML.probe, home, variables=only_library)
    assert listed(listing) == {"llvm_cpu.0": True, "opencl_cpu.0": False}
    vendor = opencl_devices(listing)[0].vendor
    assert vendor in told(listing)["opencl hardware entry"].wanted
    outcome, reason = PLAIDML.absent("opencl_cpu.0", listing, HOST)
    assert outcome is Outcome.NOT_OFFERED
    assert vendor in reason


def test_with_both_it_is_listed_and_multiplies(workshop, old, home, setup):
    listing = workshop.ask(old, PLAIDML.probe, home, variables=setup)
    assert listed(listing) == {"llvm_cpu.0": True, "opencl_cpu.0": True}
    device = next(each for each in listing.devices if each.id == "opencl_cpu.0")
    assert device.experimental
    tried = workshop.ask(old, PLAIDML.probe, home, device.id, PLAIDML.select(device) | setup)
    assert operation_check(tried, device.id).passed, json.dumps(tried.facts)


def test_070_lists_its_own_processor_device_only(workshop, home, setup):
    new = workshop.env("3.8", "plaidml==0.7.0 plaidml-keras==0.7.0 keras==2.2.4 h5py<4 numpy<1.24")
    listing = workshop.ask(new, PLAIDML.probe, home, variables=setup)
    assert listed(listing) == {"llvm_cpu.0": True}
    assert told(listing)["opencl"].found == "plaidml 0.7.0 lists no OpenCL device for it"
