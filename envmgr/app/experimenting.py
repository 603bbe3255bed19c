"""The laboratory: builds throwaway environments with plain uv and pip, and runs the probe in each."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.app.experiment_places import Snapshot, lay_out, rehomed
from envmgr.diagnose.observation import Observation, phase_of_probe
from envmgr.diagnose.requirement import key_of
from envmgr.model.finding import World
from envmgr.model.manifest import Step
from envmgr.model.outcome import Phase
from envmgr.ports import Clock, Completed, Files, Process, ProcessRequest

_STEERS_PYTHON = ("PYTHON", "LD_", "DYLD_", "VIRTUAL_ENV", "CONDA_")
_SEEDS = ("setuptools<60; python_version < '3.12'", "setuptools; python_version >= '3.12'", "wheel")
_BUILD_SECONDS = 900.0
_PROBE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Bench:
    """What every experiment starts from.

    `environment` is the caller's, `given` are variables in which `{venv}` and `{home}` stand for the experiment's own
    places; `interpreters` maps minors and full versions to executables; `probe` is the argv after the interpreter.
    """

    uv: Path
    environment: Mapping[str, str]
    given: Mapping[str, str]
    home: Path
    folder: Path
    interpreters: Mapping[str, Path]
    probe: tuple[str, ...]
    blind: bool = False


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
        argv = (str(built.python), *self.bench.probe)
        completed = self._process.run(ProcessRequest(argv, folder, environment, timeout=_PROBE_SECONDS))
        if not in_place:
            self._files.remove(folder.parent)
        return completed

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
            if not name.startswith(_STEERS_PYTHON)
        }
        environment |= caches(caller, self.bench.home)
        environment |= {
            name: value.replace("{home}", str(home)).replace("{venv}", str(venv))
            for name, value in world.variables.set.items()
            if not name.startswith(_STEERS_PYTHON)
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
        for call in _calls(world, self.bench, folder, interpreter):
            request = ProcessRequest(call.argv, folder, environment, timeout=_BUILD_SECONDS)
            completed = self._process.run(request)
            if not completed.good:
                text = completed.stdout + "\n" + completed.stderr
                return Built(folder, call.phase or phase_of_build(text), text, call.step)
        return Built(folder)

    def _neutral(self, text: str, built: Built) -> str:
        """Return a text in which the experiment's places have names that do not differ between experiments."""
        text = re.sub(rf"{re.escape(str(self._room))}/place-\d+", "", text)
        return text.replace(str(built.folder / "venv"), "{venv}").replace(str(built.folder), "")


def build_key(world: World) -> str:
    """Return what an environment is built from, as text: equal worlds in it can share one."""
    touched = (
        *world.files.remove,
        *world.files.write,
        *(f"{edit.path} {edit.key} {edit.value}" for edit in world.files.edit),
    )
    surroundings = {
        "variables": {k: v for k, v in world.variables.set.items() if not k.startswith(_STEERS_PYTHON)},
        "unset": [name for name in world.variables.unset if not name.startswith(_STEERS_PYTHON)],
        "files": [name for name in touched if re.search(r"pip|uv|setup|pydist", name)],
    }
    return world.model_dump_json(exclude={"variables", "files"}) + str(surroundings)


def caches(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return where uv and pip keep what they fetched: an experiment with its own HOME need not fetch again."""
    base = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    uv_cache = Path(environment.get("UV_CACHE_DIR") or base / "uv")
    pip_cache = environment.get("PIP_CACHE_DIR") or str(uv_cache.parent / "pip")
    return {"UV_CACHE_DIR": str(uv_cache), "PIP_CACHE_DIR": pip_cache}


@dataclass(frozen=True, slots=True)
class _Call:
    argv: tuple[str, ...]
    step: int = 0
    phase: Phase | None = None


def _calls(world: World, bench: Bench, folder: Path, interpreter: Path) -> Iterator[_Call]:
    """Yield the commands that build a world, as a person would type them."""
    uv, venv = str(bench.uv), folder / "venv"
    python = str(venv / "bin" / "python")
    yield _Call((uv, "venv", "-q", "--clear", "-p", str(interpreter), str(venv)), phase=Phase.INTERPRETER)
    tail = [*source_arguments(bench.environment), *_world_arguments(world, folder)]
    install = (uv, "pip", "install", "-q", "-p", python)
    if world.build_requires:
        first = [line for lines in world.build_requires.values() for line in lines]
        first += [name for name in ("setuptools", "wheel") if name not in {key_of(line) for line in first}]
        yield _Call((*install, *first, *tail))
        tail += [word for name in world.build_requires for word in ("--no-build-isolation-package", name)]
    seeded = ""
    for number, step in enumerate(world.steps or (Step(install=world.requirements, installer="uv"),)):
        if step.installer.startswith("uv"):
            yield from _uv_calls(step, uv, python, tail, number)
            continue
        if seeded != step.installer:
            extra = () if seeded else _SEEDS
            yield _Call((*install, "-U", step.installer, *extra, *source_arguments(bench.environment)), number)
            seeded = step.installer
        yield from _pip_calls(step, python, world, number)


def _uv_calls(step: Step, uv: str, python: str, tail: Sequence[str], number: int) -> Iterator[_Call]:
    if step.uninstall:
        yield _Call((uv, "pip", "uninstall", "-q", "-p", python, *step.uninstall), number)
    if step.install:
        yield _Call((uv, "pip", "install", "-q", "-p", python, *step.flags, *step.install, *tail), number)


def _pip_calls(step: Step, python: str, world: World, number: int) -> Iterator[_Call]:
    if step.uninstall:
        yield _Call((python, "-m", "pip", "uninstall", "-q", "-y", *step.uninstall), number)
    if step.install:
        asked = {key_of(line) for line in step.install}
        bare = ["--no-build-isolation"] if asked & set(world.build_requires) else []
        indexes = [word for index in world.index for word in ("--extra-index-url", index.url)]
        yield _Call((python, "-m", "pip", "install", "-q", *step.flags, *bare, *step.install, *indexes), number)


def source_arguments(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what tells uv of the index and the folders of wheels that pip's variables name."""
    found: list[str] = []
    if environment.get("PIP_FIND_LINKS"):
        found += ["--find-links", environment["PIP_FIND_LINKS"]]
    if environment.get("PIP_INDEX_URL"):
        found += ["--default-index", environment["PIP_INDEX_URL"]]
    return tuple(found)


def _world_arguments(world: World, folder: Path) -> list[str]:
    found: list[str] = ["--exclude-newer", world.exclude_newer] if world.exclude_newer else []
    for name, lines in (("build-constraints", world.build_constraints), ("overrides", world.overrides)):
        if lines:
            listed = folder / f"{name}.txt"
            listed.write_text("\n".join(lines) + "\n")
            found += [f"--{name}", str(listed)]
    for index in world.index:
        found += ["--index", index.url, "--index-strategy", "unsafe-best-match"]
    return found


_SAYS_BUILD = re.compile(
    r"failed to build|build backend|metadata-generation|setup\.py|failed building wheel|requirements to build",
    re.IGNORECASE,
)
_SAYS_RESOLVE = re.compile(
    r"no solution|no matching distribution|could not find a version|resolutionimpossible|unsatisfiable"
    r"|not found in the package registry",
    re.IGNORECASE,
)
_SAYS_DOWNLOAD = re.compile(r"failed to (?:fetch|download)|connection|timed out|offline|proxy", re.IGNORECASE)


def phase_of_build(text: str) -> Phase:
    """Return the phase in which an installer stopped, by what it says."""
    for words, phase in ((_SAYS_BUILD, Phase.BUILD), (_SAYS_RESOLVE, Phase.RESOLVE), (_SAYS_DOWNLOAD, Phase.DOWNLOAD)):
        if words.search(text):
            return phase
    return Phase.INSTALL
