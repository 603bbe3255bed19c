"""Compares an environment's files with its records, and proves by planting what is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from envmgr.app.diagnosing.standing import Own
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.installed import site_packages
from envmgr.diagnose.damage import Damage, Owned, damages
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import Reading
from envmgr.env.inspect import inspect
from envmgr.errors import BuildError
from envmgr.model.finding import World
from envmgr.ports import Files, Process

_TRIED = 5


def damage_of(own: Own, files: Files, process: Process, reading: Reading) -> tuple[Damage, ...]:
    """Return what of an environment's files is not as recorded, the likeliest to blame first; none if none can tell."""
    try:
        records = inspect(own.python, process, files, deep=True).records
    except BuildError:
        return ()
    site = _site(files, own.prefix)
    recorded = Counter({one.name: len(one.files) for one in own.standing.contents.distributions})

    def owned(path: str, owner: str = "") -> list[Owned]:
        place = Path(path)
        inside = place.is_relative_to(site)
        return [Owned(place.relative_to(site).as_posix(), canonicalize_name(owner))] if inside else []

    return damages(
        [one for each in records.missing for one in owned(each.path, each.distribution)],
        [one for each in records.changed for one in owned(each.path, each.distribution)],
        [one for path in records.extra for one in owned(path)],
        recorded,
        reading,
    )


def prove(
    laboratory: Laboratory,
    files: Files,
    world: World,
    own: Own,
    suspects: tuple[Damage, ...],
    fails_alike: Callable[[Observation], bool],
) -> tuple[Damage, ...]:
    """Return the first suspect that makes a fresh environment fail alike, else all if they do together, else none."""
    if not suspects:
        return ()
    venv = laboratory.stand(world).venv
    source, target = _site(files, own.prefix), _site(files, venv)

    def fails(chosen: tuple[Damage, ...]) -> bool:
        with ExitStack() as planting:
            for one in chosen:
                planting.enter_context(_planted(files, one, source, target))
            return fails_alike(laboratory.observe_standing(world, venv, laboratory.bench.python_of(venv)))

    alone = next(((one,) for one in suspects[:_TRIED] if fails((one,))), ())
    return alone or (suspects if len(suspects) > 1 and fails(suspects) else ())


def _site(files: Files, prefix: Path) -> Path:
    """Return the folder of an environment's site-packages, as its interpreter names it."""
    return next((path.parent.resolve() for path in site_packages(files, prefix)), prefix)


@contextmanager
def _planted(files: Files, damage: Damage, source: Path, target: Path) -> Iterator[None]:
    """Give a fresh environment what is wrong with another, and take it away again."""
    aside = target.parent / "aside"
    units = tuple(dict.fromkeys(_unit(files, path, source, target) for path in damage.paths))
    for unit in units:
        if files.exists(target / unit):
            files.make_folder((aside / unit).parent)
            files.move(target / unit, aside / unit)
        if files.exists(source / unit):
            files.copy(source / unit, target / unit)
    try:
        yield
    finally:
        for unit in units:
            files.remove(target / unit)
            if files.exists(aside / unit):
                files.move(aside / unit, target / unit)


def _unit(files: Files, path: str, source: Path, target: Path) -> PurePosixPath:
    """Return the file, or the outermost folder of it that only one of two environments has."""
    place = PurePosixPath(path)
    outwards = [place, *place.parents][:-1]
    return next((one for one in reversed(outwards) if files.exists(source / one) != files.exists(target / one)), place)
