"""Each source of facts: recorded text in, nouns out."""

from pathlib import Path

import pytest

from envmgr.host import linux, macos, nvidia, opencl, windows
from envmgr.host.candidates import parse_py_launcher, parse_virtual_config
from envmgr.host.facts import parse_downloads
from envmgr.model.host import HostFacts


def test_os_release_gives_name_and_version():
    text = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n'
    assert linux.parse_os_release(text) == "Debian GNU/Linux 12"
    assert linux.parse_os_release("NAME=Arch\\ Linux\n# a comment=1\n") == "Arch\\ Linux"


def test_cpuinfo_of_a_pc_has_name_cores_and_features(recorded):
    name, cores, features = linux.parse_cpuinfo(recorded("cpuinfo-x86_64.txt"))
    assert (name, cores) == ("AMD Ryzen 9 5950X 16-Core Processor", 2)
    assert features == ("avx", "avx2", "f16c", "fma", "sse4_1", "sse4_2")


def test_cpuinfo_of_an_arm_server_has_no_name_but_features(recorded):
    name, cores, features = linux.parse_cpuinfo(recorded("cpuinfo-aarch64.txt"))
    assert (name, cores) == ("", 2)
    assert "asimddp" in features
    assert "crc32" not in features
    assert linux.parse_lscpu("Architecture:  aarch64\nModel name:   Neoverse-N1\n") == "Neoverse-N1"
    assert linux.parse_lscpu("Model name:             -\n") == ""


@pytest.mark.parametrize(
    ("text", "libc"),
    [
        ("glibc 2.36\n", "glibc 2.36"),
        ("musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader\n", "musl 1.2"),
        ("ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35\n", "glibc 2.35"),
        ("", ""),
    ],
)
def test_libc(text, libc):
    assert linux.parse_libc(text) == libc


def test_lspci_gives_cards_that_compute_and_no_consoles(recorded):
    cards = linux.parse_lspci(recorded("lspci.txt"))
    assert [(card.vendor, card.name) for card in cards] == [
        ("Intel", "Intel AlderLake-S GT1"),
        ("NVIDIA", "NVIDIA GeForce RTX 3090"),
        ("AMD", "AMD Radeon RX 5500/5500M / Pro 5500M"),
    ]


def test_rocminfo_gives_the_gpu_by_its_own_name(recorded):
    (card,) = linux.parse_rocminfo(recorded("rocminfo.txt"))
    assert (card.name, card.detail, card.apis) == ("AMD Radeon RX 6800 XT", "gfx1030", ("rocm",))


def test_nvidia_smi_gives_card_driver_and_cuda_level(recorded):
    (card,), version = nvidia.parse_query("NVIDIA GeForce RTX 3090, 550.120, 24576, 8.6\n")
    assert (card.name, card.detail, version) == (
        "NVIDIA GeForce RTX 3090",
        "24576 MiB, compute capability 8.6",
        "550.120",
    )
    assert nvidia.parse_cuda_level(recorded("nvidia-smi.txt")) == "12.4"


def test_the_kernel_module_gives_card_and_driver(recorded):
    assert nvidia.parse_kernel_version(recorded("nvidia-kernel.txt")) == "535.154.05"
    (card,) = nvidia.parse_kernel_card(recorded("nvidia-card.txt"))
    assert card.name == "NVIDIA GeForce RTX 3090"


def test_clinfo_tells_a_processor_from_a_card(recorded):
    (device,) = opencl.parse_clinfo(recorded("clinfo-pocl.txt"))
    assert (device.name, device.vendor, device.kind) == ("pthread-skylake-avx512-AMD EPYC", "AMD", "cpu")


def test_ldconfig_gives_the_64_bit_library(recorded):
    libraries = opencl.parse_ldconfig(recorded("ldconfig.txt"))
    assert libraries["libOpenCL.so.1"] == "/lib/x86_64-linux-gnu/libOpenCL.so.1"
    assert "libm.so.6" in libraries
    assert "libOpenCL.so" not in libraries


def test_displays_of_an_m1(recorded):
    (card,) = macos.parse_displays(recorded("displays-m1.json"))
    assert (card.name, card.vendor, card.apis, card.detail) == ("Apple M1", "Apple", ("metal",), "8 cores")


def test_displays_of_a_macbook_with_two_cards(recorded):
    intel, amd = macos.parse_displays(recorded("displays-macbook-2019.json"))
    assert (intel.name, intel.vendor, intel.detail) == ("Intel UHD Graphics 630", "Intel", "1536 MB")
    assert (amd.name, amd.vendor, amd.apis, amd.detail) == ("AMD Radeon Pro 5300M", "AMD", ("metal",), "4 GB")


def test_a_card_without_metal_is_told(recorded):
    (card,) = macos.parse_displays(recorded("displays-old-mac.json"))
    assert card.apis == ()


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}"])
def test_unreadable_displays_are_no_displays(text):
    assert macos.parse_displays(text) == ()


def test_features_of_macs_are_in_the_words_of_linux(recorded):
    apple = macos.mac_features(macos.parse_sysctl(recorded("sysctl-m1.txt")))
    intel = macos.mac_features(macos.parse_sysctl(recorded("sysctl-macbook-2019.txt")))
    assert apple == ("asimd", "asimddp")
    assert intel == ("avx", "avx2", "f16c", "fma", "sse4_1", "sse4_2")


def test_windows_tells_of_processor_memory_and_cards(recorded):
    text = recorded("windows.json")
    machine = windows.parse_machine(text)
    assert (machine.machine, machine.cores, machine.os_version) == ("x86_64", 20, "10.0.22631")
    assert machine.memory == 33272184 * 1024
    assert [card.vendor for card in windows.parse_video(text)] == ["Intel", "NVIDIA"]


def test_windows_without_an_answer_is_empty():
    assert windows.parse_machine("").machine == ""
    assert windows.parse_video("[]") == ()


def test_registry_lists_active_opencl_drivers_only(recorded):
    (path,) = windows.parse_registry(recorded("registry.txt"))
    assert path.endswith("nvopencl64.dll")


def test_py_launcher_new_and_old(recorded):
    assert [str(path) for path in parse_py_launcher(recorded("py-launcher.txt"))] == [
        r"C:\Users\ada\AppData\Local\Programs\Python\Python311\python.exe",
        r"C:\Program Files\Python38\python.exe",
        r"C:\Python38-32\python.exe",
    ]
    assert parse_py_launcher(recorded("py-launcher-old.txt")) == (
        Path(r"C:\Python39\python.exe"),
        Path(r"C:\Python37-32\python.exe"),
    )


def test_a_virtual_environment_names_its_base():
    text = "home = /opt/python/bin\nversion = 3.11.7\nexecutable = /opt/python/bin/python3.11\n"
    assert parse_virtual_config(text) == ("/opt/python/bin", "/opt/python/bin/python3.11")


def test_downloads_of_an_m1_tell_native_from_translated(recorded):
    facts = HostFacts(name="m1", system="macos", machine="arm64")
    assert parse_downloads(recorded("uv-downloads.json"), facts) == ("3.12", "3.9", "3.8-macos-x86_64")


def test_downloads_suit_the_libc(recorded):
    text = recorded("uv-downloads.json")
    glibc = HostFacts(name="pc", system="linux", machine="x86_64", libc="glibc 2.36")
    musl = HostFacts(name="alpine", system="linux", machine="x86_64", libc="musl")
    assert parse_downloads(text, glibc) == ("3.8",)
    assert parse_downloads(text, musl) == ("3.9",)
    assert parse_downloads("warning: no json", glibc) == ()
