"""The laboratory: builds throwaway environments with plain uv and pip, and runs the probe in each."""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from envmgr.app.confining import LONGEST_TEMPORARY
from envmgr.app.experiments.commands import Bench, build_key
from envmgr.app.experiments.lacking import lack_of_machine
from envmgr.app.experiments.places import Snapshot, lay_out
from envmgr.app.experiments.variables import caches, probe_environment
from envmgr.app.experiments.workshop import Built, Memory, Workshop, ran_short
from envmgr.app.installed import resolved_in, site_packages
from envmgr.diagnose.observation import Observation, phase_of_probe
from envmgr.env.guard import bytecode_of, changes_between
from envmgr.model.finding import Variables, World
from envmgr.model.outcome import Phase
from envmgr.ports import Clock, Completed, Files, Process, ProcessRequest

_PROBE_SECONDS = 300.0
_DENIED = re.compile(r"permission denied|operation not permitted|PermissionError|EACCES", re.IGNORECASE)


@dataclass(slots=True)
class _Shelf:
    """Environments built so far, by what they were built from."""

    built: dict[str, Built] = field(default_factory=dict)
    locks: dict[str, threading.Lock] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)
    memory: Memory = field(default_factory=Memory)
    count: int = 0


class Laboratory:
    """Carries out experiments; what one of them writes, no other sees.

    Files of an environment are links into uv's cache only where the system keeps the probe from writing to them; a
    probe that is refused something gets an environment of its own, made of copies, as the one has that runs where the
    caller stands.
    """

    def __init__(
        self, bench: Bench, process: Process, files: Files, clock: Clock, room: Path, snapshot: Snapshot
    ) -> None:
        self.bench = bench
        self._process = process
        self._files = files
        self._clock = clock
        self._room = room
        self._snapshot = snapshot
        self._shelf = _Shelf()

    def through(self, process: Process) -> Laboratory:
        """Return the same laboratory, with all that was built so far, as one that starts its processes otherwise."""
        other = copy.copy(self)
        other._process = process  # noqa: SLF001 - it is one of this very class
        return other

    def stand(self, world: World, *, confined: bool = False) -> Built:
        """Build a world (or take the one built before) and return it.

        It may be written to, unless what runs in it is `confined` where the system can see to that.
        """
        own = not (confined and self.bench.confines)
        with self._environment(world, own=own, key=build_key(world)) as built:
            return built

    def observe(self, world: World, *, in_place: bool = False, afresh: bool = False) -> Observation:
        """Build a world (or take the one built before) and run the probe once: where the caller stands, or apart.

        `afresh` builds it anew, for this look alone. What the caller stands for is built whatever its size.
        """
        key = build_key(world) + (f" afresh {self._number()}" if afresh else "")
        seen, refused_something = self._observe(
            world, in_place=in_place, own=in_place or not self.bench.confines, key=key
        )
        return self._observe(world, in_place=in_place, own=True, key=key)[0] if refused_something else seen

    def _observe(self, world: World, *, in_place: bool, own: bool, key: str) -> tuple[Observation, bool]:
        """Return what is seen, and whether the probe may have failed for want of a right to write."""
        begun = self._clock.monotonic()
        with self._environment(world, own=own, limited=not in_place, key=key) as built:
            resolved = self.resolved(built)
            if built.phase is not None:
                seen = self._seen(built.phase, built.text, resolved, self._clock.monotonic() - begun, built)
                return replace(seen, short=built.short), False
            before = self._files.snapshot(built.venv) if built.own else {}
            completed = self._probe(world, built, in_place=in_place)
            if built.own and self._has_changed(built, before):
                self._forget(key)
        seconds = self._clock.monotonic() - begun
        text = self._neutral(completed.stdout + "\n" + completed.stderr, built.venv, built.folder)
        if completed.good:
            return Observation(True, None, text, resolved, seconds, built.folder), False
        if completed.timed_out:
            text += f"\ntimed out after {completed.elapsed:.0f} s"
        if completed.signal:
            text += f"\nended by signal {completed.signal}"
        phase = phase_of_probe("" if self.bench.blind else text)
        seen = self._seen(phase, text, resolved, seconds, built, completed)
        if not in_place:
            lack = lack_of_machine(text)
            seen = replace(seen, refused=lack, short=bool(lack) or ran_short(completed))
        return seen, not built.own and _DENIED.search(text) is not None

    def observe_standing(self, world: World, prefix: Path, python: Path) -> Observation:
        """Run the probe once in an environment of the user's, in copies of folder and HOME; nothing is written there.

        Python leaves no bytecode, and where the system can see to it the probe cannot write to the environment.
        """
        seconds = min(_PROBE_SECONDS, self.bench.budget / 2)
        quiet = Variables(set={**world.variables.set, "PYTHONDONTWRITEBYTECODE": "1"}, unset=world.variables.unset)
        silent = world.model_copy(update={"variables": quiet})
        completed = self.run_apart(silent, prefix, self._command(python), seconds)
        text = self._neutral(completed.stdout + "\n" + completed.stderr, prefix)
        if completed.good:
            return Observation(True, None, text, seconds=completed.elapsed, folder=prefix)
        phase = phase_of_probe("" if self.bench.blind else text)
        shown = "" if self.bench.blind else text
        return Observation(False, phase, shown, {}, completed.elapsed, prefix, completed.signal)

    def _has_changed(self, built: Built, before: dict[str, str]) -> bool:
        """Tell whether more has come to an environment than the bytecode of its own modules."""
        changes = changes_between(before, self._files.snapshot(built.venv))
        bytecode = bytecode_of(changes, before)
        added = [path for path in changes.added if path not in bytecode and not path.endswith("__pycache__")]
        return bool(added or changes.removed or changes.altered)

    def _seen(
        self,
        phase: Phase,
        text: str,
        resolved: dict[str, str],
        seconds: float,
        built: Built,
        completed: Completed | None = None,
    ) -> Observation:
        shown = "" if self.bench.blind else self._neutral(text, built.venv, built.folder)
        signal = completed.signal if completed else None
        return Observation(
            False, phase, shown, resolved, seconds, built.folder, signal, step=built.step, refused=built.refused
        )

    def resolved(self, built: Built) -> dict[str, str]:
        """Return what is installed there: versions by normalised name."""
        return resolved_in(self.site_packages(built.folder))

    def site_packages(self, folder: Path) -> tuple[Path, ...]:
        """Return what lies in the site-packages of an environment built in a folder."""
        return site_packages(self._files, folder / "venv")

    def _probe(self, world: World, built: Built, *, in_place: bool) -> Completed:
        seconds = min(_PROBE_SECONDS, self.bench.budget / 2)
        argv, venv = self._command(self.bench.python_of(built.venv)), built.venv
        if in_place:
            environment = probe_environment(self.bench, world, venv, self.bench.home)
            return self._process.run(ProcessRequest(argv, self.bench.folder, environment, timeout=seconds))
        return self.run_apart(world, venv, argv, seconds, confined=not built.own)

    def run_apart(
        self, world: World, venv: Path, argv: tuple[str, ...], seconds: float, *, confined: bool = True
    ) -> Completed:
        """Run a command with a world's variables in copies of the caller's folder and HOME, which are removed then.

        `confined` keeps it from writing elsewhere, where the system can see to that.
        """
        place = self._room / f"place-{self._number()}"
        lay_out(self._files, self._snapshot, world.files, place)
        environment = probe_environment(self.bench, world, venv, place / "home")
        writable = self._writable(place, environment) if confined else None
        completed = self._process.run(
            ProcessRequest(argv, place / "cwd", environment, timeout=seconds, writable=writable)
        )
        self._files.remove(place)
        return completed

    def _writable(self, place: Path, environment: dict[str, str]) -> tuple[Path, ...]:
        """Return where a confined probe may write, and give it a folder for temporary files if it names none."""
        temporary = Path(environment.get("TMPDIR") or place / "tmp")
        if "TMPDIR" not in environment and len(str(temporary)) <= LONGEST_TEMPORARY:
            self._files.make_folder(temporary)
            environment["TMPDIR"] = str(temporary)
        shared = [folder for folder in (temporary, Path("/tmp"), Path("/var/tmp")) if not self._holds_precious(folder)]  # noqa: S108
        return (place, Path("/dev"), Path("/proc"), *shared)

    def _holds_precious(self, folder: Path) -> bool:
        cache = Path(caches(self.bench.environment, self.bench.home, self.bench.system)["UV_CACHE_DIR"])
        precious = (self._room, self.bench.home, self.bench.folder, cache, *self.bench.kept)
        return any(one.resolve().is_relative_to(folder.resolve()) for one in precious)

    def _command(self, python: Path) -> tuple[str, ...]:
        """Return the probe's argv: Python means the environment's own, and so does a program that it holds."""
        first, *rest = self.bench.probe
        if first.startswith("-"):
            return (str(python), *self.bench.probe)
        program = "python" if re.fullmatch(r"python[\d.]*(?:\.exe)?", first) else first.removesuffix(".exe")
        own = python.with_name(program + python.suffix)
        return (str(own) if self._files.exists(own) else first, *rest)

    def ask(self, world: World, folder: Path, code: str, seconds: float = 60.0) -> Completed:
        """Run a question of ours in an environment that stands, with the world's variables, in a place of its own."""
        venv = folder / "venv"
        return self.run_apart(world, venv, (str(self.bench.python_of(venv)), "-c", code), seconds)

    @contextmanager
    def _environment(self, world: World, *, own: bool, key: str, limited: bool = True) -> Iterator[Built]:
        with self._shelf.guard:
            lock = self._shelf.locks.setdefault(key, threading.Lock())
        with lock:
            there = self._shelf.built.get(key)
            if there is None or (own and not there.own and there.phase is None):
                there = self._shelf.built[key] = self._build(world, own=own, limited=limited)
                if there.refused or there.short:
                    self._forget(key)
            yield there

    def _build(self, world: World, *, own: bool, limited: bool) -> Built:
        workshop = Workshop(self.bench, self._process, self._files, self._snapshot, self._shelf.memory)
        return workshop.build(world, self._room / f"env-{self._number()}", own=own, limited=limited)

    def _forget(self, key: str) -> None:
        """Never use an environment again that a probe has changed, or one that was not built for want of room."""
        self._shelf.built.pop(key, None)

    def _number(self) -> int:
        with self._shelf.guard:
            self._shelf.count += 1
            return self._shelf.count

    def _neutral(self, text: str, venv: Path, folder: Path | None = None) -> str:
        """Return a text in which the experiment's places have names that do not differ between experiments."""
        text = re.sub(rf"{re.escape(str(self._room))}/place-\d+", "", text)
        text = text.replace(str(venv), "{venv}")
        return text.replace(str(folder), "") if folder else text
