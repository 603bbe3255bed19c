"""Why a device is not there: the host lacks it, or has it and this backend does not list it (recorded hosts)."""

import json
from pathlib import Path

import pytest

from envmgr.backends import attributed, backend_for, operation_check
from envmgr.model.env import Device, DeviceListing
from envmgr.model.host import Accelerator, HostFacts
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform

HOSTS = Path(__file__).parents[2] / "hosts"


def host(name):
    return HostFacts.model_validate_json((HOSTS / f"{name}.json").read_text())


PLAIN = HostFacts(name="plain", system="linux", machine="x86_64")
POCL = HostFacts(
    name="pocl",
    system="linux",
    machine="x86_64",
    accelerators=(Accelerator(name="pthread-EPYC", vendor="AMD", kind="cpu", apis=("opencl",)),),
)
TORCH_CPU = DeviceListing(
    backend="torch",
    version="2.13.0+cpu",
    devices=(Device(id="cpu", api="cpu", physical="cpu"),),
    built={"cuda": False, "mps": False},
    available={"cuda": False, "mps": False},
    reasons={"cuda": "this torch was built without CUDA", "mps": "MPS exists on macOS only"},
)
LLVM = Device(id="llvm_cpu.0", api="llvm", physical="cpu")


def test_what_the_host_lacks_is_unavailable_with_the_hosts_own_reason():
    reason = "MPS wants macOS on Apple silicon, found linux-x86_64"
    assert backend_for("torch").absent("mps", TORCH_CPU, PLAIN, reason) == (Outcome.UNAVAILABLE, reason)


def test_recorded_cuda_host_under_a_cpu_build_is_not_offered():
    outcome, reason = backend_for("torch").absent("cuda", TORCH_CPU, host("linux-cuda"))
    assert outcome is Outcome.NOT_OFFERED
    assert reason == (
        "NVIDIA GeForce RTX 3090 is here through cuda; torch 2.13.0+cpu does not list it: "
        "this torch was built without CUDA"
    )


def test_recorded_macbook_card_that_only_another_api_reaches_is_not_offered():
    listing = DeviceListing(backend="plaidml", version="0.7.0", devices=(LLVM,))
    outcome, reason = backend_for("plaidml").absent(
        "opencl_amd_radeon_pro_5300m_compute_engine.0", listing, host("macbook-2019-radeon"), "OpenCL is not there"
    )
    assert outcome is Outcome.NOT_OFFERED
    assert "AMD Radeon Pro 5300M is here through metal, opencl" in reason


def test_recorded_macbook_lacks_another_card():
    listing = DeviceListing(backend="plaidml", version="0.7.0", devices=(LLVM,))
    macbook = host("macbook-2019-radeon")
    why = "Metal wants an Apple GPU"
    assert backend_for("plaidml").absent("metal_apple_m1.0", listing, macbook, why) == (Outcome.UNAVAILABLE, why)


def test_a_processor_that_opencl_reaches_and_plaidml_070_does_not_list():
    listing = DeviceListing(backend="plaidml", version="0.7.0", devices=(LLVM,))
    outcome, reason = backend_for("plaidml").absent("opencl_cpu.0", listing, POCL)
    assert outcome is Outcome.NOT_OFFERED
    assert "plaidml 0.7.0 does not list it" in reason


def test_a_device_in_the_list_of_invalid_ones_is_not_offered_and_the_entry_is_what_lacks():
    invalid = Device(id="opencl_cpu.0", api="opencl", physical="cpu", experimental=True, valid=False)
    seen = [{"type": "cpu", "name": "pthread-EPYC", "vendor": "AuthenticAMD"}]
    facts = {"opencl_library": "libOpenCL.so", "opencl_devices": json.dumps(seen)}
    listing = DeviceListing(backend="plaidml", version="0.6.4", devices=(LLVM, invalid), facts=facts)
    outcome, reason = backend_for("plaidml").absent("opencl_cpu.0", listing, POCL)
    assert outcome is Outcome.NOT_OFFERED
    assert "hardware entry" in reason
    assert "AuthenticAMD" in reason


def test_an_unknown_name_is_unavailable_and_says_what_is_listed():
    outcome, reason = backend_for("torch").absent("quantum:0", TORCH_CPU, PLAIN)
    assert outcome is Outcome.UNAVAILABLE
    assert "wanted quantum:0; torch 2.13.0+cpu lists cpu" in reason


def test_one_card_seen_through_two_apis_is_one_card():
    listing = DeviceListing(
        backend="plaidml",
        devices=(
            LLVM,
            Device(id="metal_amd_radeon_pro_5300m.0", api="metal", physical="amd_radeon_pro_5300m"),
            Device(id="metal_intel(r)_uhd_graphics_630.0", api="metal", physical="intel(r)_uhd_graphics_630"),
            Device(id="opencl_amd_radeon_pro_5300m_compute_engine.0", api="opencl"),
        ),
    )
    devices = attributed(listing, host("macbook-2019-radeon")).devices
    assert [device.physical for device in devices] == [
        "cpu",
        "AMD Radeon Pro 5300M",
        "Intel UHD Graphics 630",
        "AMD Radeon Pro 5300M",
    ]


def test_the_only_card_of_an_api_is_meant_even_without_a_name():
    listing = DeviceListing(backend="torch", devices=(Device(id="mps", api="mps"),))
    assert attributed(listing, host("m1-arm64-py38")).devices[0].physical == "Apple M1"


@pytest.mark.parametrize(
    ("name", "backend", "platform", "resolved", "ids"),
    [
        ("m1-arm64-py38", "torch", Platform.MACOS_ARM64, {"torch": "1.13.1"}, ["cpu", "mps"]),
        ("m1-arm64-py38", "torch", Platform.MACOS_ARM64, {"torch": "1.11.0"}, ["cpu"]),
        ("m1-rosetta-py38", "torch", Platform.MACOS_X86_64, {"torch": "1.13.1"}, ["cpu"]),
        ("linux-cuda", "torch", Platform.LINUX_X86_64, {"torch": "2.9", "nvidia-cublas-cu12": "12"}, ["cpu", "cuda:0"]),
        ("linux-cuda", "torch", Platform.LINUX_X86_64, {"torch": "2.13.0+cpu"}, ["cpu"]),
        ("linux-cuda", "jax", Platform.LINUX_X86_64, {"jax": "0.8"}, ["cpu:0"]),
        ("linux-cuda", "jax", Platform.LINUX_X86_64, {"jax-cuda12-plugin": "0.8"}, ["cpu:0", "gpu:0"]),
        ("linux-cuda", "tensorflow", Platform.LINUX_X86_64, {"tensorflow": "2.20"}, ["CPU:0"]),
        ("windows", "torch", Platform.WINDOWS_X86_64, {"torch": "2.9"}, ["cpu"]),
        ("linux-aarch64", "torch", Platform.LINUX_AARCH64, {"torch": "2.9"}, ["cpu"]),
        (
            "macbook-2019-radeon",
            "plaidml",
            Platform.MACOS_X86_64,
            {"plaidml": "0.7.0"},
            ["llvm_cpu.0", "metal_intel(r)_uhd_graphics_630.0", "metal_amd_radeon_pro_5300m.0"],
        ),
        ("m1-rosetta-py38", "plaidml", Platform.MACOS_X86_64, {"plaidml": "0.7.0"}, ["llvm_cpu.0", "metal_apple_m1.0"]),
    ],
)
def test_devices_to_be_expected_on_recorded_hosts(name, backend, platform, resolved, ids):
    assert [device.id for device in backend_for(backend).predict(host(name), platform, resolved)] == ids


def test_llvm_is_experimental_before_070():
    predicted = backend_for("plaidml").predict(PLAIN, Platform.LINUX_X86_64, {"plaidml": "0.6.4"})
    assert [device.experimental for device in predicted] == [True]
    predicted = backend_for("plaidml").predict(PLAIN, Platform.LINUX_X86_64, {"plaidml": "0.7.0"})
    assert [device.experimental for device in predicted] == [False]


@pytest.mark.parametrize(
    ("facts", "passed"),
    [
        ({"operation": "right", "operation_device": "mps:0", "operation_deviation": "0"}, True),
        ({"operation": "wrong", "operation_device": "mps:0", "operation_deviation": "3.5"}, False),
        ({"operation": "right", "operation_device": "cpu", "operation_deviation": "0"}, False),
        ({}, False),
    ],
)
def test_an_operation_counts_only_right_and_on_the_device(facts, passed):
    check = operation_check(DeviceListing(backend="torch", facts=facts), "mps")
    assert check.passed is passed
