"""What is lacking where something cannot be had."""

from __future__ import annotations

from typing import Literal

from envmgr.model.noun import Noun


class Lacking(Noun):
    """What a host or an index lacks, by name; `obtainable` tells that the host can get it with one command.

    A `distribution` is named with its version where that is what is not there, as is one that has left its index.
    """

    kind: Literal["platform", "python", "distribution"]
    name: str
    obtainable: bool = False
