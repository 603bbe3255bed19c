"""Everything that a mechanism may look at when it proposes a change, and what it proposes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from envmgr.diagnose.contents import Contents, Unmet
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import Reading
from envmgr.diagnose.releases import Release, Target, wheel_fits
from envmgr.diagnose.requirement import Line, pins, read_line
from envmgr.diagnose.worlds import asked
from envmgr.model.finding import Cause, World
from envmgr.model.syntax import parsed

_USUAL_BYTES = 300_000_000
_BYTES_A_SECOND = 20_000_000

ReleasesOf = Callable[[str], tuple[Release, ...]]
ValuesOf = Callable[[str, World, Observation], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class HostBrief:
    """What of the machine decides whether something is possible: the system, its processor and its accelerators.

    `patches` are full versions of Pythons that are here besides the one of their minor version that is used.
    """

    system: str
    machine: str
    accelerators: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the environment.

    `variables` are the caller's, `files` what is in the folder and among the settings (`cwd/…`, `home/…`) with the
    beginning of each; `dead` names variables whose values point at nothing; `foreign` maps a top-level module name to
    the variable (PYTHONPATH) by which it stands before the environment's own or the standard library's.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    dead: frozenset[str] = field(default=frozenset())
    foreign: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sources:
    """Where a diagnosis gets facts from while it goes on: the index, and what a backend lists in an environment."""

    releases: ReleasesOf
    values: ValuesOf
    contents: Callable[[Observation], Contents]


@dataclass(frozen=True)
class Situation:
    """A world that fails, how it fails, and everything around it.

    `base` is the world that the user asked about, `locked` are the versions of a lock that was made for it.
    """

    base: World
    world: World
    seen: Observation
    probe: str
    around: Surroundings
    host: HostBrief
    pythons: tuple[str, ...]
    sources: Sources
    locked: Mapping[str, str] = field(default_factory=dict)

    @property
    def reading(self) -> Reading:
        """What the failure's text says."""
        return self.seen.reading

    @property
    def minor(self) -> str:
        """The Python's minor version."""
        match = re.search(r"\d+\.\d+", self.world.python)
        return match[0] if match else self.world.python

    @property
    def target(self) -> Target:
        """The interpreter and system that wheels must fit."""
        return Target(self.minor, self.host.platforms)

    @cached_property
    def contents(self) -> Contents:
        """What is installed in the failing environment."""
        return self.sources.contents(self.seen)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What was asked for, in its parts."""
        read = (read_line(text) for text in asked(self.world))
        return tuple(line for line in read if line is not None)

    @cached_property
    def pins(self) -> dict[str, str]:
        """The exact versions asked for."""
        return pins(asked(self.world))

    @cached_property
    def unmet(self) -> tuple[Unmet, ...]:
        """What installed distributions require and do not find."""
        return self.contents.unmet(self.markers)

    @property
    def markers(self) -> dict[str, str]:
        """The values that markers are judged with."""
        systems = {"linux": ("Linux", "linux", "posix"), "macos": ("Darwin", "darwin", "posix")}
        system, platform, name = systems.get(self.host.system, ("Windows", "win32", "nt"))
        return {
            "python_version": self.minor,
            "python_full_version": f"{self.minor}.9",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "platform_system": system,
            "sys_platform": platform,
            "os_name": name,
            "platform_machine": self.host.machine,
            "platform_release": "",
            "platform_version": "",
        }

    @cached_property
    def imported(self) -> tuple[str, ...]:
        """The dotted names that the probe imports, as far as its source can be read."""
        return imports_of(self.probe)

    def fetch_seconds(self, requirement: str, *, fresh: bool = False) -> float:
        """Return what fetching the wheel of a requirement may take beyond the usual; nothing for a small one.

        What the failing environment has already is not fetched again, unless the wheel must be another (`fresh`).
        """
        line = read_line(requirement)
        if line is None or (not fresh and self.seen.resolved.get(line.key) == line.pin != ""):
            return 0.0
        fitting = [release for release in self.releases(line.name) if line.admits(str(release.version))]
        files = fitting[-1].artefacts if fitting else ()
        sizes = [file.size for file in files if file.wheel and wheel_fits(file, self.target)]
        return max(0.0, (max(sizes, default=0) - _USUAL_BYTES) / _BYTES_A_SECOND)

    def releases(self, name: str) -> tuple[Release, ...]:
        """Return the releases of a distribution, oldest first; none if the index does not have it."""
        return self.sources.releases(name)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One change worth trying: the world with it, what it would show to be the cause, and how it is ranked.

    `likelihood` is between 0 and 1, `seconds` what the experiment may take; `gives_up` says what the user loses.
    """

    mechanism: str
    world: World
    cause: Cause
    likelihood: float
    seconds: float = 6.0
    gives_up: str = ""

    @property
    def rank(self) -> float:
        """Higher is sooner."""
        return self.likelihood / math.sqrt(self.seconds + 2.0)


def imports_of(source: str) -> tuple[str, ...]:
    """Return the modules that Python source imports, in order; nothing for what is no Python.

    >>> imports_of("import a.b; from c import d")
    ('a.b', 'c')
    """
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError):
        return ()
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(name.name for name in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module] = None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != source:
            inner = re.match(r"\s*(?:import|from)\s+[\w.]+", node.value)
            if inner:
                found.update(dict.fromkeys(imports_of(node.value)))
    return tuple(found)


def names_from(source: str) -> tuple[tuple[str, str], ...]:
    """Return the (module, name) pairs that Python source imports with `from`; nothing for what is no Python.

    >>> names_from("from a.b import c, d")
    (('a.b', 'c'), ('a.b', 'd'))
    """
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError):
        return ()
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return tuple((str(node.module), alias.name) for node in nodes for alias in node.names)
