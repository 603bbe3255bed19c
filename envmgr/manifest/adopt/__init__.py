"""Makes a manifest out of what people have: requirements, projects, conda environments, sessions, freezes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from envmgr.errors import UsageError
from envmgr.manifest.adopt.asv import read_asv
from envmgr.manifest.adopt.conda import read_environment
from envmgr.manifest.adopt.draft import Draft, limited
from envmgr.manifest.adopt.nox import read_noxfile
from envmgr.manifest.adopt.pipenv import read_pipfile, read_pipfile_lock
from envmgr.manifest.adopt.pixi import read_pixi
from envmgr.manifest.adopt.project import read_pylock, read_pyproject
from envmgr.manifest.adopt.requirements import read_requirements
from envmgr.manifest.adopt.script import read_script
from envmgr.manifest.adopt.setup_config import read_setup_config
from envmgr.manifest.adopt.setup_script import read_setup_script
from envmgr.manifest.adopt.tox import read_tox
from envmgr.manifest.adopt.tox_toml import read_tox_toml

Reader = Callable[[str, Mapping[str, str]], tuple[Draft, ...]]

_BY_NAME: dict[str, Reader] = {
    "pyproject.toml": read_pyproject,
    "pylock.toml": lambda text, _: read_pylock(text),
    "environment.yml": read_environment,
    "environment.yaml": read_environment,
    "tox.ini": read_tox,
    "tox.toml": read_tox_toml,
    "noxfile.py": read_noxfile,
    "asv.conf.json": lambda text, _: read_asv(text),
    "asv.conf.jsonc": lambda text, _: read_asv(text),
    "Pipfile": lambda text, _: read_pipfile(text),
    "Pipfile.lock": lambda text, _: read_pipfile_lock(text),
    "pixi.toml": read_pixi,
    "setup.cfg": read_setup_config,
    "setup.py": read_setup_script,
}
_WITH_EXPORT = {
    "uv.lock": "uv export --format requirements-txt --output-file requirements.txt",
    "poetry.lock": "poetry export --output requirements.txt",
    "pdm.lock": "pdm export --output requirements.txt",
}
"""Locks that their own tool alone can read: for which environment each entry is stands in no entry."""
FORMS = (*_BY_NAME, "requirements.txt", "a freeze", "a script of PEP 723")
"""What can be read, by the file's usual name."""


def _read_script(text: str, _: Mapping[str, str]) -> tuple[Draft, ...]:
    return read_script(text)


def adopt(name: str, text: str, others: Mapping[str, str], wanted: tuple[str, ...] = ()) -> tuple[Draft, ...]:
    """Return drafts of manifests for what a file asks for: several where it holds several environments.

    `name` is the file's, which tells its form; `others` has the texts of the files that it may refer to (`-r`, `-c`);
    `wanted` names extras and groups that are to be among the requirements. Raises UsageError for a form that is not
    known, for a text that is not of its form, and for a group that it does not have.
    """
    path = PurePath(name)
    if path.name in _WITH_EXPORT:
        found = "wanted a list of what is in one environment; it is for its tool, and for many at once"
        hint = f"{_WITH_EXPORT[path.name]}, then envmgr init --from requirements.txt"
        raise UsageError(f"{path.name} is a lock of another tool", found, hint)
    reader = _BY_NAME.get(path.name)
    if reader is None and path.suffix in {".yml", ".yaml"}:
        reader = _BY_NAME["environment.yml"]
    if reader is None and path.name.startswith("pylock.") and path.suffix == ".toml":
        reader = _BY_NAME["pylock.toml"]
    if reader is None and path.suffix == ".py":
        reader = _read_script
    if reader is None and path.suffix in {".txt", ".in", ".lock", ""}:
        reader = read_requirements
    if reader is None:
        raise UsageError(
            f"{name} is of no form that is known", f"wanted one of: {', '.join(FORMS)}", "envmgr init --from FILE"
        )
    if wanted and path.name != "pyproject.toml":
        told = f"wanted pyproject.toml with --with {wanted[0]}; found {path.name}"
        raise UsageError(f"{name} has no extras and groups to choose", told, f"envmgr init --from {name}")
    try:
        drafts = read_pyproject(text, others, wanted) if wanted else reader(text, others)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # Readers walk a file as if it had the shape of its form; what has another one breaks them somewhere.
        raise UsageError(
            f"{name} has not the shape of its form", f"found values of another kind ({error})", "mend the file"
        ) from error
    if not any(draft.requirements for draft in drafts):
        told = "; ".join(note for draft in drafts for note in draft.notes)
        found = "wanted at least one requirement; found none" + (f": {told}" if told else "")
        raise UsageError(f"{name} asks for no distribution", found, "envmgr init")
    return tuple(limited(draft) for draft in drafts)
