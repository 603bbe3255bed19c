"""What a listing says of an env: recorded listings of torch, PlaidML, JAX and TensorFlow on recorded hosts."""

import json
from pathlib import Path

import pytest

from envmgr.backends import backend_for, invariants
from envmgr.backends.opencl import LINK, experimental_config, processor_setup
from envmgr.backends.plaidml import core_and_bridge, settings_text
from envmgr.model.env import Device, DeviceListing
from envmgr.model.host import HostFacts
from envmgr.model.outcome import Phase

HOSTS = Path(__file__).parents[2] / "hosts"
PLAIN = HostFacts(name="plain", system="linux", machine="x86_64")


def host(name):
    return HostFacts.model_validate_json((HOSTS / f"{name}.json").read_text())


def checks(backend, listing, facts=PLAIN):
    return {check.name: check for check in backend_for(backend).diagnose_listing(listing, facts)}


def torch_listing(api, *, built, available, reason="", **facts):
    devices = (Device(id="cpu", api="cpu"), *((Device(id=api, api=api),) if available else ()))
    return DeviceListing(
        backend="torch",
        version="2.2.2",
        devices=devices,
        built={api: built},
        available={api: available},
        reasons={api: reason} if reason else {},
        facts=facts,
    )


def test_recorded_mps_built_and_available():
    check = checks("torch", torch_listing("mps", built=True, available=True), host("m1-arm64-py38"))["mps"]
    assert (check.passed, check.found) == (True, "built, available")


def test_recorded_mps_built_and_not_available_on_an_m1_is_amiss():
    reason = "MPS wants macOS 12.3 or newer, found 12.2.1"
    listing = torch_listing("mps", built=True, available=False, reason=reason, macos="12.2.1", machine="arm64")
    check = checks("torch", listing, host("m1-arm64-py38"))["mps"]
    assert (check.passed, check.found) == (False, f"built, not available: {reason}")
    assert "12.2.1" in check.hint


def test_recorded_x86_64_torch_on_an_m1_was_not_built_for_mps():
    reason = "this Python is x86_64, and torch for it was built without MPS"
    check = checks("torch", torch_listing("mps", built=False, available=False, reason=reason), host("m1-rosetta-py38"))[
        "mps"
    ]
    assert (check.passed, check.found) == (True, f"not built, not available: {reason}")


def test_recorded_cuda_build_without_a_usable_driver_is_amiss_only_where_a_card_is():
    reason = "this torch has cuda 13.0 and finds no usable card"
    listing = torch_listing("cuda", built=True, available=False, reason=reason, cuda="13.0")
    assert checks("torch", listing, host("linux-cuda"))["cuda"].passed is False
    assert "13.0" in checks("torch", listing, host("linux-cuda"))["cuda"].hint
    assert checks("torch", listing, PLAIN)["cuda"].passed is True


@pytest.mark.parametrize("backend", ["plaidml", "tensorflow", "jax", "torch"])
def test_a_backend_that_does_not_answer_is_amiss(backend):
    listing = DeviceListing(backend=backend, error="ImportError: numpy 2", error_phase=Phase.IMPORT)
    check = checks(backend, listing, host("linux-cuda"))["backend"]
    assert (check.passed, check.found) == (False, "ImportError: numpy 2")
    assert "import" in check.hint


def test_recorded_tensorflow_built_for_cuda_that_sees_no_card_is_amiss():
    listing = DeviceListing(
        backend="tensorflow", version="2.20", devices=(Device(id="CPU:0", api="cpu"),), built={"cuda": True}
    )
    assert checks("tensorflow", listing, host("linux-cuda"))["cuda"].passed is False
    assert "cuda" not in checks("tensorflow", listing, PLAIN)


def test_recorded_jax_without_its_plugin_is_told_and_no_fault():
    listing = DeviceListing(backend="jax", version="0.8", devices=(Device(id="cpu:0", api="cpu"),))
    check = checks("jax", listing, host("linux-cuda"))["cuda"]
    assert check.passed
    assert "RTX 3090" in check.found


def test_core_and_bridge_belong_together():
    assert core_and_bridge({"plaidml": "0.7.0"}) is None
    assert core_and_bridge({"plaidml": "0.7.0", "plaidml-keras": "0.7.0"}).passed
    apart = core_and_bridge({"plaidml": "0.7.0", "plaidml-keras": "0.6.4"})
    assert (apart.passed, apart.wanted, apart.found) == (
        False,
        "plaidml 0.6.4, as plaidml-keras 0.6.4 is",
        "plaidml 0.7.0",
    )
    assert invariants({"plaidml": "0.7.0", "plaidml-keras": "0.6.4"}) == (
        "core and bridge apart: plaidml 0.7.0 under plaidml-keras 0.6.4",
    )
    assert invariants({"plaidml": "0.7.0", "plaidml-keras": "0.7.0"}) == ()
    assert invariants({"numpy": "1.0"}) == ()


LLVM = Device(id="llvm_cpu.0", api="llvm", physical="cpu")
SEEN = json.dumps([{"type": "cpu", "name": "pthread-EPYC", "vendor": "AuthenticAMD"}])


def plaidml_listing(*devices, version="0.6.4", core="0.6.4", bridge="0.6.4", **facts):
    given = {"core": core, "bridge": bridge} | facts
    return DeviceListing(backend="plaidml", version=version, devices=(LLVM, *devices), facts=given)


def test_plaidml_whose_core_and_bridge_came_apart_is_amiss():
    assert checks("plaidml", plaidml_listing(core="0.7.0"))["core and bridge"].passed is False
    assert checks("plaidml", plaidml_listing())["core and bridge"].passed is True


def test_plaidml_without_any_device_is_amiss():
    listing = DeviceListing(backend="plaidml", version="0.6.4")
    assert checks("plaidml", listing)["devices"].passed is False


def test_the_missing_library_name_is_told_with_its_cure():
    found = checks("plaidml", plaidml_listing(opencl_library="libOpenCL.so.1", opencl_devices=SEEN))["opencl library"]
    assert (found.wanted, found.found) == (LINK, "libOpenCL.so.1 alone")
    assert found.lacks[0].how["debian"] == "apt-get install ocl-icd-opencl-dev"


def test_the_missing_hardware_entry_is_told_with_its_vendor():
    invalid = Device(id="opencl_cpu.0", api="opencl", valid=False)
    found = checks("plaidml", plaidml_listing(invalid, opencl_library=LINK, opencl_devices=SEEN))[
        "opencl hardware entry"
    ]
    assert "AuthenticAMD" in found.wanted
    assert found.lacks[0].name == "PLAIDML_EXPERIMENTAL_CONFIG"
    assert "vec_size 1" in found.hint


def test_with_both_the_device_is_offered_and_070_offers_none():
    offered = Device(id="opencl_cpu.0", api="opencl", experimental=True)
    facts = {"opencl_library": LINK, "opencl_devices": SEEN}
    assert checks("plaidml", plaidml_listing(offered, **facts))["opencl"].found == "opencl_cpu.0"
    none = checks("plaidml", plaidml_listing(version="0.7.0", **facts))["opencl"]
    assert none.found == "plaidml 0.7.0 lists no OpenCL device for it"
    assert none.lacks == ()


def test_without_opencl_nothing_is_said():
    assert set(checks("plaidml", plaidml_listing())) == {"backend", "core and bridge"}
    assert set(checks("plaidml", plaidml_listing(opencl_library="", opencl_devices="broken"))) == {
        "backend",
        "core and bridge",
    }


STOCK = json.dumps(
    {"platform": {"@type": "Platform", "hardware_configs": [{"description": "LLVM"}, {"description": "AMD"}]}}
)


def test_the_entry_for_a_processor_comes_first_and_is_exact():
    made = json.loads(experimental_config(STOCK, "Intel(R) Corporation"))
    entries = made["platform"]["hardware_configs"]
    assert [entry["description"] for entry in entries] == ["CPU of Intel(R) Corporation through OpenCL", "LLVM", "AMD"]
    assert entries[0]["sel"] == {"vendor_regex": r".*Intel\(R\)\ Corporation.*"}
    assert entries[0]["settings"]["vec_size"] == 1


def test_a_processors_setup_lives_in_the_home_of_the_cell(tmp_path):
    facts = {"opencl_devices": SEEN, "opencl_library_path": "/usr/lib/libOpenCL.so.1.0.0"}
    setup = processor_setup(plaidml_listing(**facts), STOCK, tmp_path)
    (path,), (link,) = setup.files, setup.links
    assert setup.variables == {"PLAIDML_EXPERIMENTAL_CONFIG": path, "LD_LIBRARY_PATH": str(Path(link).parent)}
    assert Path(link).name == LINK
    assert setup.links[link] == "/usr/lib/libOpenCL.so.1.0.0"
    assert all(Path(each).is_relative_to(tmp_path) for each in (path, link))
    gpu = json.dumps([{"type": "gpu", "name": "a", "vendor": "b"}])
    assert processor_setup(plaidml_listing(opencl_devices=gpu), STOCK, tmp_path) is None


def test_settings_of_plaidml_for_a_cells_home():
    assert json.loads(settings_text(LLVM)) == {"PLAIDML_DEVICE_IDS": ["llvm_cpu.0"], "PLAIDML_EXPERIMENTAL": False}
