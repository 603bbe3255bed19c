"""pixi.toml, and `[tool.pixi]` of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from envmgr.errors import UsageError
from envmgr.manifest.adopt.conda import asked_of_an_index, channels_left, python_of_conda
from envmgr.manifest.adopt.draft import Draft, DraftIndex, settle, with_all_notes, without_credentials

_DEFAULT = "default"
_ELSEWHERE = ("git", "path", "url")
_MARKERS = {
    "linux": "sys_platform == 'linux'",
    "linux-64": "sys_platform == 'linux' and platform_machine == 'x86_64'",
    "linux-aarch64": "sys_platform == 'linux' and platform_machine == 'aarch64'",
    "osx": "sys_platform == 'darwin'",
    "osx-64": "sys_platform == 'darwin' and platform_machine == 'x86_64'",
    "osx-arm64": "sys_platform == 'darwin' and platform_machine == 'arm64'",
    "unix": "sys_platform != 'win32'",
    "win": "sys_platform == 'win32'",
    "win-64": "sys_platform == 'win32'",
}
"""The systems that a part is for, as pixi calls them."""


def read_pixi(text: str, _: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the drafts of pixi's environments: the default one, and each other that asks for something else."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError("pixi.toml is no TOML", str(error), "mend it first") from None
    told = data.get("workspace") or data.get("project") or {}
    return environments_of_pixi(data, Draft((), name=str(told.get("name", ""))))


def environments_of_pixi(
    data: Mapping[str, Any], project: Draft, asked_by: Callable[[str], Iterable[str]] = lambda _: ()
) -> tuple[Draft, ...]:
    """Return the drafts of pixi's environments, the default one first.

    `project` is what the project itself asks for in that, `asked_by` what its extras and groups do: features, too.
    """
    drafts: dict[tuple[object, ...], Draft] = {}
    for name, told in {_DEFAULT: [], **data.get("environments", {})}.items():
        settings = told if isinstance(told, Mapping) else {"features": told}
        reading = _Reading()
        alone = settings.get("no-default-feature")
        if not alone:
            reading.take(data)
        for feature in settings.get("features", ()):
            reading.take(data.get("feature", {}).get(feature, {}))
            reading.texts += asked_by(feature)
        draft = reading.over(replace(project, requirements=()) if alone else project)
        draft = replace(draft, name=project.name if name == _DEFAULT else name)
        drafts.setdefault((draft.requirements, draft.python, tuple(draft.variables.items())), draft)
    default, *others = drafts.values()
    told = channels_left(data.get("workspace") or data.get("project") or {})
    told += ("not taken over: pypi-options",) if data.get("pypi-options") else ()
    default = replace(default, name="" if others else default.name, notes=(*default.notes, *told))
    return with_all_notes((default, *others))


@dataclass(slots=True)
class _Reading:
    """What the parts of one environment ask for, one after the other."""

    texts: list[str] = field(default_factory=list)
    pythons: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    served: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def take(self, part: Mapping[str, Any]) -> None:
        """Take a part of the file: its tables for all systems, and those for some."""
        self._take(part, "")
        for system, inner in part.get("target", {}).items():
            if system in _MARKERS:
                self._take(inner, f" ; {_MARKERS[system]}")
            else:
                self.notes.append(f"left out: what is for {system} alone")
        if part.get("system-requirements"):
            self.notes.append("not taken over: system-requirements")

    def over(self, project: Draft) -> Draft:
        """Return the draft of the environment, with what the project asks for in it."""
        kept, unusable = settle(self.texts)
        indexes = tuple(DraftIndex(_name_of(url), url, tuple(names)) for url, names in self.served.items())
        python = python_of_conda(self.pythons, self.notes) if self.pythons else project.python
        return replace(
            project,
            requirements=tuple(dict.fromkeys((*project.requirements, *kept))),
            python=python,
            indexes=(*project.indexes, *indexes),
            variables=self.variables,
            notes=(*project.notes, *dict.fromkeys((*self.notes, *unusable))),
        )

    def _take(self, part: Mapping[str, Any], marker: str) -> None:
        for name, wanted in part.get("dependencies", {}).items():
            self.texts += [f"{text}{marker}" for text in self._of_conda(name, wanted)]
        for name, wanted in part.get("pypi-dependencies", {}).items():
            self.texts += [f"{text}{marker}" for text in self._of_an_index(name, wanted)]
        for name, value in part.get("activation", {}).get("env", {}).items():
            if "$" in str(value) or marker:
                self.notes.append(f"left out: the variable {name}")
            else:
                self.variables[name] = str(value)

    def _of_conda(self, name: str, wanted: Any) -> Iterator[str]:
        table = wanted if isinstance(wanted, Mapping) else {"version": wanted}
        if self._is_elsewhere(name, table):
            return
        version = re.sub(r"\s", "", str(table.get("version", "*")))
        fuzzy = "=" if version[:1].isdigit() and not version.endswith("*") else " "
        yield from asked_of_an_index(name + (fuzzy if version[:1] not in "=<>!~" else "") + version,
                                     self.pythons, self.notes)  # fmt: skip

    def _of_an_index(self, name: str, wanted: Any) -> Iterator[str]:
        table = wanted if isinstance(wanted, Mapping) else {"version": wanted}
        if self._is_elsewhere(name, table):
            return
        if table.get("index"):
            self.served.setdefault(without_credentials(str(table["index"])), []).append(name)
        extras = f"[{','.join(table['extras'])}]" if table.get("extras") else ""
        version = str(table.get("version", "*")).strip()
        yield f"{name}{extras}" + ("" if version == "*" else f"=={version}" if version[:1].isdigit() else version)

    def _is_elsewhere(self, name: str, table: Mapping[str, Any]) -> bool:
        found = any(key in table for key in _ELSEWHERE)
        if found:
            self.notes.append(f"left out: {name} comes from a folder, a repository or an address")
        return found


def _name_of(url: str) -> str:
    """Return a name for an index that has none.

    >>> _name_of("https://download.own.example/whl/cu121")
    'download.own.example-whl-cu121'
    """
    return re.sub(r"[^a-z0-9.]+", "-", url.partition("://")[2].lower()).strip("-.")
