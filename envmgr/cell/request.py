"""What planning is told: targets, runners and devices, all as data that other rooms have gathered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envmgr.model.cell import Further
from envmgr.model.env import Device, DeviceListing
from envmgr.model.lacking import Lacking
from envmgr.model.manifest import Manifest, Matrix
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.platform import Platform


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a cell will not run, known before it is tried."""

    outcome: Outcome
    phase: Phase
    reason: str
    lacking: Lacking | None = None


@dataclass(frozen=True, slots=True)
class RunnerFacts:
    """What planning knows of a runner, from the header of its script.

    `defaults` are its parameters as they are when nothing is given. `neutral` names those that do not change what the
    right answer is (how many batches, which backend): cells that differ in them alone are compared with one another.
    """

    needs_device: bool = True
    defaults: Mapping[str, Any] = field(default_factory=dict)
    neutral: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """One version set in one variant on the host of the plan.

    `refusal` is set when the host cannot have it or its env could not be built. `listing` is what the backend says in
    the built env; without it `assumed` are the devices that the host facts promise.
    """

    manifest: Manifest
    variant: str = "default"
    python: str = ""
    platform: Platform | None = None
    refusal: Refusal | None = None
    listing: DeviceListing | None = None
    assumed: tuple[Device, ...] = ()

    @property
    def label(self) -> str:
        """The version set as a user types it."""
        return self.manifest.name if self.variant == "default" else f"{self.manifest.name}@{self.variant}"


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Everything that a plan depends on.

    `devices` is the user's filter. `matched` and `absent` tell for (label, asked device) which device of the target it
    is, or with which outcome and reason it is not to be had; a pair in neither means nothing to that backend.
    """

    matrix: Matrix
    targets: tuple[TargetFacts, ...]
    host: str
    effort: str
    processes: int = 1
    further: Further | None = None
    runners: Mapping[str, RunnerFacts] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    matched: Mapping[tuple[str, str], Device] = field(default_factory=dict)
    absent: Mapping[tuple[str, str], tuple[Outcome, str]] = field(default_factory=dict)
