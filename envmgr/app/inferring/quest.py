"""What a search along time looks for, what it works with, and what one experiment of it showed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.inferring.foresight import Foresight
from envmgr.app.inferring.offers import Offers
from envmgr.diagnose.observation import Observation
from envmgr.infer.eras import Era
from envmgr.infer.naming import Names, Wanted
from envmgr.infer.probe import Probe
from envmgr.model.finding import World
from envmgr.model.inference import Proof
from envmgr.ports import Clock, Files, Listener


@dataclass(frozen=True, slots=True)
class Attempt:
    """One world that was built or not, what its probe told, and the names that are missing in it (None: not built)."""

    world: World
    era: Era
    seen: Observation
    proof: Proof | None
    missing: frozenset[str] | None

    @property
    def passed(self) -> bool:
        """True when everything required is there."""
        return self.seen.passed


@dataclass
class Quest:
    """What is looked for, and what was learnt of it on the way.

    `companions` are lines for what the libraries import and do not require; `unreachable` tells of modules that no
    candidate installs, `lost` of names that no Python here has. `pins` are versions that clocks tell, by distribution;
    `floors` the first releases that can be installed at all; `highest` is the last Python to try.
    """

    wanted: list[Wanted]
    names: Names
    pins: dict[str, str]
    pythons: tuple[str, ...]
    highest: str = ""
    local: frozenset[str] = frozenset()
    companions: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    floors: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    unreachable: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Remember why something was chosen, once."""
        if text not in self.why:
            self.why.append(text)


@dataclass(frozen=True)
class Means:
    """What a search works with; `probe_for` makes the probe without some modules.

    `affordable` and `leisurely` tell of time: whether any is left, and whether most of it is. `readable` returns the
    first release of a distribution above a version whose metadata installers of today accept on a Python, empty if
    there is none. `foresight` tells what an era lacks before it is built.
    """

    laboratory: Laboratory
    offers: Offers
    foresight: Foresight
    files: Files
    clock: Clock
    listener: Listener
    probe_for: Callable[[frozenset[str], bool], Probe]
    readable: Callable[[str, str, str], str]
    affordable: Callable[[], bool]
    leisurely: Callable[[], bool]


def number_of(minor: str) -> tuple[int, ...]:
    """Return a minor version as numbers, nothing as the lowest.

    >>> number_of("3.10") > number_of("3.9") > number_of("")
    True
    """
    return tuple(int(part) for part in minor.split(".")) if minor else ()
