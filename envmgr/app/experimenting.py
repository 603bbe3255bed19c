"""The laboratory: builds throwaway environments with plain uv and pip, and runs the probe in each."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.app.experiment_commands import STEERS_PYTHON, Bench, build_key, caches, calls, lists_of, phase_of_build
from envmgr.app.experiment_places import Snapshot, lay_out, rehomed
from envmgr.diagnose.observation import Observation, phase_of_probe
from envmgr.model.finding import World
from envmgr.model.outcome import Phase
from envmgr.ports import Clock, Completed, Files, Process, ProcessRequest

_BUILD_SECONDS = 900.0
_PROBE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Built:
    """An environment that was built, or how far it came: `text` is what the installer said."""

    folder: Path
    phase: Phase | None = None
    text: str = ""
    step: int = 0

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "venv" / "bin" / "python"


@dataclass(slots=True)
class _Shelf:
    """Environments built so far, by what they were built from."""

    built: dict[str, Built] = field(default_factory=dict)
    locks: dict[str, threading.Lock] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class Laboratory:
    """Carries out experiments; what one of them writes, no other sees."""

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
        self._count = 0

    def stand(self, world: World) -> Built:
        """Build a world (or take the one built before) and return it; nothing runs in it."""
        with self._environment(world) as built:
            return built

    def observe(self, world: World, *, in_place: bool = False) -> Observation:
        """Build a world (or take the one built before) and run the probe once: where the caller stands, or apart."""
        begun = self._clock.monotonic()
        with self._environment(world) as built:
            resolved = self.resolved(built)
            if built.phase is not None:
                seconds = self._clock.monotonic() - begun
                return self._seen(built.phase, built.text, resolved, seconds, built)
            before = self._contents(built)
            completed = self._probe(world, built, in_place=in_place)
            if self._contents(built) != before:
                self._forget(world)
        seconds = self._clock.monotonic() - begun
        text = self._neutral(completed.stdout + "\n" + completed.stderr, built)
        if completed.good:
            return Observation(True, None, text, resolved, seconds, built.folder)
        if completed.timed_out:
            text += f"\ntimed out after {completed.elapsed:.0f} s"
        if completed.signal:
            text += f"\nended by signal {completed.signal}"
        phase = phase_of_probe("" if self.bench.blind else text)
        return self._seen(phase, text, resolved, seconds, built, completed)

    def _seen(
        self,
        phase: Phase,
        text: str,
        resolved: dict[str, str],
        seconds: float,
        built: Built,
        completed: Completed | None = None,
    ) -> Observation:
        shown = "" if self.bench.blind else self._neutral(text, built)
        signal = completed.signal if completed else None
        return Observation(False, phase, shown, resolved, seconds, built.folder, signal, step=built.step)

    def resolved(self, built: Built) -> dict[str, str]:
        """Return what is installed there: versions by normalised name."""
        found: dict[str, str] = {}
        for path in self.site_packages(built.folder):
            match = re.fullmatch(r"(?P<name>.+?)-(?P<version>[^-]+)\.(dist|egg)-info", path.name)
            if match:
                found[canonicalize_name(match["name"])] = match["version"]
        return found

    def site_packages(self, folder: Path) -> tuple[Path, ...]:
        """Return what lies in the site-packages of an environment built in a folder."""
        return tuple(
            path
            for library in self._files.list(folder / "venv" / "lib")
            if library.name.startswith("python")
            for path in self._files.list(library / "site-packages")
        )

    def _contents(self, built: Built) -> tuple[Path, ...]:
        return tuple(path for path in self.site_packages(built.folder) if path.name != "__pycache__")

    def _probe(self, world: World, built: Built, *, in_place: bool) -> Completed:
        if in_place:
            home, folder = self.bench.home, self.bench.folder
        else:
            place = self._room / f"place-{self._number()}"
            lay_out(self._files, self._snapshot, world.files, place)
            home, folder = place / "home", place / "cwd"
        environment = self.probe_environment(world, built.folder / "venv", home)
        argv = self._command(built)
        completed = self._process.run(
            ProcessRequest(argv, folder, environment, timeout=min(_PROBE_SECONDS, self.bench.budget / 2))
        )
        if not in_place:
            self._files.remove(folder.parent)
        return completed

    def _command(self, built: Built) -> tuple[str, ...]:
        """Return the probe's argv: Python means the environment's own, and so does a program that it holds."""
        first, *rest = self.bench.probe
        if first.startswith("-"):
            return (str(built.python), *self.bench.probe)
        own = built.python.with_name("python" if re.fullmatch(r"python[\d.]*", first) else first)
        return (str(own) if self._files.exists(own) else first, *rest)

    def ask(self, world: World, folder: Path, code: str, seconds: float = 60.0) -> Completed:
        """Run a question of ours in an environment that stands, with the world's variables, in a place of its own."""
        place = self._room / f"place-{self._number()}"
        lay_out(self._files, self._snapshot, world.files, place)
        environment = self.probe_environment(world, folder / "venv", place / "home")
        argv = (str(folder / "venv" / "bin" / "python"), "-c", code)
        completed = self._process.run(ProcessRequest(argv, place / "cwd", environment, timeout=seconds))
        self._files.remove(place)
        return completed

    def probe_environment(self, world: World, venv: Path, home: Path) -> dict[str, str]:
        """Return the variables that the probe gets."""
        environment = rehomed(self.bench.environment, self.bench.home, home)
        changes = {**self.bench.given, **world.variables.set}
        environment |= {
            name: value.replace("{home}", str(home)).replace("{venv}", str(venv)) for name, value in changes.items()
        }
        return {name: value for name, value in environment.items() if name not in world.variables.unset}

    def _build_environment(self, world: World, home: Path, venv: Path) -> dict[str, str]:
        caller = self.bench.environment
        environment = {
            name: value
            for name, value in rehomed(caller, self.bench.home, home).items()
            if not name.startswith(STEERS_PYTHON)
        }
        environment |= caches(caller, self.bench.home)
        if world.build_constraints:
            environment["PIP_BUILD_CONSTRAINT"] = str(venv.parent / "build-constraints.txt")
        environment |= {
            name: value.replace("{home}", str(home)).replace("{venv}", str(venv))
            for name, value in world.variables.set.items()
            if not name.startswith(STEERS_PYTHON)
        }
        return {name: value for name, value in environment.items() if name not in world.variables.unset}

    @contextmanager
    def _environment(self, world: World) -> Iterator[Built]:
        key = build_key(world)
        with self._shelf.guard:
            lock = self._shelf.locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._shelf.built:
                self._shelf.built[key] = self._build(world)
            yield self._shelf.built[key]

    def _forget(self, world: World) -> None:
        """Never use an environment again that a probe has changed."""
        self._shelf.built.pop(build_key(world), None)

    def _number(self) -> int:
        with self._shelf.guard:
            self._count += 1
            return self._count

    def _build(self, world: World) -> Built:
        folder = self._room / f"env-{self._number()}"
        lay_out(self._files, self._snapshot, world.files, folder)
        venv = folder / "venv"
        environment = self._build_environment(world, folder / "home", venv)
        interpreter = self.bench.interpreters.get(world.python)
        if interpreter is None:
            return Built(folder, Phase.INTERPRETER, f"no Python {world.python} here")
        for name, text in lists_of(world).items():
            self._files.write(folder / f"{name}.txt", text)
        for call in calls(world, self.bench, folder, interpreter):
            request = ProcessRequest(call.argv, folder, environment, timeout=min(_BUILD_SECONDS, self.bench.budget))
            completed = self._process.run(request)
            if not completed.good:
                text = completed.stdout + "\n" + completed.stderr
                return Built(folder, call.phase or phase_of_build(text), text, call.step)
        return Built(folder)

    def _neutral(self, text: str, built: Built) -> str:
        """Return a text in which the experiment's places have names that do not differ between experiments."""
        text = re.sub(rf"{re.escape(str(self._room))}/place-\d+", "", text)
        return text.replace(str(built.folder / "venv"), "{venv}").replace(str(built.folder), "")
