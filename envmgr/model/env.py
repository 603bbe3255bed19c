"""An environment: what it is made of, what is really in it, which devices its backend lists."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.finding import Finding
from envmgr.model.host import Interpreter, Lack
from envmgr.model.noun import Noun
from envmgr.model.outcome import Phase
from envmgr.model.sharing import Sharing


class InstalledDistribution(Noun):
    """One distribution found in an env's site-packages."""

    name: str
    version: str
    installer: str = ""
    requires: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    direct_url: str = ""


class StepState(Noun):
    """What one step of a history asked for and what was really there after it."""

    number: int
    asked: str
    installer: str
    exit_code: int
    resolved: dict[str, str]
    mismatches: tuple[str, ...] = ()
    log: str = ""


class Env(Noun):
    """A built environment, as its completion marker describes it.

    `path` is its folder, `python` its interpreter's path, `key` the digest that identifies it. `sharing` tells how its
    files share their bytes with uv's cache, and through it with other envs, and `sharing_why` why not better: a `clone`
    and a `copy` may be written to, a `hardlink` may not.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    key: str
    manifest: str
    variant: str
    path: str
    python: str
    interpreter: Interpreter
    lock_digest: str
    resolved: dict[str, str]
    steps: tuple[StepState, ...] = ()
    built_at: str = ""
    seconds: float = 0.0
    sharing: Sharing = "copy"
    sharing_why: str = ""

    @property
    def linked(self) -> bool:
        """True when a write into its files would reach other envs."""
        return self.sharing == "hardlink"


class Device(Noun):
    """A place where a backend computes: `id` as the backend names it, the `api`, and the `physical` thing behind it.

    `experimental` tells that the backend lists it only when asked for experimental devices; `valid` is False where the
    backend knows the device but will not open it.
    """

    id: str
    api: str
    physical: str = ""
    experimental: bool = False
    valid: bool = True
    detail: str = ""


class DeviceListing(Noun):
    """What a backend says in an env: its real name and version, the devices, and what is amiss.

    `kinds` are the device types that this build knows at all (`cpu`, `cuda`, `mps`). `built` tells for an API whether
    the build has it, `available` whether it works here; `error` is set when the probe failed.
    """

    backend: str
    version: str = ""
    devices: tuple[Device, ...] = ()
    kinds: tuple[str, ...] = ()
    built: dict[str, bool] = Field(default_factory=dict)
    available: dict[str, bool] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)
    facts: dict[str, str] = Field(default_factory=dict)
    error: str = ""
    error_phase: Phase | None = None


class Check(Noun):
    """One thing that `verify` looked at; `lacks` says what the host would need."""

    name: str
    passed: bool
    subject: str = ""
    wanted: str = ""
    found: str = ""
    hint: str = ""
    lacks: tuple[Lack, ...] = ()


class Verification(Noun):
    """All that `verify` found in one env; `finding` tells why it is not what was asked for, if it is not."""

    manifest: str
    variant: str
    checks: tuple[Check, ...]
    devices: DeviceListing | None = None
    finding: Finding | None = None

    @property
    def passed(self) -> bool:
        """True when every check passed."""
        return all(check.passed for check in self.checks)
