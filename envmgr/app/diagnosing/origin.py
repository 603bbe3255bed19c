"""`diagnose --from`: what the user has, be it an environment that stands or a file that says what was asked for."""

from __future__ import annotations

from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envmgr.app.adopting import FilesBeside
from envmgr.app.diagnosing.standing import Own, is_environment, read_own
from envmgr.app.workplace import Workplace
from envmgr.errors import HostError, UsageError
from envmgr.manifest.adopt import adopt
from envmgr.model.finding import Variables, World
from envmgr.model.host import HostFacts
from envmgr.ports import Event


def own_at(workplace: Workplace, source: Path | None) -> Own | None:
    """Return the environment that stands in a folder, or None where what is named is a file, or nothing is.

    Raises UsageError where nothing of the kind is there.
    """
    if source is None:
        return None
    place = _place(workplace, source)
    if not workplace.files.is_folder(place):
        return None
    if not is_environment(workplace.files, place):
        raise UsageError(
            f"{source} is no environment",
            "wanted a folder with pyvenv.cfg or conda-meta in it, or a file; found neither",
            "envmgr diagnose --from .venv --probe 'import …'",
        )
    return read_own(workplace.files, workplace.process, place)


def world_from(workplace: Workplace, source: Path, python: str | None, facts: HostFacts) -> World:
    """Return the world that a requirements file, a freeze, an environment.yml or the like asks for.

    It is that on the Python asked for, else on the newest here that the file admits. Raises UsageError for a file that
    cannot be read, and HostError where no Python here fits.
    """
    place = _place(workplace, source)
    text = workplace.files.read(place)
    if text is None:
        raise UsageError(f"{source} cannot be read", "wanted an environment or a file; found none", "")
    draft, *others = adopt(place.name, text, FilesBeside(place.parent, workplace.files))
    notes = [*draft.notes, *(f"not looked at: {other.name}" for other in others)]
    for note in notes:
        workplace.listener.on_event(Event("seen", source.name, note))
    specifier = SpecifierSet(draft.python)
    fitting = sorted((one.version for one in facts.interpreters if specifier.contains(one.version)), key=Version)
    wanted = python or (draft.pythons[0] if draft.pythons else "")
    if not wanted and not fitting:
        raise HostError(f"no Python here fits {source}", f"wanted {draft.python}", "envmgr python list")
    return World(
        python=wanted or ".".join(fitting[-1].split(".")[:2]),
        requirements=draft.requirements,
        overrides=draft.constraints,
        variables=Variables(set=draft.variables),
    )


def _place(workplace: Workplace, source: Path) -> Path:
    return (workplace.caller.folder / source.expanduser()).resolve()
