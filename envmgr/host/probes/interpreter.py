"""Tell what the interpreter that runs this file is: `python interpreter.py REPORT` writes a JSON object to REPORT.

Stand-alone: the standard library of Python 3.6 only. Older Pythons parse it, say their version on stderr and leave
with exit code 66.
"""

# mypy: ignore-errors
# No annotations: this file is read by Pythons as old as 2.7.

import sys

TOO_OLD = 66

if sys.version_info < (3, 6):
    sys.stderr.write("Python %d.%d.%d is too old: 3.6 or newer is needed\n" % tuple(sys.version_info[:3]))
    sys.exit(TOO_OLD)

sys.path[:] = [entry for entry in sys.path if entry and not entry.endswith("probes")]

import json  # noqa: E402 - the version is checked first
import os  # noqa: E402 - the version is checked first
import struct  # noqa: E402 - the version is checked first
import sysconfig  # noqa: E402 - the version is checked first


def full_version():
    info = sys.version_info
    level = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(info.releaselevel, "")
    suffix = "%s%d" % (level, info.serial) if level else ""
    return "%d.%d.%d%s" % (info.major, info.minor, info.micro, suffix)


def own_machine():
    """The architecture that this process computes with, as wheels name it.

    A universal build on macOS runs as one of its halves, and what the tag says of it depends on ARCHFLAGS.
    """
    platform_tag = sysconfig.get_platform().lower()
    if platform_tag.startswith("win"):
        machine = {"win32": "x86", "win-amd64": "x86_64", "win-arm64": "arm64"}.get(platform_tag, platform_tag)
    elif platform_tag.startswith("macosx"):
        machine = os.uname()[4]
    else:
        machine = platform_tag.rsplit("-", 1)[-1]
    if struct.calcsize("P") == 4:
        machine = {"x86_64": "x86", "amd64": "x86", "i686": "x86", "aarch64": "armv7l"}.get(machine, machine)
    return machine


def translated_on_macos():
    import ctypes

    value = ctypes.c_int(0)
    size = ctypes.c_size_t(ctypes.sizeof(value))
    failed = ctypes.CDLL(None).sysctlbyname(
        b"sysctl.proc_translated", ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)
    )
    return not failed and value.value == 1


def translated_on_windows():
    import ctypes

    arm64 = 0xAA64
    process, native = ctypes.c_ushort(0), ctypes.c_ushort(0)
    kernel = ctypes.windll.kernel32
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.IsWow64Process2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    good = kernel.IsWow64Process2(kernel.GetCurrentProcess(), ctypes.byref(process), ctypes.byref(native))
    return bool(good) and native.value == arm64 and own_machine() != "arm64"


def is_translated():
    try:
        if sys.platform == "darwin":
            return translated_on_macos()
        if sys.platform == "win32":
            return translated_on_windows()
    except Exception:
        return False
    return False


def own_libc():
    if not sys.platform.startswith("linux"):
        return ""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION")
        if text:
            return text
    except (ValueError, OSError):
        pass
    return "musl" if "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")) else ""


def is_virtual(executable):
    """True for an environment made by venv or virtualenv, the old ones included."""
    if hasattr(sys, "real_prefix"):
        return True
    folder = os.path.dirname(executable)
    parents = (folder, os.path.dirname(folder))
    if any(os.path.isfile(os.path.join(parent, "pyvenv.cfg")) for parent in parents):
        return True
    return os.path.isfile(os.path.join(os.path.dirname(os.__file__), "orig-prefix.txt"))


def flags():
    own = getattr(sys, "abiflags", "")
    if sysconfig.get_config_var("Py_GIL_DISABLED") and "t" not in own:
        own += "t"
    return own


def real_executable():
    """The file behind links; the Windows store's aliases stay, as what they point to cannot be started."""
    if "WindowsApps" in sys.executable:
        return sys.executable
    return os.path.realpath(sys.executable)


def describe():
    names = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}
    return {
        "protocol": 1,
        "implementation": names.get(sys.implementation.name, sys.implementation.name),
        "version": full_version(),
        "build": " ".join(sys.version.split()[1:]),
        "system": sys.platform,
        "arch": own_machine(),
        "translated": is_translated(),
        "executable": real_executable(),
        "base_prefix": getattr(sys, "base_prefix", sys.prefix),
        "virtual": is_virtual(sys.executable),
        "abi_flags": flags(),
        "libc": own_libc(),
    }


def main():
    target = sys.argv[1]
    with open(target + ".part", "w") as stream:
        json.dump(describe(), stream)
    os.replace(target + ".part", target)


main()
