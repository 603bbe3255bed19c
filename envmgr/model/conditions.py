"""What else went on in the machine while something was measured."""

from __future__ import annotations

from pydantic import Field

from envmgr.model.noun import Noun


class Sight(Noun):
    """The machine at one moment: counters that only ever grow, and levels; None is what the host does not tell.

    `busy` and `stolen` are seconds summed over all cores (the latter went to other guests of a virtual machine's
    host); `moved` is bytes swapped in and out, `throttled` how often cores were slowed down for their heat. `load` is
    the average of one minute, `frequency` in MHz, `speed_limit` in per cent. `programs` has for each process, by number
    and name, its processor seconds as they were at `listed`: a moment before `at` where sights follow closely.
    """

    at: float
    cores: int
    busy: float
    stolen: float = 0.0
    load: float | None = None
    memory: int = 0
    available: int = 0
    moved: int = 0
    throttled: int | None = None
    frequency: float | None = None
    speed_limit: float | None = None
    programs: dict[str, float] = Field(default_factory=dict)
    listed: float | None = None


class Conditions(Noun):
    """What a process of a cell was measured under, from the sights before and after it.

    `others` is how many cores other programs kept busy on average, `neighbours` the busiest of them with their share of
    a core; `stolen` is in cores as well. `available` is the lesser share of free memory, from 0 to 1.
    """

    cores: int
    load_before: float | None = None
    load_after: float | None = None
    others: float | None = None
    neighbours: dict[str, float] = Field(default_factory=dict)
    stolen: float = 0.0
    available: float | None = None
    moved: int = 0
    throttled: int | None = None
    frequency: float | None = None
    speed_limit: float | None = None
