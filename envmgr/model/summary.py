"""What the processes of one cell say together, in a few robust numbers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.noun import Noun

MarkKind = Literal["busy", "throttled", "memory", "stolen", "unsteady", "rebuilt"]


class Mark(Noun):
    """Something under which a cell was measured and that makes its figures doubtful: what, in how many processes."""

    kind: MarkKind
    text: str
    processes: int


class Summary(Noun):
    """A cell's measurement in short; times in seconds, memory in bytes, computed from the raw samples on reading.

    `by_round` has the median of each process's samples; `median` is the median of those, `interval` its 95 % bootstrap
    interval over the processes (None for a single one). `first_call` is the median of the first calls. `spread` is the
    median absolute deviation of all samples from `median`. `cumulative` tells for each sample how many seconds had
    passed with it since the first one (median over the processes). `throughput` is items a second. `peak_memory` is
    the largest of all processes.
    """

    processes: int
    samples: int
    first_call: float | None = None
    median: float | None = None
    interval: tuple[float, float] | None = None
    spread: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    throughput: float | None = None
    cumulative: tuple[float, ...] = ()
    peak_memory: int | None = None
    by_round: dict[int, float] = Field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
