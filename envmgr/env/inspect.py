"""Asks an env's own interpreter what is really in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from packaging.utils import canonicalize_name
from pydantic import Field, ValidationError

from envmgr.errors import BuildError
from envmgr.model.env import InstalledDistribution
from envmgr.model.noun import Noun
from envmgr.ports import Files, Process, ProcessRequest

PROBE = Path(__file__).with_name("probes") / "inspect.py"

_SECONDS = 60.0
_SECONDS_DEEP = 1800.0


class OwnedFile(Noun):
    """A file that a distribution's RECORD names."""

    distribution: str
    path: str


class SharedFile(Noun):
    """A file that several distributions claim with different contents: the last one installed won."""

    path: str
    owners: tuple[str, ...]


class Records(Noun):
    """Recorded files against the disk; a deep inspection also compares hashes and looks for files of nobody."""

    checked: int = 0
    changed: tuple[OwnedFile, ...] = ()
    missing: tuple[OwnedFile, ...] = ()
    extra: tuple[str, ...] = ()
    shared: tuple[SharedFile, ...] = ()


class Inspection(Noun):
    """What an env holds: distributions, its interpreter as that sees itself, marker values, import path, files.

    `platform` is `sysconfig`'s name of it (`macosx-11.0-arm64`); `damaged` are metadata folders without a name.
    """

    schema_: int = Field(default=1, alias="schema", serialization_alias="schema")
    prefix: str
    base_prefix: str
    version: str
    machine: str
    platform: str
    markers: dict[str, str]
    import_path: tuple[str, ...]
    records: Records
    distributions: tuple[InstalledDistribution, ...]
    damaged: tuple[str, ...] = ()

    @property
    def resolved(self) -> dict[str, str]:
        """The version of every distribution by its normalised name."""
        return {str(canonicalize_name(each.name)): each.version for each in self.distributions}


def inspect(python: Path, process: Process, files: Files, *, deep: bool = False) -> Inspection:
    """Return what is in the env of an interpreter; `deep` hashes every recorded file.

    Raises BuildError when the interpreter cannot tell. The interpreter sees no variable of the caller, and what the env
    runs at its start can write nowhere, where the system sees to that.
    """
    with files.scratch("inspect") as scratch:
        request, report = scratch / "request.json", scratch / "report.json"
        files.write(request, json.dumps({"deep": deep}), durable=False)
        completed = process.run(
            ProcessRequest(
                (str(python), "-I", "-B", str(PROBE), "--request", str(request), "--report", str(report)),
                cwd=scratch,
                env=_bare_environment(scratch),
                timeout=_SECONDS_DEEP if deep else _SECONDS,
                writable=(scratch, Path("/dev")),
            )
        )
        text = files.read(report)
    if text is None:
        ending = completed.stderr.strip().splitlines()[-1:] or [_ending(completed.exit_code, completed.signal)]
        raise BuildError(
            f"{python} cannot tell what is installed beside it",
            f"wanted a list of its distributions; found: {ending[0]}",
            "build the environment again",
            phase="verify",
        )
    try:
        return Inspection.model_validate_json(text)
    except ValidationError as error:
        raise BuildError(
            f"{python} tells something unreadable of what is installed beside it",
            f"wanted a report of envmgr's own probe; found: {error.errors()[0]['msg']}",
            "build the environment again",
            phase="verify",
        ) from error


def _bare_environment(home: Path) -> Mapping[str, str]:
    """No variable of the caller reaches the probe; Windows starts no Python without its own folder."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "USERPROFILE": str(home),
        "SYSTEMROOT": "C:\\Windows",
        "LC_ALL": "C.UTF-8",
    }


def _ending(exit_code: int | None, signal: int | None) -> str:
    return f"it ended with signal {signal}" if signal is not None else f"it ended with exit code {exit_code}"
