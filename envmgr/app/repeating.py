"""A build that was made before is made again, with as little imported as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envmgr.env.installer import Ports
from envmgr.env.recipe import Recipe, repeat
from envmgr.errors import EnvmgrError
from envmgr.outside import Hearer
from envmgr.system.caller import caller
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess


class Repetition:
    """One build that is made again after its recipe; `process` can end it."""

    def __init__(self, scratch: Path) -> None:
        self._caller = caller().environment
        self._scratch = scratch
        self.process = RealProcess(self._caller)
        self.process.warm_up()

    def build(self, known: Mapping[str, Any], listener: Hearer) -> float | None:
        """Return the seconds that it took, or None where it has to be made from the beginning."""
        ports = Ports(self.process, RealFiles(self._scratch), RealClock(), listener)
        try:
            return repeat(_recipe(known), self._caller, ports)
        except (EnvmgrError, OSError, ValueError, KeyError, TypeError):
            return None


def _recipe(known: Mapping[str, Any]) -> Recipe:
    """Return a recipe that was read from JSON, which has lists where there were tuples."""
    values: dict[str, Any] = {**known, "arguments": tuple(known["arguments"]), "sharing": tuple(known["sharing"])}
    return Recipe(**values)
