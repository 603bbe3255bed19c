"""In how many processes cells were measured, and why not in more."""

from __future__ import annotations

from typing import Literal

from envmgr.model.noun import Noun
from envmgr.model.result import Number

RoundsEnd = Literal["shows", "most", "time"]


class RoundsTaken(Noun):
    """What the cells of one runner on one host have got beyond their first processes, together.

    `processes` is that of the cell with the most, `shows` the smallest relative change that a comparison of them would
    show four times out of five, `wanted` the one that is to show. `ended` tells why they go on no further: such a
    change `shows`, the `most` processes are there, or more would take too much `time`; None while they go on.
    """

    runner: str
    host: str
    cells: tuple[str, ...]
    processes: int
    shows: Number
    wanted: Number
    ended: RoundsEnd | None
