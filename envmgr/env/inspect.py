"""Asks an env's own interpreter what is really in it."""

from __future__ import annotations

from pathlib import Path

from packaging.utils import canonicalize_name
from pydantic import Field, ValidationError

from envmgr.env.inside import ask_inside
from envmgr.errors import BuildError
from envmgr.model.env import InstalledDistribution
from envmgr.model.noun import Noun
from envmgr.ports import Files, Process


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

    Raises BuildError when the interpreter cannot tell.
    """
    return inspect_with_report(python, process, files, deep=deep)[0]


def inspect_with_report(python: Path, process: Process, files: Files, *, deep: bool = False) -> tuple[Inspection, str]:
    """Return what is in the env of an interpreter, and the report itself that told it; raises BuildError."""
    text, completed = ask_inside(python, process, files, deep=deep)
    if text is None:
        ending = completed.stderr.strip().splitlines()[-1:] or [_ending(completed.exit_code, completed.signal)]
        raise BuildError(
            f"{python} cannot tell what is installed beside it",
            f"wanted a list of its distributions; found: {ending[0]}",
            "build the environment again",
            phase="verify",
        )
    try:
        return Inspection.model_validate_json(text), text
    except ValidationError as error:
        raise BuildError(
            f"{python} tells something unreadable of what is installed beside it",
            f"wanted a report of envmgr's own probe; found: {error.errors()[0]['msg']}",
            "build the environment again",
            phase="verify",
        ) from error


def _ending(exit_code: int | None, signal: int | None) -> str:
    return f"it ended with signal {signal}" if signal is not None else f"it ended with exit code {exit_code}"
