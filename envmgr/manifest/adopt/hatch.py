"""`[tool.hatch.envs]` of pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, settle
from envmgr.manifest.adopt.groups import asked_by

_OWN = "default"
"""The environment from which all others take what they do not say themselves."""
_ADDED = ("dependencies", "extra-dependencies")
_TELLING = frozenset({*_ADDED, "features", "dependency-groups", "python", "matrix"})
"""What makes an environment another one than its template."""


def environments_of_hatch(data: Mapping[str, Any], project: Draft) -> tuple[Draft, ...]:
    """Return the drafts of hatch's environments that ask for something besides the project itself.

    `project` is the draft of the project, whose dependencies are in those environments in which it is installed.
    """
    envs = data.get("tool", {}).get("hatch", {}).get("envs", {})
    telling = [name for name, own in envs.items() if _TELLING & own.keys()]
    drafts = (_draft(name, _settings(envs, name), data, project) for name in telling)
    return tuple(draft for draft in drafts if draft is not None)


def _settings(envs: Mapping[str, Any], name: str, within: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what an environment says, over what its template says; a matrix is its own alone."""
    own = dict(envs.get(name, {}))
    template = own.get("template", name if own.get("detached") else _OWN)
    if template == name or template in within:
        return own
    inherited = _settings(envs, template, within | {name})
    inherited.pop("matrix", None)
    inherited.pop("detached", None)
    more = [*inherited.get("extra-dependencies", ()), *own.get("extra-dependencies", ())]
    return {**inherited, **own, "extra-dependencies": more}


def _draft(name: str, settings: Mapping[str, Any], data: Mapping[str, Any], project: Draft) -> Draft | None:
    alone = bool(settings.get("skip-install") or settings.get("detached"))
    texts = [str(text) for key in _ADDED for text in settings.get(key, ())]
    texts += [text for group in settings.get("dependency-groups", ()) for text in asked_by(data, str(group))]
    if not alone:
        texts += [text for extra in settings.get("features", ()) for text in asked_by(data, str(extra))]
    kept, unusable = settle(text for text in texts if "{root" not in text)
    if not kept:
        return None
    notes = [f"left out: {text} comes from a folder" for text in texts if "{root" in text]
    pythons, untaken = _pythons(settings)
    notes += untaken
    specifier, variants = python_of_many(pythons)
    variables = dict(_variables(settings.get("env-vars", {}), notes))
    own = Draft((), python=project.python) if alone else replace(project, notes=())
    return replace(
        own,
        requirements=tuple(dict.fromkeys((*own.requirements, *kept))),
        name=f"hatch-{name}",
        python=specifier if pythons else project.python,
        pythons=variants,
        variables=variables,
        notes=(*notes, *unusable),
    )


def _pythons(settings: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the Pythons of an environment, or of its matrix, and notes on what else a matrix varies."""
    matrix = settings.get("matrix", ())
    named = [str(each) for row in matrix for key in ("python", "py") for each in row.get(key, ())]
    axes = dict.fromkeys(key for row in matrix for key in row if key not in {"python", "py"})
    notes = [f"not taken over: the {axis} of a matrix" for axis in axes]
    notes += ["not taken over: overrides"] if settings.get("overrides") else []
    wanted = [minor_of(text) for text in (named or [str(settings.get("python", ""))])]
    return [minor for minor in wanted if minor], notes


def _variables(table: Mapping[str, Any], notes: list[str]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if "{" in str(value):
            notes.append(f"left out: the variable {name}")
        else:
            yield str(name), str(value)
