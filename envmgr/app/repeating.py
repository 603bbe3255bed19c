"""A build that was made before is made again, with as little imported as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envmgr.outside import Hearer
from envmgr.system.caller import caller
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
        # What starts processes is on its way while the rest is imported.
        from envmgr.env.installer import Ports
        from envmgr.env.recipe import Recipe, repeat
        from envmgr.errors import EnvmgrError
        from envmgr.system.clock import RealClock
        from envmgr.system.files import RealFiles

        ports = Ports(self.process, RealFiles(self._scratch), RealClock(), listener)
        try:
            lists = {name: tuple(known[name]) for name in ("arguments", "sharing")}
            values: dict[str, Any] = {**known, **lists}
            return repeat(Recipe(**values), self._caller, ports)
        except (EnvmgrError, OSError, ValueError, KeyError, TypeError):
            return None
