"""What the shipped quick matrix plans on six hosts, from their recorded facts: nothing of it was run there."""

from pathlib import Path

import pytest

from envmgr.app.planning import Selection, plan_only
from envmgr.app.workplace import Workplace

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ROOT / "tests" / "hosts"


@pytest.fixture(scope="module")
def plans():
    """Return what is planned on each host: {host: {cell: (platform, refusal, reason)}}."""
    workplace = Workplace(ROOT)
    return {
        path.stem: {
            cell.name: (cell.platform, cell.refusal, cell.reason)
            for cell in plan_only(workplace, Selection(), path, None).cells
        }
        for path in sorted(HOSTS.glob("*.json"))
    }


def measured(plan, runner):
    """Return the devices on which each version set is measured by a runner."""
    found = {}
    for name, (_, refusal, _) in plan.items():
        manifest, run_by, *device = name.split("/")
        if run_by == runner and refusal is None:
            found.setdefault(manifest, set()).update(device)
    return found


def reason(plan, cell):
    return plan[cell][2]


def test_an_m1_with_an_arm64_python_has_mps_but_no_plaidml(plans):
    plan = plans["m1-arm64-py38"]
    inference = measured(plan, "keras_inference")
    assert inference["keras-torch"] == {"cpu", "mps"}
    assert measured(plan, "torch_mnist")["torch-cpu"] == {"cpu", "mps"}
    assert "plaidml-0.7.0@py3.8" not in inference
    told = reason(plan, "plaidml-0.7.0@py3.8/keras_inference")
    assert "macos-x86_64" in told
    assert "softwareupdate --install-rosetta" in told
    assert inference["keras-jax"] == {"cpu:0"}


def test_an_m1_with_a_translated_python_has_plaidml_on_metal(plans):
    plan = plans["m1-rosetta-py38"]
    inference = measured(plan, "keras_inference")
    assert inference["plaidml-0.7.0@py3.8"] == {"llvm_cpu.0", "metal_apple_m1.0"}
    assert plan["plaidml-0.7.0@py3.8/keras_inference/metal_apple_m1.0"][0] == "macos-x86_64"
    assert plan["keras-torch/keras_inference/mps"][0] == "macos-arm64"


def test_an_intel_mac_has_both_of_its_cards_through_metal(plans):
    plan = plans["macbook-2019-radeon"]
    for name in ("plaidml-0.6.4@py3.8", "plaidml-0.7.0@py3.8"):
        assert measured(plan, "keras_inference")[name] == {
            "llvm_cpu.0",
            "metal_intel(r)_uhd_graphics_630.0",
            "metal_amd_radeon_pro_5300m.0",
        }
    assert reason(plan, "keras-torch/keras_inference/mps").startswith("MPS wants Apple silicon")
    assert measured(plan, "keras_inference")["keras-torch"] == {"cpu"}


def test_linux_with_cuda_says_which_builds_do_not_offer_it(plans):
    plan = plans["linux-cuda"]
    told = plan["keras-torch/keras_inference/cuda"]
    assert told[1] == "not-offered"
    assert "RTX 3090 is here through cuda" in told[2]
    assert measured(plan, "keras_inference")["plaidml-0.7.0@py3.8"] == {"llvm_cpu.0"}
    assert "libOpenCL.so" in reason(plan, "plaidml-0.7.0@py3.8/keras_inference/opencl")
    assert "pyenv install 3.7" in reason(plan, "keras-2.2.4-tensorflow-1.13/keras_inference")


def test_linux_on_arm_has_no_plaidml(plans):
    plan = plans["linux-aarch64"]
    inference = measured(plan, "keras_inference")
    assert set(inference) == {"keras-tensorflow", "keras-jax", "keras-torch"}
    assert "this host is linux-aarch64" in reason(plan, "plaidml-0.6.4@py3.8/keras_inference")
    assert reason(plan, "torch-cpu/torch_mnist/mps").startswith("MPS wants macOS")


def test_windows_has_its_cards_through_opencl(plans):
    plan = plans["windows"]
    devices = measured(plan, "keras_inference")["plaidml-0.7.0@py3.8"]
    assert devices == {
        "llvm_cpu.0",
        "opencl_nvidia_geforce_rtx_3060_laptop_gpu.0",
        "opencl_intel(r)_iris(r)_xe_graphics.0",
    }
    assert reason(plan, "plaidml-0.7.0@py3.8/keras_inference/metal").startswith("Metal wants macOS")


def test_every_refusal_has_a_reason(plans):
    for plan in plans.values():
        assert plan
        for _, refusal, why in plan.values():
            assert (refusal is None) == (why == "")
