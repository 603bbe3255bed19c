"""How a world is built: the commands, as a person would type them, and what of the world they depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envmgr.diagnose.requirement import key_of
from envmgr.diagnose.situation import ReleasesOf
from envmgr.diagnose.steering import OF_PYTHON
from envmgr.env.content import python_of
from envmgr.model.finding import World
from envmgr.model.manifest import Step
from envmgr.model.outcome import Phase

_SEEDS = ("setuptools<60", "wheel")
"""What an env of pip's old days had; later setuptools builds old source distributions differently, or not at all."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every experiment starts from.

    `environment` is the caller's, `given` are variables in which `{venv}` and `{home}` stand for the experiment's own
    places; `interpreters` maps minors and full versions to executables; `probe` is a command, or options of Python
    alone. `budget` is in seconds. `confines` tells that the system can keep a process from writing elsewhere than where
    it may; `most_bytes` is what one experiment may download, None for no limit. `project` is what worlds call
    `{project}`, `system` the host's, as its facts name it.
    """

    uv: Path
    environment: Mapping[str, str]
    given: Mapping[str, str]
    home: Path
    folder: Path
    interpreters: Mapping[str, Path]
    probe: tuple[str, ...]
    blind: bool = False
    budget: float = 300.0
    confines: bool = False
    most_bytes: int | None = None
    platforms: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    releases: ReleasesOf = lambda _: ()
    project: Path | None = None
    system: str = "linux"

    def python_of(self, venv: Path) -> Path:
        """Return the interpreter of a virtual environment."""
        return python_of(venv, self.system)


def build_key(world: World) -> str:
    """Return what an environment is built from, as text: equal worlds in it can share one."""
    touched = (
        *world.files.remove,
        *world.files.write,
        *(f"{edit.path} {edit.key} {edit.value}" for edit in world.files.edit),
    )
    surroundings = {
        "variables": {k: v for k, v in world.variables.set.items() if not k.startswith(OF_PYTHON)},
        "unset": [name for name in world.variables.unset if not name.startswith(OF_PYTHON)],
        "files": [name for name in touched if re.search(r"pip|uv|setup|pydist", name)],
    }
    return world.model_dump_json(exclude={"variables", "files"}) + str(surroundings)


@dataclass(frozen=True, slots=True)
class Call:
    """One command; `step` is the number of the step that it serves, `phase` the one in which it can only stop.

    `trial` is the command that says what this one would download and install, and does nothing; empty if none can.
    """

    argv: tuple[str, ...]
    step: int = 0
    phase: Phase | None = None
    trial: tuple[str, ...] = ()


def calls(world: World, bench: Bench, folder: Path, interpreter: Path) -> Iterator[Call]:
    """Yield the commands that build a world in a folder, in order."""
    uv, venv = str(bench.uv), folder / "venv"
    python = str(bench.python_of(venv))
    yield Call((uv, "venv", "-q", "--clear", "-p", str(interpreter), str(venv)), phase=Phase.INTERPRETER)
    tail = [*source_arguments(bench.environment), *_world_arguments(world, folder)]
    install = (uv, "pip", "install", "-q", "-p", python)
    if world.build_requires:
        first = [line for lines in world.build_requires.values() for line in lines]
        first += [name for name in ("setuptools", "wheel") if name not in {key_of(line) for line in first}]
        yield Call((*install, *first, *tail))
        tail += [word for name in world.build_requires for word in ("--no-build-isolation-package", name)]
    seeded = ""
    for number, step in enumerate(world.steps or (Step(install=world.requirements, installer="uv"),)):
        if step.installer.startswith("uv"):
            yield from _uv_calls(step, uv, python, tail, number)
            continue
        if seeded != step.installer:
            extra = () if seeded else _SEEDS
            yield Call((*install, "-U", step.installer, *extra, *source_arguments(bench.environment)), number)
            seeded = step.installer
        yield from _pip_calls(step, python, world, number, (uv, "pip", "install", "-p", python, "--dry-run"))


def _uv_calls(step: Step, uv: str, python: str, tail: Sequence[str], number: int) -> Iterator[Call]:
    if step.uninstall:
        yield Call((uv, "pip", "uninstall", "-q", "-p", python, *step.uninstall), number)
    if step.install:
        words = (*step.flags, *step.install, *tail)
        trial = () if _asks_for_no_cache(step) else (uv, "pip", "install", "-p", python, "--dry-run", *words)
        yield Call((uv, "pip", "install", "-q", "-p", python, *words), number, trial=trial)


def _asks_for_no_cache(step: Step) -> bool:
    """Tell whether nothing that a trial finds out would be of use to the command: sources would be built twice."""
    return any(flag in {"--no-cache", "-n"} for flag in step.flags)


def _pip_calls(step: Step, python: str, world: World, number: int, trial: tuple[str, ...]) -> Iterator[Call]:
    if step.uninstall:
        yield Call((python, "-m", "pip", "uninstall", "-q", "-y", *step.uninstall), number)
    if step.install:
        asked = {key_of(line) for line in step.install}
        bare = ["--no-build-isolation"] if asked & set(world.build_requires) else []
        indexes = [word for index in world.index for word in ("--extra-index-url", index.url)]
        argv = (python, "-m", "pip", "install", "-q", *step.flags, *bare, *step.install, *indexes)
        bare_trial = (*trial, *(("--no-deps",) if "--no-deps" in step.flags else ()), "--only-binary", ":all:")
        yield Call(argv, number, trial=(*bare_trial, *step.install))


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
    found += [word for name in lists_of(world) for word in (f"--{name}", str(folder / f"{name}.txt"))]
    for index in world.index:
        found += ["--index", index.url, "--index-strategy", "unsafe-best-match"]
    return found


def lists_of(world: World) -> dict[str, str]:
    """Return the texts that the commands read from `NAME.txt` in the folder, by name."""
    lists = {"build-constraints": world.build_constraints, "overrides": world.overrides}
    return {name: "\n".join(lines) + "\n" for name, lines in lists.items() if lines}


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
