"""The six hosts: what each can have of small manifests, through which interpreter and device, and why not."""

import pytest

from envmgr.host.devices import device_reason
from envmgr.host.match import match
from envmgr.host.possible import what_it_can_have
from envmgr.model.host import Interpreter
from envmgr.model.manifest import Manifest

PLAIDML = Manifest(
    schema=1,
    name="plaidml-0.7.0",
    python=">=3.7,<3.10",
    platforms=("linux-x86_64", "macos-x86_64", "windows-x86_64"),
    variants={"python": ("3.8", "3.7")},
)
TORCH = Manifest(schema=1, name="torch-1.13", python="==3.8.*")
KERAS = Manifest(schema=1, name="keras-jax", python=">=3.11,<3.13")
TORCH_VERSIONS = {"torch": "1.13.1"}

FITS = [
    ("m1-arm64-py38", TORCH, "macos-arm64", "3.8.18"),
    ("m1-arm64-py38", KERAS, "macos-arm64", "3.11.7"),
    ("m1-rosetta-py38", PLAIDML, "macos-x86_64", "3.8.18"),
    ("m1-rosetta-py38", TORCH, "macos-arm64", "fetch cpython-3.8-macos-aarch64"),
    ("m1-rosetta-py38", KERAS, "macos-arm64", "fetch cpython-3.12-macos-aarch64"),
    ("macbook-2019-radeon", PLAIDML, "macos-x86_64", "3.8.18"),
    ("macbook-2019-radeon", TORCH, "macos-x86_64", "3.8.18"),
    ("macbook-2019-radeon", KERAS, "macos-x86_64", "3.11.6"),
    ("linux-cuda", PLAIDML, "linux-x86_64", "3.8.18"),
    ("linux-cuda", TORCH, "linux-x86_64", "3.8.18"),
    ("linux-cuda", KERAS, "linux-x86_64", "3.12.3"),
    ("linux-aarch64", TORCH, "linux-aarch64", "fetch cpython-3.8-linux-aarch64"),
    ("linux-aarch64", KERAS, "linux-aarch64", "3.11.10"),
    ("windows", PLAIDML, "windows-x86_64", "3.8.10"),
    ("windows", TORCH, "windows-x86_64", "3.8.10"),
    ("windows", KERAS, "windows-x86_64", "3.11.9"),
]


@pytest.mark.parametrize(("host", "manifest", "platform", "python"), FITS)
def test_what_fits_and_through_which_interpreter(hosts, host, manifest, platform, python):
    found = match(manifest, "", hosts[host])
    assert found.fits, found.reason
    assert found.platform == platform
    assert python == (found.interpreter.version if found.interpreter else f"fetch {found.fetch}")
    assert found.interpreter is None or found.interpreter.arch == platform.partition("-")[2]


def test_plaidml_on_an_m1_wants_an_x86_64_interpreter(hosts):
    assert match(PLAIDML, "", hosts["m1-arm64-py38"]).reason == (
        "plaidml-0.7.0 wants Python 3.8 for macos-x86_64; found 3.11.7 arm64, 3.8.18 arm64; get an x86-64 Python that "
        "Rosetta runs: softwareupdate --install-rosetta, then uv python install cpython-3.8-macos-x86_64-none"
    )


def test_plaidml_through_rosetta_is_translated(hosts):
    assert match(PLAIDML, "", hosts["m1-rosetta-py38"]).interpreter.translated


def test_plaidml_does_not_exist_on_linux_aarch64(hosts):
    assert match(PLAIDML, "", hosts["linux-aarch64"]).reason == (
        "plaidml-0.7.0 exists for linux-x86_64, macos-x86_64, windows-x86_64; this host is linux-aarch64"
    )


@pytest.mark.parametrize("host", ["linux-cuda", "macbook-2019-radeon"])
def test_python_3_7_is_got_through_pyenv(hosts, host):
    assert match(PLAIDML, "py3.7", hosts[host]).reason.endswith("uv cannot fetch it: pyenv install 3.7")


def test_a_32_bit_python_on_windows_is_passed_over(hosts):
    found = match(PLAIDML, "", hosts["windows"])
    assert "Python38-32" not in found.interpreter.executable
    assert any("is for windows-x86, wanted windows-x86_64" in line for line in found.considered)


DEVICES = [
    ("m1-arm64-py38", {"mps", "metal", "opencl"}),
    ("m1-rosetta-py38", {"metal", "opencl"}),
    ("macbook-2019-radeon", {"metal", "opencl"}),
    ("linux-cuda", {"cuda", "opencl"}),
    ("linux-aarch64", set()),
    ("windows", {"cuda", "opencl"}),
]


@pytest.mark.parametrize(("host", "available"), DEVICES)
def test_the_devices_of_each_host(hosts, host, available):
    interpreter = hosts[host].interpreters[-1]
    reasons = {
        api: device_reason(api, hosts[host], interpreter, TORCH_VERSIONS)
        for api in ("cpu", "llvm", "mps", "metal", "cuda", "rocm", "opencl")
    }
    assert {api for api, reason in reasons.items() if not reason} == available | {"cpu", "llvm"}


@pytest.mark.parametrize(
    ("host", "api", "reason"),
    [
        ("m1-arm64-py38", "cuda", "CUDA wants Linux or Windows with an NVIDIA GPU, found macos-arm64"),
        ("macbook-2019-radeon", "mps", "MPS wants Apple silicon, found Intel(R) Core(TM) i9-9880H CPU @ 2.30GHz"),
        ("linux-cuda", "mps", "MPS wants macOS on Apple silicon, found linux-x86_64"),
        ("linux-cuda", "metal", "Metal wants macOS, found linux-x86_64"),
        ("linux-cuda", "rocm", "ROCm wants an AMD GPU, found NVIDIA GeForce RTX 3090"),
        ("linux-aarch64", "cuda", "CUDA wants an NVIDIA GPU, found no GPU"),
        ("linux-aarch64", "opencl", "OpenCL wants a driver (an ICD entry), found none"),
        ("windows", "rocm", "ROCm wants Linux with an AMD GPU, found windows-x86_64"),
    ],
)
def test_a_reason_says_what_was_wanted_and_found(hosts, host, api, reason):
    assert device_reason(api, hosts[host], None, {}) == reason


def test_mps_wants_an_arm64_python(hosts):
    facts = hosts["m1-rosetta-py38"]
    reason = device_reason("mps", facts, facts.interpreters[0], TORCH_VERSIONS)
    assert reason.startswith("MPS wants an arm64 Python, found CPython 3.8.18 x86_64 translated")


@pytest.mark.parametrize(
    ("macos", "torch", "wanted"),
    [
        ("12.2.1", "1.13.1", "MPS wants macOS 12.3 or newer, found macOS 12.2.1"),
        ("12.3", "1.12.0", ""),
        ("13.6.1", "1.11.0", "MPS wants torch 1.12 or newer, found torch 1.11.0"),
        ("13.6.1", "2.13.0+cpu", ""),
        ("26.1", "", ""),
        ("", "1.13.1", "MPS wants macOS 12.3 or newer, found macOS "),
    ],
)
def test_mps_wants_a_new_enough_macos_and_torch(hosts, macos, torch, wanted):
    facts = hosts["m1-arm64-py38"].model_copy(update={"os_version": macos})
    resolved = {"torch": torch} if torch else {}
    assert device_reason("mps", facts, facts.interpreters[-1], resolved) == wanted


def test_plaidml_wants_the_unversioned_library_name_and_others_do_not(hosts):
    facts = hosts["linux-cuda"]
    assert device_reason("opencl", facts, None, {}) == ""
    assert device_reason("opencl", facts, None, {"plaidml": "0.6.4"}) == (
        "PlaidML's OpenCL wants the library name libOpenCL.so, found libOpenCL.so.1 alone "
        "(ocl-icd-opencl-dev brings it)"
    )
    link = facts.drivers[-1].model_copy(update={"name": "libOpenCL.so"})
    with_link = facts.model_copy(update={"drivers": (*facts.drivers, link)})
    assert device_reason("opencl", with_link, None, {"plaidml": "0.6.4"}) == ""


def test_opencl_wants_a_loader_and_the_drivers_library(hosts):
    facts = hosts["linux-cuda"]
    without_loader = facts.model_copy(update={"drivers": facts.drivers[:-1]})
    assert device_reason("opencl", without_loader, None, {}) == (
        "OpenCL wants the loader libOpenCL.so.1, found nvidia.icd"
    )
    broken = facts.drivers[1].model_copy(update={"usable": False})
    with_broken = facts.model_copy(update={"drivers": (broken,)})
    assert "nvidia.icd names libnvidia-opencl.so.1, which is not there" in device_reason(
        "opencl", with_broken, None, {}
    )


def test_cuda_wants_a_driver_that_works(hosts):
    facts = hosts["linux-cuda"]
    assert device_reason("cuda", facts.model_copy(update={"drivers": ()}), None, {}) == (
        "CUDA wants a working NVIDIA driver, found none"
    )
    broken = facts.drivers[0].model_copy(update={"usable": False, "detail": "nvidia-smi does not answer"})
    reason = device_reason("cuda", facts.model_copy(update={"drivers": (broken,)}), None, {})
    assert reason == "CUDA wants a working NVIDIA driver, found driver 550.120: nvidia-smi does not answer"


def test_rocm_wants_its_driver(hosts):
    amd = hosts["macbook-2019-radeon"].accelerators[1]
    facts = hosts["linux-aarch64"].model_copy(update={"accelerators": (amd,)})
    assert device_reason("rocm", facts, None, {}) == "ROCm wants its driver and rocminfo that lists the GPU, found none"


def test_metal_wants_a_card_that_has_it(hosts):
    facts = hosts["macbook-2019-radeon"].model_copy(update={"accelerators": ()})
    assert device_reason("metal", facts, None, {}) == (
        "Metal wants a GPU that macOS drives through Metal, found no GPU"
    )


def test_an_api_without_a_rule_is_told(hosts):
    assert "no rule for the API vulkan" in device_reason("vulkan", hosts["windows"], None, {})
    assert "no rule for a device of this name" in device_reason("", hosts["windows"], None, {})


def test_doctors_table_has_a_line_for_each_variant(hosts):
    table = what_it_can_have((PLAIDML, TORCH), hosts["linux-cuda"])
    assert [(line.label, bool(line.reason)) for line in table] == [
        ("plaidml-0.7.0@py3.8", False),
        ("plaidml-0.7.0@py3.7", True),
        ("torch-1.13", False),
    ]
    assert isinstance(table[0].match.interpreter, Interpreter)
