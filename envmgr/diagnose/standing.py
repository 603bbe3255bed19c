"""What somebody has, turned into what was probably asked for: one set of requirements, or an order of installs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envmgr.diagnose.contents import Contents, Unmet
from envmgr.diagnose.knowledge import families
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.worlds import with_requirement
from envmgr.model.finding import World
from envmgr.model.manifest import Step

TOOLS = frozenset({"pip", "setuptools", "wheel", "uv", "distribute"})
"""What environments come with: nobody asked for it."""

_INSTALLERS = TOOLS - {"setuptools"}

_PLATFORMS = {
    "macosx": {"arm64": "aarch64-apple-darwin", "": "x86_64-apple-darwin"},
    "win": {"": "x86_64-pc-windows-msvc"},
    "manylinux": {"aarch64": "aarch64-unknown-linux-gnu", "": "x86_64-unknown-linux-gnu"},
    "linux": {"aarch64": "aarch64-unknown-linux-gnu", "": "x86_64-unknown-linux-gnu"},
}


@dataclass(frozen=True, slots=True)
class Installed:
    """One distribution and how it came: by which installer, when (seconds), from which address, out of which wheel.

    `requested` is true where the installer noted that somebody asked for it; uv notes that of everything.
    """

    name: str
    version: str
    installer: str = ""
    requested: bool = False
    moment: float = 0.0
    tags: tuple[str, ...] = ()
    url: str = ""

    @property
    def line(self) -> str:
        """The requirement that asks for it; a build's own label (`+cpu`) is left to the index."""
        return f"{self.name} @ {self.url}" if self.url else f"{self.name}=={self.version.partition('+')[0]}"


@dataclass(frozen=True)
class Standing:
    """An environment that stands: `markers` are its interpreter's, `platforms` the system's tags."""

    installed: tuple[Installed, ...]
    contents: Contents
    markers: Mapping[str, str] = field(default_factory=dict)
    platforms: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Installed]:
        """What is installed by name."""
        return {one.name: one for one in self.installed}

    @property
    def resolved(self) -> dict[str, str]:
        """The version of everything by name."""
        return {one.name: one.version for one in self.installed}

    def needs(self, name: str) -> frozenset[str]:
        """Return what an installed distribution itself requires here, by name."""
        distribution = self.contents.by_name.get(name)
        found: set[str] = set()
        for text in distribution.requires if distribution else ():
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            if requirement.marker is None or requirement.marker.evaluate({**self.markers, "extra": ""}):
                found.add(canonicalize_name(requirement.name))
        return frozenset(found)

    def brings(self, name: str) -> frozenset[str]:
        """Return all that comes with a distribution, itself included."""
        found, waiting = set[str](), [name]
        while waiting:
            current = waiting.pop()
            if current not in found and current in self.by_name:
                found.add(current)
                waiting += self.needs(current)
        return frozenset(found)


@dataclass
class _Account:
    """What is known of the order: the flags of what came apart from the rest, and what was taken away again."""

    apart: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)


def history(standing: Standing) -> tuple[Step, ...]:
    """Return the steps that leave such an environment: one, where nothing in it tells that the order mattered."""
    account = _Account()
    for unmet in standing.contents.unmet(standing.markers):
        _explain(standing, unmet, account)
    for group in standing.contents.shared():
        for one in _in_order(standing, group)[1:]:
            account.apart.setdefault(one.name, ())
    for one in standing.installed:
        triple = foreign_platform(one, standing.platforms)
        if triple:
            account.apart[one.name] = ("--python-platform", triple, "--no-deps", "--reinstall-package", one.name)
    wanted = asked_for(standing) | set(account.apart)
    for name, flags in account.apart.items():
        wanted |= standing.needs(name) & set(standing.by_name) if flags == ("--no-deps",) else set()
    steps: list[Step] = []
    for one in _in_order(standing, wanted - _INSTALLERS):
        own_flags = account.apart.get(one.name)
        if own_flags is None and steps and not steps[-1].flags:
            steps[-1] = steps[-1].model_copy(update={"install": (*steps[-1].install, one.line)})
        else:
            steps.append(Step(install=(one.line,), flags=own_flags or (), installer="uv"))
    if account.removed:
        steps.append(Step(uninstall=tuple(dict.fromkeys(account.removed)), installer="uv"))
    return tuple(steps)


def asked_for(standing: Standing) -> set[str]:
    """Return what somebody asked for: what pip noted, what nothing else requires, and families at one version."""
    needed = {name for one in standing.installed for name in standing.needs(one.name) if name != one.name}
    noted = {one.name for one in standing.installed if one.requested and one.installer != "uv"}
    roots = {one.name for one in standing.installed if one.name not in needed}
    found = (noted | roots) - TOOLS
    for how, members, _ in families():
        present = [standing.by_name[name] for name in members if name in standing.by_name]
        if how == "same_version" and found & members and len({one.version for one in present}) == 1:
            found |= {one.name for one in present}
    return found or {one.name for one in standing.installed} - TOOLS


def worlds(standing: Standing, python: str, *, pip: str = "") -> tuple[World, ...]:
    """Return the worlds that may be what stands, the likeliest first; the last is every distribution as it is.

    `pip` is an installer to try first where dependencies are lacking, as one that a setting told to leave them out.
    """
    steps = history(standing)
    found = []
    if pip and any("--no-deps" in step.flags for step in steps):
        lines = tuple(line for step in steps for line in step.install)
        found.append(World(python=python, steps=(Step(install=lines, installer=pip),)))
    if len(steps) == 1 and not steps[0].flags:
        found.append(World(python=python, requirements=steps[0].install))
    elif steps:
        found.append(World(python=python, steps=steps))
    exact = [one for one in _in_order(standing, standing.by_name) if one.name not in _INSTALLERS]
    lines = tuple(f"{one.name} @ {one.url}" if one.url else f"{one.name}=={one.version}" for one in exact)
    if any(one.name not in TOOLS for one in exact):
        found.append(World(python=python, steps=(Step(install=lines, flags=("--no-deps",), installer="uv"),)))
    return tuple(found) or (World(python=python),)


def pinned_as_found(world: World, standing: Standing, resolved: Mapping[str, str]) -> World:
    """Return the world with a pin for each distribution that it resolved to another version than is there."""
    for name in differing(standing, resolved):
        if name in standing.by_name:
            world = with_requirement(world, f"{name}=={standing.by_name[name].version}")
    return world


def differing(standing: Standing, resolved: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is there in another version than was resolved, or on one side only; tools aside."""
    here = standing.resolved
    return tuple(sorted(name for name in {*here, *resolved} - TOOLS if here.get(name) != resolved.get(name)))


def same_failure(one: Observation, other: Observation) -> bool:
    """Tell whether two failures are one; without texts, whether they came equally far."""
    if one.passed or other.passed or one.built != other.built or one.signal != other.signal:
        return False
    if not one.text.strip() or not other.text.strip():
        return one.phase == other.phase
    return one.reading.signature == other.reading.signature


def foreign_platform(one: Installed, platforms: Iterable[str]) -> str:
    """Return the platform that a distribution's wheel was made for, as uv names it; empty if it fits here."""
    tags = [part for tag in one.tags for part in tag.rsplit("-", 1)[-1].split(".")]
    here = set(platforms)
    if not tags or not here or any(tag == "any" or tag in here for tag in tags):
        return ""
    system = next((name for name in _PLATFORMS if tags[0].startswith(name)), "")
    machines = _PLATFORMS.get(system, {})
    return next((triple for end, triple in machines.items() if end and tags[0].endswith(end)), machines.get("", ""))


def _explain(standing: Standing, unmet: Unmet, account: _Account) -> None:
    """Note what the order of installs must have been for a requirement to be unmet."""
    of = standing.by_name.get(unmet.of)
    if of is None:
        return
    there = standing.by_name.get(unmet.name)
    if there is None:
        beside = [standing.by_name[name].moment for name in standing.needs(of.name) if name in standing.by_name]
        if not beside or max(beside) > of.moment:
            account.apart[of.name] = ("--no-deps",)
        else:
            account.removed.append(unmet.name)
    elif of.moment > there.moment:
        account.apart[of.name] = ("--no-deps",)
    else:
        account.apart.setdefault(_bringer(standing, there, of), ())


def _bringer(standing: Standing, there: Installed, of: Installed) -> str:
    """Return what brought a distribution after another one that cannot do with it: itself, if nothing else did."""
    later = [one for one in standing.installed if one.moment >= of.moment and one.name not in {there.name, of.name}]
    wanted = asked_for(standing)
    holders = [one for one in later if one.name in wanted and there.name in standing.brings(one.name)]
    fitting = [one for one in holders if of.name not in standing.brings(one.name)]
    return fitting[0].name if fitting else there.name


def _in_order(standing: Standing, names: Iterable[str]) -> list[Installed]:
    known = (standing.by_name[name] for name in sorted(names) if name in standing.by_name)
    return sorted(known, key=lambda one: one.moment)
