"""What the processes of one cell say together, in a few robust numbers."""

from __future__ import annotations

from envmgr.model.noun import Noun


class Summary(Noun):
    """A cell's measurement in short; times in seconds, memory in bytes, computed from the raw samples on reading.

    `first_call` and `median` are medians over the processes (for `median`, of each process's own median). `spread` is
    the median absolute deviation of all samples from `median`. `cumulative` tells for each sample how many seconds had
    passed with it since the first one (median over the processes). `throughput` is items a second. `peak_memory` is
    the largest of all processes.
    """

    processes: int
    samples: int
    first_call: float | None = None
    median: float | None = None
    spread: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    throughput: float | None = None
    cumulative: tuple[float, ...] = ()
    peak_memory: int | None = None
