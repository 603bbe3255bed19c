"""What an installer's output says went wrong: wanted, found, what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from envmgr.errors import BuildError
from envmgr.model.outcome import Phase
from envmgr.model.redaction import redact

_TAIL = 12


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an installation stopped, in the three parts of an error, and what cannot be had."""

    what: str
    why: str
    hint: str
    phase: Phase
    gone: bool = False
    lacks: str = ""

    def error(self) -> BuildError:
        """Return the error to raise."""
        return BuildError(self.what, self.why, self.hint, phase=self.phase.value, gone=self.gone).lacking(self.lacks)


NO_SPACE = r"No space left on device|os error (?:28|112)\b|not enough space on the disk"
"""What uv, pip and the systems say where a disk is full; case does not matter."""


def interpret(output: str, index: str = "the default index") -> Trouble:
    """Return what an installer's output says went wrong; unknown words are quoted as they are."""
    text = redact(output)
    for rule in _RULES:
        trouble = rule(text, index)
        if trouble:
            return trouble
    return Trouble(
        "the installation failed",
        f"wanted every distribution of the lock; the installer says:\n{_tail(text)}",
        "look at the log of this build for the whole text",
        Phase.INSTALL,
    )


def _no_space(text: str, _: str) -> Trouble | None:
    if not re.search(NO_SPACE, text, re.IGNORECASE):
        return None
    place = re.search(r"(?:write to file|copy to|create (?:file|directory)) `([^`]+)`", text)
    where = f" for {place[1]}" if place else ""
    return Trouble(
        "there is no space left on the disk",
        f"wanted room{where}; found none",
        "free some, for instance with `envmgr clean --dry-run` and `envmgr clean`",
        Phase.INSTALL,
    )


def _hash_mismatch(text: str, index: str) -> Trouble | None:
    found = re.search(r"Hash mismatch for `([^`]+)`(.*)", text, re.DOTALL)
    if not found:
        return None
    wanted, _, computed = found[2].partition("Computed:")
    hashes = r"sha256:[0-9a-f]{64}"
    return Trouble(
        f"{found[1]} is not what the lock names",
        f"wanted {_list(re.findall(hashes, wanted))}; found {_list(re.findall(hashes, computed))} at {index}",
        "if the artefact changed for a good reason, renew the lock (`envmgr lock NAME`); else do not trust this index",
        Phase.DOWNLOAD,
    )


def _build_requirement(text: str, index: str) -> Trouble | None:
    failed = re.search(r"Failed to (?:download and )?build `([^`]+)`", text)
    if not failed or "requirements from `build-system.requires`" not in text:
        return None
    causes = _causes(text)
    return Trouble(
        f"the build requirements of {failed[1]} cannot be had",
        f"wanted what its source distribution declares, from {index}; found: {causes[-1] if causes else _tail(text)}",
        "pin them with build-constraints in the manifest and renew its lock",
        Phase.BUILD,
    )


def _source_build(text: str, _: str) -> Trouble | None:
    failed = re.search(r"Failed to (?:download and )?build `([^`]+)`", text)
    if not failed:
        return None
    _, marker, details = text.partition("[stderr]")
    if not marker:
        details = text
    details = details.partition("\nhint:")[0]
    module = re.search(r"No module named '([^']+)'", details)
    name = failed[1].partition("==")[0]
    hint = (
        f'if it needs {module[1]} to build without saying so: [build-requires] {name} = ["{module[1]}"] in the manifest'
        if module
        else "install what its build asks for (a compiler, headers), or choose a version with a wheel for this Python"
    )
    return Trouble(
        f"{failed[1]} could not be built from its source distribution",
        f"wanted a wheel; its build ended with:\n{_tail(details)}",
        hint,
        Phase.BUILD,
    )


def _offline(text: str, _: str) -> Trouble | None:
    if "Network connectivity is disabled" not in text and "network was disabled" not in text:
        return None
    named = re.search(r"Failed to (?:download|fetch)[^`]*`([^`]+)`", text)
    subject = named[1] if named else "something that the lock names"
    return Trouble(
        f"{subject} is not in the cache",
        "wanted it without the network (--offline); found nothing",
        "build once without --offline",
        Phase.DOWNLOAD,
    )


def _gone_file(text: str, index: str) -> Trouble | None:
    if not re.search(r"status client error \((404|410)", text):
        return None
    named = re.search(r"Failed to (?:download|fetch)[^`]*`([^`]+)`", text)
    place = re.search(r"for url \(([^)]+)\)", text)
    return Trouble(
        f"{named[1] if named else 'an artefact'} has left {index}",
        f"wanted {place[1] if place else 'its file'}; the index answers: not found",
        "renew the lock (`envmgr lock NAME`), or name an index that still has it",
        Phase.DOWNLOAD,
        gone=True,
        lacks=named[1] if named else "",
    )


def _no_answer(text: str, _: str) -> Trouble | None:
    failed = re.search(r"Failed to fetch: `?([^`\s]+)", text) or re.search(r"for url \(([^)]+)\)", text)
    telling = re.search(
        r"Request failed after|error sending request|client error \(Connect\)|dns error|timed out|"
        r"status (?:client|server) error",
        text,
    )
    if not failed or not telling:
        return None
    causes = _causes(text)
    return Trouble(
        f"the index does not answer: {failed[1]}",
        f"wanted its page; found: {causes[-1] if causes else _tail(text)}",
        "check the address, the proxy and the certificate, or name a mirror in pip's or uv's configuration",
        Phase.DOWNLOAD,
    )


def _no_wheel(text: str, index: str) -> Trouble | None:
    flat = " ".join(text.split())
    found = re.search(
        r"(?:Because|and|that) (\S+==\S+) has no (?:usable wheels|wheels with a matching [^,]*?|source distribution)"
        r"(?= and |,|$| \()",
        flat,
    )
    if not found:
        return None
    offered = re.search(r"Wheels are available for .*? on the following [^:]*: (.*?)(?:\. |$| hint:)", flat)
    why = f"there are wheels for {offered[1]}" if offered else f"{index} has only its source distribution, or none"
    return Trouble(
        f"{found[1]} has no wheel for this Python and platform",
        f"wanted one that the lock admits; {why}",
        "choose another Python or platform, or admit its source distribution with allow-source in the manifest",
        Phase.DOWNLOAD,
    )


def _gone_version(text: str, index: str) -> Trouble | None:
    flat = " ".join(text.split())
    found = re.search(r"Because there (?:is|are) no version[s]? of (\S+?==[^\s,]+)", flat)
    missing = re.search(
        r"Because (\S+) was not found in the (?:package registry|cache|provided package locations)", flat
    )
    if not found and not missing:
        return None
    subject = found[1] if found else missing[1] if missing else ""
    return Trouble(
        f"{subject} is not at {index}",
        "wanted the version that the lock names; the index does not list it",
        "renew the lock (`envmgr lock NAME`), or name an index or a wheel folder that has it",
        Phase.DOWNLOAD,
        gone=True,
        lacks=subject,
    )


_RULES: tuple[Callable[[str, str], Trouble | None], ...] = (
    _no_space,
    _hash_mismatch,
    _offline,
    _build_requirement,
    _source_build,
    _gone_file,
    _no_answer,
    _no_wheel,
    _gone_version,
)
"""The most telling first: a full disk explains every other symptom."""


def _causes(text: str) -> list[str]:
    return [line.strip() for line in re.findall(r"^\s*(?:cause:|Caused by:|[├╰]─▶)\s*(.+)$", text, re.MULTILINE)]


def _list(hashes: list[str]) -> str:
    return " or ".join(hashes) if hashes else "no hash"


def _tail(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL:])
