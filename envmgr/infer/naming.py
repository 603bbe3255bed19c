"""From a top-level module to where it comes from: the standard library, a file beside the script, an index, nowhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from envmgr.infer.surface import Surface
from envmgr.model.inference import ModuleOrigin


@dataclass(frozen=True, slots=True)
class Names:
    """What is known of names outside of the scripts.

    `standard` tells of a top-level module whether a Python 3 ever had it, `last_python` which was the last to have a
    module (`2.7`, empty if it was never lost), `distributions` which distributions install one, the most used first.
    `exists` tells whether an index has a distribution; `seen` maps modules to distributions whose wheels are known.
    """

    standard: Callable[[str], bool]
    last_python: Callable[[str], str]
    distributions: Callable[[str], tuple[str, ...]]
    exists: Callable[[str], bool]
    seen: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A module that an index must serve: its candidates in order, and whether the scripts can do without."""

    module: str
    candidates: tuple[str, ...]
    required: bool


def origins(surfaces: Iterable[Surface], local: Collection[str], names: Names) -> tuple[ModuleOrigin, ...]:
    """Return where each top-level module comes from, in the order in which they are first imported."""
    tops = dict.fromkeys(top for surface in surfaces for top in surface.tops)
    found = {top: _origin(top, local, names) for top in tops}
    served = {origin.distribution for origin in found.values() if origin.distribution}
    return tuple(_shared(origin, served, names) for origin in found.values())


def candidates_of(module: str, names: Names) -> tuple[str, ...]:
    """Return the distributions that may install a module and that an index has, the most used first."""
    ordered = dict.fromkeys((*names.distributions(module), *names.seen.get(module, ())))
    return tuple(name for name in ordered if names.exists(name))


def wanted(surfaces: Iterable[Surface], found: Iterable[ModuleOrigin], names: Names) -> tuple[Wanted, ...]:
    """Return what an index must serve; of alternatives one branch, the one that needs no index if there is one."""
    by_module = {origin.module: origin for origin in found}
    required: dict[str, bool] = {}
    for surface in surfaces:
        for each in surface.imports:
            if each.necessity != "alternative":
                _demand(required, each.module, needed=each.necessity == "required")
        for group in surface.groups:
            tops = [[each.module.split(".")[0] for each in branch] for branch in group]
            for top in _branch(tops, by_module):
                _demand(required, top, needed=True)
    return tuple(
        Wanted(module, _ordered(by_module[module].distribution, candidates_of(module, names)), needed)
        for module, needed in required.items()
        if module in by_module and by_module[module].kind == "distribution"
    )


def _demand(required: dict[str, bool], module: str, *, needed: bool) -> None:
    top = module.partition(".")[0]
    required[top] = required.get(top, False) or needed


def _branch(tops: list[list[str]], by_module: Mapping[str, ModuleOrigin]) -> list[str]:
    kinds = [{by_module[top].kind for top in branch if top in by_module} for branch in tops]
    free = [branch for branch, kind in zip(tops, kinds, strict=True) if kind <= {"standard-library", "local"}]
    reachable = [branch for branch, kind in zip(tops, kinds, strict=True) if not kind & {"unreachable", "python-2"}]
    return (free or reachable or tops)[0]


def _ordered(first: str, candidates: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((first, *candidates)))


def _origin(module: str, local: Collection[str], names: Names) -> ModuleOrigin:
    if module in local:
        return ModuleOrigin(module=module, kind="local", why="a file beside the script")
    if names.standard(module):
        last = names.last_python(module)
        why = f"the last Python to have it is {last}" if last else ""
        return ModuleOrigin(module=module, kind="standard-library", why=why)
    if names.last_python(module).startswith("2"):
        return ModuleOrigin(module=module, kind="python-2", why="the standard library of Python 2 has it, no later one")
    candidates = candidates_of(module, names)
    if not candidates:
        why = "no index here has a distribution for it: it comes with an application, or is a file of the author's"
        return ModuleOrigin(module=module, kind="unreachable", why=why)
    why = f"also in: {', '.join(candidates[1:4])}" if len(candidates) > 1 else ""
    return ModuleOrigin(module=module, kind="distribution", distribution=candidates[0], why=why)


def _shared(origin: ModuleOrigin, served: Collection[str], names: Names) -> ModuleOrigin:
    """Give a module to a distribution that is there for another one anyway, if its wheel was seen to install both."""
    if origin.kind not in {"distribution", "unreachable"}:
        return origin
    others = [name for name in names.seen.get(origin.module, ()) if name in served and name != origin.distribution]
    if not others or origin.distribution in names.seen.get(origin.module, ()):
        return origin
    why = f"the wheel of {others[0]} was seen to install it"
    return ModuleOrigin(module=origin.module, kind="distribution", distribution=others[0], why=why)
