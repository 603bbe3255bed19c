"""Devices: an operating system or driver too old for them, a build without them, and numbers that are wrong on one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.diagnose.records.architecture import native_python, translated_facts
from envmgr.diagnose.records.record import Judgement, Record, older
from envmgr.model.finding import Cause, Fix, HostAdvice, Variables
from envmgr.model.outcome import Phase

_MINIMUM_OS = re.compile(r"supported on mac ?os (\d+(?:\.\d+)*)\+?|requires mac ?os (\d+(?:\.\d+)*)", re.IGNORECASE)
_KERNEL = re.compile(r"no kernel image is available|is not compatible with the current PyTorch", re.IGNORECASE)
_NO_OPERATOR = re.compile(r"The operator '([\w:.]+)' is not currently implemented for the (\w+) device", re.IGNORECASE)
_NOT_COMPILED = re.compile(r"not compiled with (CUDA|MPS|ROCm)|built without (CUDA|GPU) support", re.IGNORECASE)
_DRIVER_OLD = re.compile(
    r"driver (?:version )?(?:on your system )?is (?:too old|insufficient)|forward compatibility was "
    r"attempted",
    re.IGNORECASE,
)
_NOT_AVAILABLE = re.compile(
    r"(cuda|mps|hip)\.is_available\(\)[^\n]*\n[^\n]*False|No CUDA GPUs are available", re.IGNORECASE
)
_LOSS = re.compile(r"loss: (-?(?:\d[\d.e+]*|inf|nan))", re.IGNORECASE)
_DEVICE = re.compile(r"\b((?:opencl|metal|llvm|cuda)_\w+\.\d+)\b")
_CAPABILITY_SINCE = (
    ("sm_100", "12.8", "cu128", "2.7"),
    ("sm_120", "12.8", "cu128", "2.7"),
    ("sm_90", "11.8", "cu118", "2.0"),
    ("sm_89", "11.8", "cu118", "2.0"),
    ("sm_86", "11.1", "cu111", "1.8"),
)


def judge(record: Record) -> Iterator[Judgement]:
    """Accuse the system, the driver, the interpreter, the build or the device."""
    yield from _minimum_os(record)
    yield from _capability(record)
    yield from _operators(record)
    yield from _build_without(record)
    yield from _wrong_numbers(record)


def _minimum_os(record: Record) -> Iterator[Judgement]:
    """A message that names a minimum: believe it only where the facts agree."""
    match = _MINIMUM_OS.search(record.text)
    if not match or record.facts.system not in (None, "Darwin"):
        return
    wanted, there = match[1] or match[2], record.facts.os_version
    if there and older(there, wanted):
        why = f"macOS {there} is older than what this device needs ({wanted})"
        fix = Fix(
            host=(HostAdvice(need="os", name="macos", minimum=wanted),),
            program=f"upgrade macOS to {wanted} or later, or run on the CPU",
        )
        facts = (f"os_version: {there}",)
        yield Judgement(
            Cause(kind="platform", name="macos", why=why), 0.95, Phase.BACKEND, fix, f"macOS {wanted} or later", facts
        )
    elif record.translated:
        why = (
            f"macOS {there} is new enough, whatever the message says: the interpreter is an {record.arch} (Intel) one "
            f"that runs translated through Rosetta on an {record.native_arch} machine, and its build has no such device"
        )
        decided = (f"os_version: {there}", *translated_facts(record))
        yield Judgement(
            Cause(kind="python", name=record.arch, why=why), 0.95, Phase.BACKEND, native_python(record), facts=decided
        )
    elif record.arch == "x86_64" or not any("metal" in gpu.api for gpu in record.facts.gpus or ()):
        why = f"macOS {there} is new enough; no processor of this machine ({record.arch}) offers the device"
        yield Judgement(Cause(kind="hardware", name="mps", why=why), 0.7, Phase.BACKEND, impossible=why)


def _capability(record: Record) -> Iterator[Judgement]:
    """A graphics processor for which the build has no code."""
    if not _KERNEL.search(record.text):
        return
    found = re.search(r"capability (sm_\d+)", record.text)
    capability = found[1] if found else ""
    name = "torch" if "torch" in record.names or "PyTorch" in record.text else record.main
    since = next(((cuda, tag, release) for known, cuda, tag, release in _CAPABILITY_SINCE if known == capability), None)
    need = (
        f"a {name} built for CUDA {since[0]} or later ({since[1]}; {since[2]} and up)"
        if since
        else f"a {name} whose list has it"
    )
    why = f"{record.told(name)} has no code for {capability or 'this graphics processor'}; it takes {need}"
    driver = record.facts.drivers.get("cuda", "")
    advice: tuple[HostAdvice, ...] = ()
    if since and driver and older(driver, since[0]):
        advice = (HostAdvice(need="driver", name="nvidia", minimum=f"CUDA {since[0]}"),)
    fix = Fix(program=f"install {need}", host=advice)
    facts = tuple(f"gpu: {gpu.name}" for gpu in record.facts.gpus or ())
    yield Judgement(Cause(kind="package", name=name, why=why), 0.9, Phase.RUN, fix, facts=facts)


def _operators(record: Record) -> Iterator[Judgement]:
    match = _NO_OPERATOR.search(record.text)
    if not match:
        return
    name = "torch" if "torch" in record.names else record.main
    variable = re.search(r"`?(PYTORCH_\w+)=(\w+)", record.text)
    why = f"{record.told(name)} has no {match[2]} kernel for {match[1]}; a newer release may have it"
    variables = Variables(set={variable[1]: variable[2]}) if variable else None
    fix = Fix(
        env=variables, program=f"take a newer {name}, or let this operator run on the CPU, set before Python starts"
    )
    yield Judgement(Cause(kind="package", name=name, why=why), 0.9, Phase.RUN, fix)


def _build_without(record: Record) -> Iterator[Judgement]:
    """A device that is not offered: no such processor, a build without it, or a driver too old, as the facts say."""
    gpus = record.facts.gpus
    nvidia = any("nvidia" in gpu.vendor.lower() or "cuda" in gpu.api for gpu in gpus or ())
    name = next((n for n in record.names if n in {"torch", "tensorflow", "jax", "jaxlib"}), record.main)
    if _DRIVER_OLD.search(record.text):
        driver = record.facts.drivers.get("nvidia", "")
        why = f"NVIDIA's driver {driver} is too old for the CUDA that {record.told(name)} was built with"
        fix = Fix(
            host=(HostAdvice(need="driver", name="nvidia"),),
            program=f"a newer driver, or a {name} built for an older CUDA",
        )
        yield Judgement(
            Cause(kind="hardware", name="driver", why=why), 0.9, Phase.BACKEND, fix, facts=(f"nvidia driver {driver}",)
        )
        return
    if not (_NOT_COMPILED.search(record.text) or _NOT_AVAILABLE.search(record.text)):
        return
    if gpus is not None and not nvidia and record.facts.system != "Darwin":
        why = "no processor of this machine can be reached through CUDA"
        yield Judgement(
            Cause(kind="hardware", name="gpu", why=why), 0.88, Phase.BACKEND, impossible="a GPU that CUDA can use"
        )
    elif record.env.get("CUDA_VISIBLE_DEVICES") in {"-1", "none"}:
        why = "CUDA_VISIBLE_DEVICES hides every GPU"
        fix = Fix(env=Variables(unset=("CUDA_VISIBLE_DEVICES",)))
        yield Judgement(Cause(kind="env-state", name="CUDA_VISIBLE_DEVICES", why=why), 0.9, Phase.BACKEND, fix)
    elif record.translated:
        why = f"the interpreter runs translated (Rosetta, {record.arch}) on an {record.native_arch} machine"
        yield Judgement(Cause(kind="python", name=record.arch, why=why), 0.85, Phase.BACKEND, native_python(record))
    elif nvidia and "nvidia" not in record.facts.drivers and not _NOT_COMPILED.search(record.text):
        why = "there is an NVIDIA GPU, and no driver for it"
        fix = Fix(host=(HostAdvice(need="driver", name="nvidia"),))
        yield Judgement(Cause(kind="hardware", name="driver", why=why), 0.85, Phase.BACKEND, fix)
    else:
        why = f"{record.told(name)} is a build without that device (a CPU build)"
        yield Judgement(
            Cause(kind="package", name=name, why=why),
            0.85,
            Phase.BACKEND,
            Fix(program=f"install the GPU build of {name}"),
        )


def _wrong_numbers(record: Record) -> Iterator[Judgement]:
    """Losses that cannot be: below nought, infinite or no numbers, on a device that another one contradicts."""
    values = [value.lower() for value in _LOSS.findall(record.text)]
    wrong = [value for value in values if value.startswith("-") or value in {"nan", "inf"}]
    if not wrong or len(wrong) * 3 < len(values):
        return
    devices = list(dict.fromkeys(_DEVICE.findall(record.text)))
    used = record.env.get("PLAIDML_DEVICE_IDS") or (devices[0] if devices else "")
    others = [device for device in devices if device != used]
    api = used.split("_", maxsplit=1)[0] if used else "the device"
    why = (
        f"{used or api} computes wrong numbers here (loss {wrong[0]}): its {api} driver, the "
        "hardware or this build is at fault"
    )
    better = [device for device in others if device.startswith("metal")] + [d for d in others if d.startswith("llvm")]
    variables = (
        Variables(set={"PLAIDML_DEVICE_IDS": better[0]}) if better and "PLAIDML_DEVICE_IDS" in record.env else None
    )
    fix = Fix(
        env=variables,
        program=(
            f"choose another device ({', '.join(better or others) or 'metal or llvm_cpu'}) and "
            "check parity with a reference"
        ),
    )
    yield Judgement(Cause(kind="hardware", name=used or api, why=why), 0.85, Phase.CHECK, fix)
