"""What is to be measured: one runner in one env on one device with parameters."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from envmgr.model.env import Device
from envmgr.model.lacking import Lacking
from envmgr.model.manifest import Expect
from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.platform import Platform


class Cell(Noun):
    """One cell of a matrix; `id` is a short digest of everything that identifies it.

    A cell that cannot run carries `refusal`, the outcome known at planning time, with `phase` and `reason`, and with
    what is `lacking` where that has a name.
    `group` is equal for cells whose outputs must agree (runner and parameters); `reference_rank` orders the candidates
    for the reference cell of a group, the lowest first; None never serves as one. `memory` bounds a process with all
    that it starts, in bytes.
    """

    id: str
    manifest: str
    variant: str
    platform: Platform | None = None
    python: str = ""
    backend: str | None = None
    runner: str
    device: Device | None = None
    device_asked: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    host: str = ""
    timeout: float = 600.0
    memory: int | None = None
    tolerance: float = 1e-3
    expect: tuple[Expect, ...] = ()
    group: str = ""
    reference_rank: int | None = None
    refusal: Outcome | None = None
    phase: Phase | None = None
    reason: str = ""
    lacking: Lacking | None = None

    @property
    def label(self) -> str:
        """The version set as a user types it: the manifest, and the variant where there are several."""
        return self.manifest if self.variant == "default" else f"{self.manifest}@{self.variant}"

    @property
    def device_name(self) -> str:
        """The device's id, or what was asked for where no such device is; empty for a cell that needs none."""
        return self.device.id if self.device else self.device_asked

    @property
    def api(self) -> str:
        """The device's API; of a device that is not there, the API asked for, if it was not asked for by its id."""
        if self.device:
            return self.device.api
        return "" if {".", ":"} & set(self.device_asked) else self.device_asked

    @property
    def on_processor(self) -> bool:
        """Whether a plain processor computes it: the backend's own cpu, or no device at all."""
        return self.device.api == "cpu" if self.device else not self.device_asked

    @property
    def name(self) -> str:
        """A name to read and to type: `version set/runner/device`; cells that differ in parameters alone share it."""
        return "/".join(part for part in (self.label, self.runner, self.device_name) if part)


class Further(Noun):
    """How far cells are measured beyond the processes that each gets, when their values scatter too much.

    Further rounds follow, up to `processes` in all, until a comparison would show a change of the share `shows`; a cell
    takes part while its processes, at the time that the first ones took, come to at most `seconds`.
    """

    processes: int
    shows: float
    seconds: float


class Plan(Noun):
    """The cells of one matrix on one host, in the order in which they are measured.

    Each gets `processes`, and with `further` perhaps more.
    """

    matrix: str
    effort: str
    processes: int
    further: Further | None = None
    host: str
    cells: tuple[Cell, ...]
