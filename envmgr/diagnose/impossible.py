"""What nothing on this machine can mend, told early, so that no budget is burnt on it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from envmgr.diagnose.situation import Situation
from envmgr.model.finding import Cause, HostAdvice
from envmgr.model.syntax import parsed

_OF_A_DRIVER = re.compile(
    r"lib(?:nvidia-ml|cuda)\.so|nvcuda\.dll|nvml[^\n]*(?:not found|not be found)|no cuda-capable device"
    r"|found no nvidia driver",
    re.IGNORECASE,
)
_OF_A_TOOLKIT = re.compile(
    r"CUDA_HOME (?:environment variable )?is not set|nvcc(?:'|\b)[^\n]*(?:not found|no such file)"
    r"|cuda (?:toolkit|installation)[^\n]*not",
    re.IGNORECASE,
)
_OF_A_BUILD = re.compile(
    r"(?:not (?:been )?(?:compiled|built)|built without)[^\n]{0,40}?\b(?:CUDA|GPU|ROCm|MPS)\b", re.IGNORECASE
)
_ACCELERATOR = re.compile(r"(?<![a-z])(?:gpu|cuda|mps|metal|rocm|tpu)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Impossible:
    """What is lacking: the cause, in words, and the advice."""

    cause: Cause
    lacking: str
    advice: tuple[HostAdvice, ...] = ()


def impossible_here(situation: Situation) -> Impossible | None:
    """Return what this machine lacks for what is asked, or None if something may still help."""
    if situation.host.accelerators:
        return None
    text = situation.reading.text
    driver, toolkit = _OF_A_DRIVER.search(text), _OF_A_TOOLKIT.search(text)
    if driver or toolkit:
        found = driver or toolkit
        quoted = found[0] if found else ""
        return _lacking(situation, f"it needs a GPU with its driver and toolkit ({quoted}), and there is none here")
    build, asked = _OF_A_BUILD.search(situation.reading.message), _ACCELERATOR.search(situation.probe)
    if build and asked:
        return _lacking(situation, f"the probe asks for {asked[0]} ({build[0]}), and this machine has no such device")
    wanted = _asserted(situation.probe)
    if wanted and (situation.seen.phase == "check" or not situation.seen.built):
        return _lacking(situation, f"the check asks for {wanted}, and this machine has no such device")
    return None


def _lacking(situation: Situation, why: str) -> Impossible:
    cause = Cause(kind="hardware", name="gpu", why=why)
    host = situation.host
    lacking = f"a GPU that this library can use; {host.system} {host.machine} here has none"
    return Impossible(cause, lacking, (HostAdvice(need="hardware", name="gpu"),))


def _asserted(probe: str) -> str:
    """Return the kind of accelerator that an assertion of the probe names, or empty."""
    try:
        tree = parsed(probe)
    except (SyntaxError, ValueError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            found = _ACCELERATOR.search(ast.unparse(node.test))
            if found:
                return found[0]
    return ""
