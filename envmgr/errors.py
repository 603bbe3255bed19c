"""One tree of errors: what failed on which thing, why (wanted / found), what to do next."""

from __future__ import annotations

from typing import ClassVar, Self


class EnvmgrError(Exception):
    """Tells that envmgr cannot proceed, in three parts that survive pickling.

    `what` names the thing that failed, `why` what was wanted and what was found, `hint` the next step. `lacks` is the
    requirement or the file that cannot be had, where it is that.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, why: str = "", hint: str = "") -> None:
        super().__init__(what, why, hint)
        self.what = what
        self.why = why
        self.hint = hint
        self.lacks = ""

    def lacking(self, name: str) -> Self:
        """Return the error with what cannot be had."""
        self.lacks = name
        return self

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.why, self.hint) if part)


class UsageError(EnvmgrError):
    """The command line asks for something that makes no sense."""

    code = "usage"
    exit_code = 2


class ManifestError(EnvmgrError):
    """A manifest, matrix or project is not what it must be; the message names file and line where there is one."""

    code = "manifest"
    exit_code = 2


class LockError(EnvmgrError):
    """A lock is stale, damaged or lacks a hash."""

    code = "lock"


class ResolveError(EnvmgrError):
    """No set of distributions meets the manifest, or its index does not answer.

    `answered` tells that the indexes did answer and do not have it, `silent` that one does not answer at all; `gone`
    that they had it before. `of_python` tells that it may be another with another Python.
    """

    code = "resolve"

    def __init__(
        self,
        what: str,
        why: str = "",
        hint: str = "",
        *,
        answered: bool = False,
        gone: bool = False,
        silent: bool = False,
    ) -> None:
        super().__init__(what, why, hint)
        self.of_python = False
        self.answered = answered
        self.gone = gone
        self.silent = silent


class HostError(EnvmgrError):
    """This host cannot have what the manifest asks for."""

    code = "host"


class BuildError(EnvmgrError):
    """An environment could not be created or filled.

    `phase` is the step in which it stopped; `gone` tells that an artefact has left its index.
    """

    code = "build"

    def __init__(self, what: str, why: str = "", hint: str = "", *, phase: str = "build", gone: bool = False) -> None:
        super().__init__(what, why, hint)
        self.phase = phase
        self.gone = gone


class StoreError(EnvmgrError):
    """A stored run or result is missing or damaged."""

    code = "store"
    exit_code = 2


class FolderError(EnvmgrError):
    """A folder that envmgr writes in is read-only, forbidden or full."""

    code = "folder"


class FleetError(EnvmgrError):
    """The fleet cannot be reached, does not fit together, or has lost its scheduler."""

    code = "fleet"


class NothingSelectedError(EnvmgrError):
    """The selection is empty: there is nothing to do."""

    code = "nothing-selected"
    exit_code = 4


class InferError(EnvmgrError):
    """Nothing can be found in which a script works: it is no Python 3, or nothing that it needs can be had."""

    code = "infer"
