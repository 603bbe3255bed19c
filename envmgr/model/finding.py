"""Why something fails and what makes it work."""

from __future__ import annotations

from typing import Literal

from envmgr.model.noun import Noun
from envmgr.model.outcome import Phase


class Cause(Noun):
    """What is to blame."""

    kind: Literal["package", "python", "platform", "index", "env-state", "missing", "conflict", "hardware", "unknown"]
    name: str
    why: str


class Evidence(Noun):
    """One quoted line and where it stands."""

    quote: str
    where: str


class Finding(Noun):
    """The cause of a failure with its evidence; `next` is the command that would prove it."""

    phase: Phase
    cause: Cause
    causes: tuple[Cause, ...]
    check: str = ""
    evidence: tuple[Evidence, ...] = ()
    confirmed: bool = False
    next: str = ""
