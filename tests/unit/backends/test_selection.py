"""Which device is meant, and which variables choose it."""

import pytest

from envmgr.backends import api_of, backend_for, names
from envmgr.backends.keras import check_active
from envmgr.errors import ManifestError
from envmgr.model.env import Device, DeviceListing

LLVM = Device(id="llvm_cpu.0", api="llvm", physical="cpu", experimental=True)
RADEON = Device(id="metal_amd_radeon_pro_5300m.0", api="metal", physical="AMD Radeon Pro 5300M")
CUDA1 = Device(id="cuda:1", api="cuda", physical="NVIDIA A100")
GPU1 = Device(id="GPU:1", api="cuda", physical="NVIDIA A100")


def test_every_name_is_a_backend_and_others_are_an_error():
    assert [backend_for(name).name for name in names()] == ["plaidml", "tensorflow", "jax", "torch"]
    assert all(backend_for(name).probe.is_file() for name in names())
    with pytest.raises(ManifestError, match="theano"):
        backend_for("theano")


@pytest.mark.parametrize(
    ("asked", "device", "meant"),
    [
        ("llvm_cpu.0", LLVM, True),
        ("llvm_cpu", LLVM, True),
        ("llvm", LLVM, True),
        ("cpu", LLVM, True),
        ("llvm_c", LLVM, False),
        ("metal", RADEON, True),
        ("metal_amd_radeon_pro_5300m", RADEON, True),
        ("METAL_AMD_Radeon_Pro_5300M.0", RADEON, True),
        ("opencl", RADEON, False),
        ("cuda", CUDA1, True),
        ("cuda:0", CUDA1, False),
        ("gpu:1", CUDA1, True),
        ("gpu", GPU1, True),
        ("cuda:1", GPU1, True),
        ("cuda", Device(id="gpu:10", api="cuda"), True),
        ("gpu:1", Device(id="gpu:10", api="cuda"), False),
        ("cpu", Device(id="CPU:0", api="cpu", physical="cpu"), True),
        ("cpu:0", Device(id="CPU:0", api="cpu", physical="cpu"), True),
        ("mps", Device(id="cpu", api="cpu", physical="cpu"), False),
    ],
)
def test_a_device_is_meant_by_id_beginning_api_or_what_it_is(asked, device, meant):
    assert backend_for("torch").matches(asked, device) is meant


@pytest.mark.parametrize(
    ("asked", "api"),
    [
        ("metal_amd_radeon_pro_5300m.0", "metal"),
        ("opencl_cpu.0", "opencl"),
        ("GPU:0", "cuda"),
        ("mps", "mps"),
        ("llvm_cpu.0", "llvm"),
        ("strange", ""),
    ],
)
def test_the_api_that_a_name_speaks_of(asked, api):
    assert api_of(asked) == api


def test_plaidml_is_told_by_id_and_whether_it_is_experimental():
    plaidml = backend_for("plaidml")
    assert plaidml.base_environment() == {"KERAS_BACKEND": "plaidml.keras.backend"}
    assert plaidml.select(LLVM) == {"PLAIDML_DEVICE_IDS": "llvm_cpu.0", "PLAIDML_EXPERIMENTAL": "1"}
    assert plaidml.select(RADEON)["PLAIDML_EXPERIMENTAL"] == "0"
    assert plaidml.select(None) == {}


def test_torch_hides_cards_for_the_processor_and_numbers_them_as_the_process_sees_them():
    torch = backend_for("torch")
    assert torch.select(Device(id="cpu", api="cpu")) == {"KERAS_TORCH_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
    assert torch.select(CUDA1) == {"KERAS_TORCH_DEVICE": "cuda:1"}
    assert torch.select(CUDA1, alone=True) == {"KERAS_TORCH_DEVICE": "cuda:0", "CUDA_VISIBLE_DEVICES": "1"}
    assert torch.select(Device(id="mps", api="mps"), alone=True) == {"KERAS_TORCH_DEVICE": "mps"}


def test_jax_is_asked_for_a_card_by_its_api():
    jax = backend_for("jax")
    assert jax.select(Device(id="cpu:0", api="cpu")) == {"JAX_PLATFORMS": "cpu"}
    assert jax.select(Device(id="gpu:1", api="cuda")) == {"JAX_PLATFORMS": "cuda"}
    assert jax.select(Device(id="gpu:1", api="cuda"), alone=True)["CUDA_VISIBLE_DEVICES"] == "1"
    assert jax.select(Device(id="METAL:0", api="metal")) == {"JAX_PLATFORMS": "METAL"}


def test_tensorflow_hides_cards_for_the_processor():
    tensorflow = backend_for("tensorflow")
    assert tensorflow.select(Device(id="CPU:0", api="cpu")) == {"CUDA_VISIBLE_DEVICES": "-1"}
    assert tensorflow.select(GPU1) == {}
    assert tensorflow.select(GPU1, alone=True) == {"CUDA_VISIBLE_DEVICES": "1"}


@pytest.mark.parametrize(
    ("active", "wanted", "good"),
    [
        ("plaidml.keras.backend", "plaidml", True),
        ("tensorflow", "plaidml", False),
        ("jax", "jax", True),
        ("", "jax", False),
    ],
)
def test_the_backend_that_keras_really_uses(active, wanted, good):
    facts = {"active": active, "source": "keras.json", "settings_file": "/home/.keras/keras.json"}
    check = check_active(DeviceListing(backend="keras", version="2.2.4", facts=facts), wanted)
    assert check.passed is good
    assert good or "/home/.keras/keras.json" in check.hint


def test_a_keras_that_cannot_be_imported_is_no_active_backend():
    check = check_active(DeviceListing(backend="keras", error="ImportError: no module"), "jax")
    assert (check.passed, check.found) == (False, "ImportError: no module")
