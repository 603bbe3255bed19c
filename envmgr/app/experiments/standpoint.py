"""Where the user stands, as experiments start from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envmgr.app.experiments.commands import Bench
from envmgr.errors import HostError
from envmgr.ports import Clock, Files, Listener, StoppableProcess, Web


@dataclass(frozen=True, slots=True)
class Place:
    """Where the user stands, and the means to work with.

    `confines` tells that the system can keep probes from writing about, `project` what manifests call `{project}`;
    `hands` is how many experiments may be carried out at a time, 1: one after the other, none before it is asked for.
    """

    environment: Mapping[str, str]
    home: Path
    folder: Path
    uv: Path
    interpreters: Mapping[str, Path]
    system: str
    machine: str
    accelerators: tuple[str, ...]
    process: StoppableProcess
    files: Files
    clock: Clock
    web: Web
    listener: Listener
    confines: bool = False
    project: Path | None = None
    hands: int = 2

    def bench(
        self, probe: tuple[str, ...] = (), given: Mapping[str, str] | None = None, budget: float = 300.0
    ) -> Bench:
        """Return what experiments of this place start from; `budget` is in seconds."""
        return Bench(
            uv=self.uv,
            environment=self.environment,
            given=given or {},
            home=self.home,
            folder=self.folder,
            interpreters=self.interpreters,
            probe=probe,
            budget=budget,
            confines=self.confines,
            project=self.project,
            system=self.system,
        )

    def demand(self, python: str) -> None:
        """Raise HostError where a Python is not here."""
        if python not in self.interpreters:
            known = ", ".join(sorted(self.interpreters))
            raise HostError(f"there is no Python {python} here", f"found: {known}", f"envmgr python install {python}")
