"""pyproject.toml (PEP 621, dependency groups, Poetry, setuptools, pdm, tox, hatch, pixi) and pylock.toml (PEP 751)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, groups_left, python_range, settle
from envmgr.manifest.adopt.groups import asked_by, with_groups
from envmgr.manifest.adopt.hatch import environments_of_hatch
from envmgr.manifest.adopt.pdm import with_pdm
from envmgr.manifest.adopt.pixi import environments_of_pixi
from envmgr.manifest.adopt.poetry import indexes_of_poetry, read_poetry
from envmgr.manifest.adopt.requirements import read_requirements
from envmgr.manifest.adopt.tox_toml import environments_of_tox
from envmgr.manifest.adopt.uv_settings import with_settings


def read_pyproject(text: str, others: Mapping[str, str], wanted: Iterable[str] = ()) -> tuple[Draft, ...]:
    """Return the draft of a project's dependencies, and those of the environments that tox, hatch and pixi have in it.

    Its extras and groups are named in notes, not installed, but those that are wanted. Raises UsageError for one of
    these that it does not have.
    """
    data = with_groups(_toml(text, "pyproject.toml"), wanted)
    tools = data.get("tool", {})
    draft, *more = _with_pixi(data, _of_project(data, others))
    tox = environments_of_tox(tools["tox"], others) if "tox" in tools else ()
    tested = [replace(each, name="-".join(filter(None, ("tox", each.name)))) for each in tox if each.requirements]
    tested += [*more, *environments_of_hatch(data, draft)]
    if not tested:
        return (draft,)
    if not draft.requirements:
        return tuple(tested)
    return (replace(draft, name=""), *tested)


def _of_project(data: Mapping[str, Any], others: Mapping[str, str]) -> Draft:
    project, tools = data.get("project", {}), data.get("tool", {})
    poetry = tools.get("poetry", {})
    if not project.get("dependencies") and poetry.get("dependencies"):
        found = read_poetry(poetry)
        python = project.get("requires-python")
        return replace(
            found,
            name=found.name or str(project.get("name", "")),
            python=python_range(python) if python else found.python,
        )
    asked, notes = _dependencies(project, tools.get("setuptools", {}).get("dynamic", {}), others)
    inner, *_ = read_requirements("\n".join(asked), others) if asked else (Draft(()),)
    kept, unusable = settle(project.get("dependencies", ()))
    indexes, untold = indexes_of_poetry(poetry)
    pdm = tools.get("pdm", {})
    extras = [
        *project.get("optional-dependencies", {}),
        *data.get("dependency-groups", {}),
        *pdm.get("dev-dependencies", {}),
        *poetry.get("group", {}),
    ]
    draft = Draft(
        requirements=(*kept, *inner.requirements),
        name=str(project.get("name", "")),
        python=python_range(project.get("requires-python", ANY_PYTHON)),
        constraints=inner.constraints,
        indexes=indexes,
        notes=(*notes, *inner.notes, *unusable, *untold, *groups_left(extras)),
    )
    return with_settings(with_pdm(draft, pdm), tools.get("uv", {}))


def _dependencies(
    project: Mapping[str, Any], dynamic: Mapping[str, Any], others: Mapping[str, str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the requirements files that dynamic dependencies stand in, and what is to be told of them."""
    if "dependencies" not in project.get("dynamic", ()):
        return [], ()
    named = dynamic.get("dependencies", {}).get("file", ())
    if named:
        return [f"-r {path}" for path in ([named] if isinstance(named, str) else named)], ()
    beside = next((name for name in ("setup.py", "setup.cfg") if name in others), "")
    where = f": envmgr init --from {beside}" if beside else ""
    return [], (f"its dependencies are dynamic: only its build backend knows them{where}",)


def _with_pixi(data: Mapping[str, Any], project: Draft) -> tuple[Draft, ...]:
    """Return the draft of a project as pixi's default environment has it, and those of pixi's others."""
    pixi = data.get("tool", {}).get("pixi")
    if not pixi:
        return (project,)
    default, *others = environments_of_pixi(pixi, project, lambda name: asked_by(data, name))
    return (replace(default, name=project.name), *(replace(each, name=f"pixi-{each.name}") for each in others))


def read_pylock(text: str) -> tuple[Draft, ...]:
    """Return the draft of a lock of PEP 751: its versions, pinned; hashes and addresses are left to envmgr's lock."""
    data = _toml(text, "pylock.toml")
    texts = [
        f"{entry['name']}=={entry['version']}" + (f" ; {entry['marker']}" if entry.get("marker") else "")
        for entry in data.get("packages", ())
        if entry.get("version")
    ]
    unpinned = [entry["name"] for entry in data.get("packages", ()) if not entry.get("version")]
    kept, notes = settle(texts)
    notes += tuple(f"left out: {name} comes from a folder or a repository" for name in unpinned)
    return (Draft(kept, python=python_range(data.get("requires-python", ANY_PYTHON)), notes=notes),)


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no TOML", str(error), "mend it first") from None
