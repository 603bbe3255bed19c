"""How an environment of an experiment is built: with plain uv and pip, within what it may download."""

from __future__ import annotations

import re
import threading
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from envmgr.app.experiments.commands import Bench, Call, calls, lists_of, phase_of_build
from envmgr.app.experiments.downloads import Download, download_of
from envmgr.app.experiments.lacking import lack_of_machine
from envmgr.app.experiments.places import Snapshot, lay_out
from envmgr.app.experiments.variables import build_environment
from envmgr.diagnose.releases import Target
from envmgr.model.finding import World
from envmgr.model.outcome import Phase
from envmgr.ports import Completed, Files, Process, ProcessRequest

_BUILD_SECONDS = 900.0
_KILL = 9
_NO_MEMORY = re.compile(r"out of memory|cannot allocate memory|MemoryError|bad_alloc|RESOURCE_EXHAUSTED", re.IGNORECASE)
_FAILED_BUILD = re.compile(r"Failed to (?:download and )?build `?([A-Za-z0-9][A-Za-z0-9._-]*)(?:==|`| @)")


@dataclass(frozen=True, slots=True)
class Built:
    """An environment that was built, or how far it came: `text` is what the installer said.

    `own` tells that its files are copies: it may be written to without a trace in the installer's cache, from which
    others get theirs. `refused` says why it was not built, `short` that the machine may have had too little for it.
    """

    folder: Path
    phase: Phase | None = None
    text: str = ""
    step: int = 0
    own: bool = False
    refused: str = ""
    short: bool = False

    @property
    def venv(self) -> Path:
        """The environment itself."""
        return self.folder / "venv"


@dataclass(slots=True)
class Memory:
    """What failed to build once, so that it is built again, one environment at a time."""

    rebuilt: set[str] = field(default_factory=set)
    turns: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What environments of experiments are built with; the memory outlasts it."""

    bench: Bench
    process: Process
    files: Files
    snapshot: Snapshot
    memory: Memory

    def build(self, world: World, folder: Path, *, own: bool, limited: bool) -> Built:
        """Build a world in a folder; with `limited`, not what would be downloaded beyond the limit."""
        lay_out(self.files, self.snapshot, world.files, folder)
        environment = build_environment(self.bench, world, folder / "home", folder / "venv")
        environment["UV_LINK_MODE"] = "copy" if own else "hardlink"
        interpreter = self.bench.interpreters.get(world.python)
        if interpreter is None:
            return Built(folder, Phase.INTERPRETER, f"no Python {world.python} here")
        for name, text in lists_of(world).items():
            self.files.write(folder / f"{name}.txt", text)
        for call in calls(world, self.bench, folder, interpreter):
            refused = self._too_large(call, world, folder, environment) if limited else ""
            if refused:
                return Built(folder, Phase.DOWNLOAD, refused, call.step, refused=refused)
            again = self._again(call.argv)
            argv, seconds = (*call.argv, *again), min(_BUILD_SECONDS, self.bench.budget)
            with self.memory.turns if again else nullcontext():  # what another builds meanwhile counts as fresh
                completed = self.process.run(ProcessRequest(argv, folder, environment, timeout=seconds))
            if not completed.good:
                text = completed.stdout + "\n" + completed.stderr
                self.memory.rebuilt.update(_FAILED_BUILD.findall(text))
                lack = lack_of_machine(text) if limited else ""
                return Built(
                    folder,
                    call.phase or phase_of_build(text),
                    text,
                    call.step,
                    refused=lack,
                    short=bool(lack) or ran_short(completed),
                )
        return Built(folder, own=own)

    def _too_large(self, call: Call, world: World, folder: Path, environment: dict[str, str]) -> str:
        """Return why a command is not run for what it would download; empty if it may be, or if none can tell."""
        limit = self.bench.most_bytes
        if limit is None or not call.trial:
            return ""
        request = ProcessRequest(call.trial, folder, environment, timeout=min(_BUILD_SECONDS, self.bench.budget))
        tried = self.process.run(request)
        if not tried.good:
            return ""
        by_uv = call.argv[0] == str(self.bench.uv)
        cache = Path(environment["UV_CACHE_DIR"]) if by_uv else None
        minor = ".".join(world.python.split(".")[:2])
        target = Target(minor, self.bench.platforms)
        found: Download = download_of(tried.stdout + tried.stderr, cache, target, self.bench.releases, self.files)
        return found.sentence(limit) if found.total > limit else ""

    def _again(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Have built again what failed to build once: uv's cache does not tell with which tools it was built."""
        if argv[1:3] != ("pip", "install"):
            return ()
        return tuple(word for name in sorted(self.memory.rebuilt) for word in ("--refresh-package", name))


def ran_short(completed: Completed) -> bool:
    """Tell whether a process was ended for its time, or failed as one does that gets too little memory."""
    said = completed.stdout + completed.stderr
    return completed.timed_out or completed.signal == _KILL or _NO_MEMORY.search(said) is not None
