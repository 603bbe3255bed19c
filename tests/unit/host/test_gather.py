"""Whole machines gathered from recorded texts."""

import json
from pathlib import Path

from envmgr.host.facts import gather

CACHE = Path("/cache")


def reporting(**changes):
    """Make an interpreter that answers the probe as a real one would."""
    answer = {
        "protocol": 1,
        "implementation": "CPython",
        "version": "3.8.18",
        "build": "(default) [Clang 15.0.0]",
        "system": "darwin",
        "arch": "arm64",
        "translated": False,
        "executable": "/Users/ada/.pyenv/versions/3.8.18/bin/python3.8",
        "base_prefix": "/Users/ada/.pyenv/versions/3.8.18",
        "virtual": False,
        "abi_flags": "",
        "libc": "",
    } | changes

    def run(means):
        def answer_probe(request):
            means.files.write(Path(request.argv[-1]), json.dumps(answer))
            return ""

        return answer_probe

    return run


def m1(recorded, machine, **files):
    means, around = machine(
        "macos",
        home="/Users/ada",
        files={
            "/Users/ada/.pyenv/versions/3.8.18/bin/python3.8": "3.8",
            "/usr/bin/python3": "the stub that opens a dialogue",
            "/System/Library/Frameworks/OpenCL.framework/OpenCL": "",
            **files,
        },
        outputs={
            "sysctl": recorded("sysctl-m1.txt"),
            "uname -m": "x86_64\n",
            "uname -n": "ada.local\n",
            "sw_vers -productVersion": "13.6.1\n",
            "system_profiler": recorded("displays-m1.json"),
            "uv python list": recorded("uv-downloads.json"),
        },
        environment={"PATH": "/usr/bin"},
    )
    python = "/Users/ada/.pyenv/versions/3.8.18/bin/python3.8"
    means.process.answers[(python,)] = reporting()(means)
    return means, around


def test_an_m1_is_an_m1_also_for_a_translated_caller(recorded, machine):
    facts = gather(*m1(recorded, machine), CACHE)
    assert (facts.name, facts.machine, facts.processor, facts.os_version) == (
        "ada.local",
        "arm64",
        "Apple M1",
        "13.6.1",
    )
    assert (facts.cores, facts.memory) == (8, 16 * 2**30)
    (card,) = facts.accelerators
    assert card.apis == ("metal", "mps", "opencl")
    assert [one.version for one in facts.interpreters] == ["3.8.18"]
    assert facts.fetchable_pythons == ("3.12", "3.9", "3.8-macos-x86_64")


def test_a_mac_without_rosetta_says_how_to_get_it(recorded, machine):
    (lack,) = gather(*m1(recorded, machine), CACHE).lacks
    assert (lack.name, lack.how["macos"]) == ("Rosetta 2", "softwareupdate --install-rosetta")
    runtime = {"/Library/Apple/usr/libexec/oah/libRosettaRuntime": ""}
    assert gather(*m1(recorded, machine, **runtime), CACHE).lacks == ()


def test_the_stub_of_macos_is_never_started(recorded, machine):
    means, around = m1(recorded, machine)
    gather(means, around, CACHE)
    assert not [request for request in means.process.requests if request.argv[0] == "/usr/bin/python3"]


def test_old_macos_has_metal_but_no_mps(recorded, machine):
    means, around = m1(recorded, machine)
    means.process.answers["sw_vers", "-productVersion"] = "12.2.1\n"
    (card,) = gather(means, around, CACHE).accelerators
    assert card.apis == ("metal", "opencl")


def linux(recorded, machine, outputs=(), files=(), environment=()):
    return machine(
        files={
            "/etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="24.04"\n',
            "/proc/cpuinfo": recorded("cpuinfo-x86_64.txt"),
            "/proc/meminfo": "MemTotal:       65741640 kB\nMemFree:  1 kB\n",
            **dict(files),
        },
        outputs={
            "uname -m": "x86_64\n",
            "uname -n": "tower\n",
            "getconf GNU_LIBC_VERSION": "glibc 2.39\n",
            **dict(outputs),
        },
        environment=environment,
    )


def test_linux_with_a_card_and_its_driver(recorded, machine):
    outputs = {
        "nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap": "RTX 3090, 550.120, 24576, 8.6\n",
        "nvidia-smi": recorded("nvidia-smi.txt"),
        "lspci -mm": recorded("lspci.txt"),
    }
    facts = gather(*linux(recorded, machine, outputs), CACHE)
    assert (facts.libc, facts.os_version, facts.memory) == ("glibc 2.39", "Ubuntu 24.04", 65741640 * 1024)
    assert (facts.accelerators[0].name, facts.accelerators[0].apis) == ("RTX 3090", ("cuda",))
    assert [card.vendor for card in facts.accelerators] == ["NVIDIA", "Intel", "AMD"]
    (driver,) = facts.drivers
    assert (driver.version, driver.detail) == ("550.120", "CUDA 12.4")


def test_a_card_without_a_driver_is_a_lack(recorded, machine):
    files = {
        "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
        "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
        "/sys/bus/pci/devices/0000:01:00.0/device": "0x2204\n",
        "/sys/bus/pci/devices/0000:02:00.0/class": "0x020000\n",
        "/sys/bus/pci/devices/0000:02:00.0/vendor": "0x8086\n",
        "/sys/bus/pci/devices/0000:02:00.0/device": "0x1539\n",
    }
    facts = gather(*linux(recorded, machine, files=files), CACHE)
    (card,) = facts.accelerators
    assert card.name == "NVIDIA 10de:2204"
    assert [lack.name for lack in facts.lacks] == ["NVIDIA driver"]


def test_a_loaded_module_without_nvidia_smi_is_no_usable_driver(recorded, machine):
    files = {
        "/proc/driver/nvidia/version": recorded("nvidia-kernel.txt"),
        "/proc/driver/nvidia/gpus/0000:01:00.0/information": recorded("nvidia-card.txt"),
    }
    facts = gather(*linux(recorded, machine, files=files), CACHE)
    assert [(driver.version, driver.usable) for driver in facts.drivers] == [("535.154.05", False)]
    assert [lack.name for lack in facts.lacks] == ["NVIDIA driver"]


POCL = {"/etc/OpenCL/vendors/pocl.icd": "libpocl.so.2.10.0\n"}


def test_opencl_without_the_unversioned_name_is_a_lack(recorded, machine):
    outputs = {"ldconfig -p": recorded("ldconfig.txt"), "clinfo --raw": recorded("clinfo-pocl.txt")}
    facts = gather(*linux(recorded, machine, outputs, POCL), CACHE)
    assert [(driver.name, driver.usable) for driver in facts.drivers] == [("pocl.icd", True), ("libOpenCL.so.1", True)]
    (lack,) = facts.lacks
    assert (lack.name, lack.how) == ("libOpenCL.so", {"debian": "apt-get install ocl-icd-opencl-dev"})
    assert [(device.kind, device.apis) for device in facts.accelerators] == [("cpu", ("opencl",))]


def test_a_link_on_the_library_path_is_found(recorded, machine):
    outputs = {"ldconfig -p": recorded("ldconfig.txt")}
    files = {**POCL, "/home/ada/lib/libOpenCL.so": "the loader"}
    facts = gather(*linux(recorded, machine, outputs, files, {"LD_LIBRARY_PATH": "/home/ada/lib"}), CACHE)
    assert facts.drivers[-1].path == "/home/ada/lib/libOpenCL.so"
    assert facts.lacks == ()


def test_a_driver_file_that_names_nothing_is_a_lack(recorded, machine):
    facts = gather(*linux(recorded, machine, {"ldconfig -p": ""}, POCL), CACHE)
    assert [lack.name for lack in facts.lacks] == ["libpocl.so.2.10.0", "libOpenCL.so.1"]


def test_ocl_icd_vendors_moves_the_drivers(recorded, machine):
    files = {**POCL, "/opt/icd/mine.icd": "/opt/icd/libmine.so", "/opt/icd/libmine.so": "elf"}
    facts = gather(*linux(recorded, machine, (), files, {"OCL_ICD_VENDORS": "/opt/icd"}), CACHE)
    assert [(driver.name, driver.usable) for driver in facts.drivers] == [("mine.icd", True)]


def test_a_card_is_reached_through_opencl_where_its_makers_driver_is(recorded, machine):
    files = {"/etc/OpenCL/vendors/nvidia.icd": "libpocl.so.2.10.0\n"}
    outputs = {"ldconfig -p": recorded("ldconfig.txt"), "lspci -mm": recorded("lspci.txt")}
    facts = gather(*linux(recorded, machine, outputs, files), CACHE)
    assert {card.vendor: "opencl" in card.apis for card in facts.accelerators} == {
        "Intel": False,
        "NVIDIA": True,
        "AMD": False,
    }


def test_windows(recorded, machine):
    python = r"C:\Program Files\Python38\python.exe"
    means, around = machine(
        "windows",
        files={python: "3.8", "C:\\Windows/System32/OpenCL.dll": "", "C:\\tools/git.exe": ""},
        outputs={
            "powershell": recorded("windows.json"),
            "reg query": recorded("registry.txt"),
            "py -0p": recorded("py-launcher.txt"),
        },
        environment={"SYSTEMROOT": "C:\\Windows", "COMPUTERNAME": "ADA-PC", "PATH": "C:\\tools"},
    )
    answer = reporting(system="win32", arch="x86_64", executable=python, version="3.8.10")
    means.process.answers[(python,)] = answer(means)
    facts = gather(means, around, CACHE)
    assert (facts.name, facts.machine, facts.cores) == ("ADA-PC", "x86_64", 20)
    assert [(one.version, one.source, one.system) for one in facts.interpreters] == [
        ("3.8.10", "py-launcher", "windows")
    ]
    assert [driver.name for driver in facts.drivers] == ["nvopencl64.dll", "OpenCL.dll"]
    assert all("opencl" in card.apis for card in facts.accelerators)
    assert facts.tools == {"git": "C:\\tools/git.exe"}


def test_a_machine_that_tells_nothing_is_gathered_all_the_same(machine):
    facts = gather(*machine(), CACHE)
    assert (facts.interpreters, facts.accelerators, facts.fetchable_pythons) == ((), (), ())


def test_no_credential_gets_into_the_facts(recorded, machine):
    environment = {"PIP_EXTRA_INDEX_URL": "https://ada:s3cret@mirror.example/simple", "HTTPS_PROXY": "ada:s3cret@p:1"}
    facts = gather(*linux(recorded, machine, environment=environment), CACHE)
    assert facts.settings.extra_index_urls == ("https://mirror.example/simple",)
    assert "s3cret" not in facts.model_dump_json()


def test_a_broken_pip_configuration_is_told_and_stops_nothing(recorded, machine):
    facts = gather(*linux(recorded, machine, files={"/etc/pip.conf": "index-url = x\n"}), CACHE)
    (lack,) = facts.lacks
    assert lack.need == "setting"
    assert "/etc/pip.conf" in lack.name


def test_forbidden_downloads_leave_nothing_to_fetch(recorded, machine):
    outputs = {"uv python list": recorded("uv-downloads.json")}
    means, around = machine(outputs={"uname -m": "x86_64", **outputs}, downloads=False)
    assert gather(means, around, CACHE).fetchable_pythons == ()
