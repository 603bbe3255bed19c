"""Two environments, locks, runs or hosts side by side: what is told of each, and what differs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.noun import Noun

SideKind = Literal["env", "lock", "run", "cell", "host", "freeze"]
DifferenceKind = Literal[
    "version-set", "interpreter", "platform", "distribution", "artefact", "content", "variable", "device", "parameter",
    "host",
]  # fmt: skip


class Portrait(Noun):
    """What is known of one side, as plain names and values; a part that is None is not told there.

    `scope` names the version set where a run has several. `artefacts` are the hashes that a lock admits, `contents` a
    digest of the files that are installed, both by distribution. `asked` are the distributions asked for by name,
    `suspects` those in which something failed.
    """

    kind: SideKind
    label: str
    scope: str = ""
    interpreter: dict[str, str] | None = None
    platform: str | None = None
    distributions: dict[str, str] | None = None
    artefacts: dict[str, tuple[str, ...]] | None = None
    contents: dict[str, str] | None = None
    variables: dict[str, str] | None = None
    devices: dict[str, str] | None = None
    parameters: dict[str, str] | None = None
    host: dict[str, str] | None = None
    asked: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()


class Difference(Noun):
    """One thing that is not the same; a value is empty where the thing is not there.

    `telling` marks what can matter first, and `why` says how it can.
    """

    kind: DifferenceKind
    name: str
    first: str = ""
    second: str = ""
    scope: str = ""
    telling: bool = False
    why: str = ""


class Differences(Noun):
    """What differs between two sides, the most telling first.

    `not_compared` names the parts that only one of them tells.
    """

    first: str
    second: str
    differences: tuple[Difference, ...] = ()
    compared: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = Field(default=())
