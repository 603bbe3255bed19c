"""Which Pythons of this host read scripts and have what these take from the standard library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from envmgr.app.experiments.standpoint import Place
from envmgr.app.inferring.quest import number_of
from envmgr.app.inferring.reading import Reading
from envmgr.diagnose.knowledge import in_standard_library, last_python_with
from envmgr.errors import InferError, UsageError
from envmgr.infer.probe import make_probe, read_proof
from envmgr.infer.surface import Surface
from envmgr.model.inference import MissingName
from envmgr.ports import Process, ProcessRequest

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Fitness:
    """The Pythons that have all of it, as far as any of them has it; `lost` is what none of them has."""

    pythons: tuple[str, ...]
    lost: tuple[MissingName, ...] = ()
    why: tuple[str, ...] = ()


def pythons_for(reading: Reading, asked: str, place: Place, title: str) -> Fitness:
    """Return the Pythons for scripts, the oldest first; raises InferError where none will do."""
    here = _here(asked, place)
    lowest = max((script.syntax.lowest for script in reading.everything), key=number_of, default="")
    limits = [script.syntax.highest for script in reading.everything if script.syntax.highest]
    highest = min(limits, key=number_of, default="")
    reads = [each for each in here if number_of(lowest) <= number_of(each)]
    reads = [each for each in reads if not highest or number_of(each) <= number_of(highest)]
    if not reads:
        wanted = f"wanted Python {lowest or '3'} or newer" + (f", and {highest} or older" if highest else "")
        raise InferError(f"no Python here reads {title}", f"{wanted}; found {', '.join(here)}", "envmgr python list")
    interpreters = {each: place.interpreters[each] for each in reads}
    found = _fitting(reading.surfaces, interpreters, place.process)
    _demand_imports([each for each in found.lost if each.name in _imported_names(reading)], here, title)
    why = [f"the source is for Python {lowest} or newer"] if lowest else []
    if found.pythons and found.pythons[-1] != here[-1]:
        why.append(f"Python {found.pythons[-1]} is the last here with what it takes from the standard library")
    return Fitness(found.pythons, found.lost, tuple(why))


def _here(asked: str, place: Place) -> tuple[str, ...]:
    """Return the Pythons of this host by minor, the oldest first, or the one asked for."""
    minors = (each for each in place.interpreters if each.count(".") == 1 and each.startswith("3"))
    here = tuple(sorted(minors, key=number_of))
    if asked and asked not in place.interpreters:
        raise UsageError(f"there is no Python {asked} here", f"found: {', '.join(here)}", "envmgr python list")
    return (asked,) if asked else here


def _demand_imports(gone: Sequence[MissingName], here: Sequence[str], title: str) -> None:
    """Raise InferError where names that are imported are in no Python here: one of Python 2, or of one not here."""
    if not gone:
        return
    names = ", ".join(each.name for each in gone)
    last = [last_python_with(each.module, each.name.removeprefix(f"{each.module}.")) for each in gone]
    if any(each.startswith("2") for each in last):
        told = f"found an import of {names}, which no Python here has"
        raise InferError(f"{title} is Python 2", told, "convert it: 2to3, or futurize")
    newest = min((each for each in last if each), key=number_of, default="")
    wanted = f"wanted {names}" + (f", which Python {newest} was the last to have" if newest else "")
    hint = f"envmgr python install {newest}" if newest else "look at that import"
    raise InferError(f"no Python here has what {title} imports", f"{wanted}; found {', '.join(here)}", hint)


def _imported_names(reading: Reading) -> set[str]:
    return {f"{each.module}.{name}" for surface in reading.surfaces for each in surface.imports for name in each.names}


def _fitting(surfaces: Sequence[Surface], interpreters: Mapping[str, Path], process: Process) -> Fitness:
    """Ask every Python for each required name of the standard library; nothing is built for that."""
    own = [_of_standard_library(surface) for surface in surfaces]
    if not any(surface.imports for surface in own):
        return Fitness(tuple(interpreters))
    code = make_probe(own, ()).code

    def ask(path: Path) -> tuple[MissingName, ...]:
        done = process.run(ProcessRequest((str(path), "-I", "-c", code), timeout=_SECONDS))
        proof = read_proof(done.stdout, passed=done.good)
        return tuple(each for each in proof.missing if each.required) if proof else ()

    with ThreadPoolExecutor(4) as pool:
        missing = dict(zip(interpreters, pool.map(ask, interpreters.values()), strict=True))
    names = {python: {each.name for each in lacking} for python, lacking in missing.items()}
    nowhere = set.intersection(*names.values())
    fitting = tuple(python for python, lacking in names.items() if lacking <= nowhere)
    newest = next(reversed(missing.values()))
    if not fitting:  # no single Python has it all: those with the most of it
        fewest = min(len(lacking) for lacking in names.values())
        fitting = tuple(python for python, lacking in names.items() if len(lacking) == fewest)
    return Fitness(fitting, tuple(each for each in newest if each.name in nowhere))


def _of_standard_library(surface: Surface) -> Surface:
    def own(module: str) -> bool:
        return in_standard_library(module.split(".", maxsplit=1)[0])

    imports = tuple(each for each in surface.imports if own(each.module) and each.necessity == "required")
    return Surface(imports, (), tuple(use for use in surface.uses if own(use.module) and use.required))
