"""Whether a host can have a device of an API at all: pure decisions on facts, each reason with wanted and found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from envmgr.host.match import describe
from envmgr.model.host import Accelerator, Driver, HostFacts, Interpreter

MPS_MACOS = Version("12.3")
MPS_TORCH = Version("1.12")
LOADER = "libOpenCL.so.1"
LINK = "libOpenCL.so"


@dataclass(frozen=True, slots=True)
class _Question:
    facts: HostFacts
    interpreter: Interpreter | None
    resolved: Mapping[str, str]

    def drivers(self, api: str) -> tuple[Driver, ...]:
        return tuple(driver for driver in self.facts.drivers if driver.api == api)

    def cards(self, vendor: str = "") -> tuple[Accelerator, ...]:
        return tuple(card for card in self.facts.accelerators if card.kind == "gpu" and vendor in {"", card.vendor})

    def card_names(self) -> str:
        return ", ".join(card.name for card in self.cards()) or "no GPU"


def device_reason(api: str, facts: HostFacts, interpreter: Interpreter | None, resolved: Mapping[str, str]) -> str:
    """Return why a host cannot have a device of this API, in one sentence with wanted and found; "" when it can.

    `resolved` are the versions in the env, as far as they are known: torch's decides on MPS, PlaidML's presence on
    the library name that OpenCL needs.
    """
    rules: dict[str, Callable[[_Question], str]] = {
        "cpu": lambda _: "",
        "llvm": lambda _: "",
        "mps": _mps,
        "metal": _metal,
        "cuda": _cuda,
        "rocm": _rocm,
        "opencl": _opencl,
    }
    rule = rules.get(api)
    if rule is None:
        asked = f"the API {api}" if api else "a device of this name"
        return f"no rule for {asked}: known are {', '.join(rules)}"
    return rule(_Question(facts, interpreter, resolved))


def at_least(version: str, minimum: Version) -> bool:
    """Tell whether a version as its maker writes it is new enough; an unreadable one is not.

    >>> at_least("12.2.1", Version("12.3"))
    False
    """
    try:
        return Version(version) >= minimum
    except InvalidVersion:
        return False


def _mps(question: _Question) -> str:
    facts, interpreter = question.facts, question.interpreter
    torch = question.resolved.get("torch", "")
    if facts.system != "macos":
        return f"MPS wants macOS on Apple silicon, found {facts.system}-{facts.machine}"
    if facts.machine != "arm64":
        return f"MPS wants Apple silicon, found {facts.processor or facts.machine}"
    if interpreter is not None and interpreter.arch != "arm64":
        return f"MPS wants an arm64 Python, found {describe(interpreter)}"
    if not at_least(facts.os_version, MPS_MACOS):
        return f"MPS wants macOS {MPS_MACOS} or newer, found macOS {facts.os_version}"
    if torch and not at_least(torch.partition("+")[0], MPS_TORCH):
        return f"MPS wants torch {MPS_TORCH} or newer, found torch {torch}"
    return ""


def _metal(question: _Question) -> str:
    if question.facts.system != "macos":
        return f"Metal wants macOS, found {question.facts.system}-{question.facts.machine}"
    if not any("metal" in card.apis for card in question.cards()):
        return f"Metal wants a GPU that macOS drives through Metal, found {question.card_names()}"
    return ""


def _cuda(question: _Question) -> str:
    if question.facts.system == "macos":
        return f"CUDA wants Linux or Windows with an NVIDIA GPU, found macos-{question.facts.machine}"
    if not question.cards("NVIDIA"):
        return f"CUDA wants an NVIDIA GPU, found {question.card_names()}"
    if not any(driver.usable for driver in question.drivers("cuda")):
        broken = next((f"driver {driver.version}: {driver.detail}" for driver in question.drivers("cuda")), "none")
        return f"CUDA wants a working NVIDIA driver, found {broken}"
    return ""


def _rocm(question: _Question) -> str:
    if question.facts.system != "linux":
        return f"ROCm wants Linux with an AMD GPU, found {question.facts.system}-{question.facts.machine}"
    if not question.cards("AMD"):
        return f"ROCm wants an AMD GPU, found {question.card_names()}"
    if not any(driver.usable for driver in question.drivers("rocm")):
        return "ROCm wants its driver and rocminfo that lists the GPU, found none"
    return ""


def _opencl(question: _Question) -> str:
    drivers = question.drivers("opencl")
    names = {driver.name for driver in drivers}
    if question.facts.system == "macos":
        return "" if drivers else "OpenCL wants OpenCL.framework, found none"
    loader = "OpenCL.dll" if question.facts.system == "windows" else LOADER
    icds = [driver for driver in drivers if driver.name not in {loader, LINK}]
    if not icds:
        return "OpenCL wants a driver (an ICD entry), found none"
    if not any(driver.usable for driver in icds):
        missing = ", ".join(f"{driver.name} names {driver.detail}, which is not there" for driver in icds)
        return f"OpenCL wants a driver's library, found that {missing}"
    if loader not in names:
        return f"OpenCL wants the loader {loader}, found {', '.join(sorted(names))}"
    wants_link = question.facts.system == "linux" and {"plaidml", "plaidml-keras"} & set(question.resolved)
    if wants_link and LINK not in names:
        return f"PlaidML's OpenCL wants the library name {LINK}, found {LOADER} alone (ocl-icd-opencl-dev brings it)"
    return ""
