"""One call of `uv pip compile`: nothing takes part in it that is not written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envmgr.lock.floors import Floor
from envmgr.lock.inputs import indexes, served
from envmgr.lock.pylock import write_preferences
from envmgr.lock.work import Resolver, Wish
from envmgr.model.lock import LockedDistribution
from envmgr.ports import Completed, ProcessRequest

ALL = "*"
"""Stands for every distribution among those that may be built from source."""

PROJECT = "envmgr-target"
"""The name under which uv knows what asks for the requirements."""


@dataclass(frozen=True, slots=True)
class Question:
    """What uv is asked to resolve.

    `sources` are built from source, all others come as wheels. `folders` are wheel folders that stand in for explicit
    indexes, by index name. The versions in `keep` stay where they still fit. `merged` takes the best version of all
    default indexes, as pip does; else the first index that has a distribution serves it.
    """

    requirements: tuple[str, ...]
    floor: Floor
    sources: frozenset[str] = frozenset()
    folders: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[LockedDistribution, ...] = ()
    dependencies: bool = True
    merged: bool = True


def ask(question: Question, wish: Wish, resolver: Resolver, folder: Path) -> Completed:
    """Run uv in a folder of its own and return how it ended; its answer, in the form of PEP 751, is on stdout."""
    overrides = wish.target.manifest.overrides if question.dependencies else ()
    command = (
        *call("compile", question, wish, resolver, folder),
        *_arguments(question, wish, resolver),
        *_listed("--overrides", overrides, resolver, folder),
    )
    if question.keep:
        output = folder / "pylock.toml"
        resolver.files.write(output, write_preferences(question.keep))
        command += ("--output-file", str(output))
    environment = {**resolver.environment, **dict(question.floor.variables)}
    return resolver.process.run(ProcessRequest(command, cwd=folder, env=environment, timeout=resolver.timeout))


def call(verb: str, question: Question, wish: Wish, resolver: Resolver, folder: Path) -> tuple[str, ...]:
    """Write the project and the configuration into a folder; return the start of a command of `uv pip` about them."""
    import tomlkit  # noqa: PLC0415 - every command imports this module, few resolve

    project = folder / "pyproject.toml"
    configuration = folder / "uv.toml"
    resolver.files.write(project, tomlkit.dumps(_project(question, wish)))
    resolver.files.write(configuration, tomlkit.dumps(_configuration(question, wish, resolver)))
    arguments = [str(resolver.uv), "--config-file", str(configuration), "pip", verb]
    arguments += ["-r", str(project)] if verb == "install" else [str(project)]
    arguments += ["--python", str(wish.interpreter or resolver.any_python), "--no-python-downloads"]
    if ALL not in question.sources:
        arguments += ["--only-binary", ":all:"]
    arguments += [part for name in sorted(question.sources - {ALL}) for part in ("--no-binary", name)]
    if not question.dependencies:
        arguments.append("--no-deps")
    if resolver.offline:
        arguments.append("--offline")
    # uv would take what a build needs from the default index, even what an explicit index alone may serve.
    walls = (f"{name}<0" for name in served(wish.target))
    constraints = (*wish.target.manifest.build_constraints, *walls)
    arguments += _listed("--build-constraints", constraints, resolver, folder)
    return tuple(arguments)


def _listed(option: str, texts: Iterable[str], resolver: Resolver, folder: Path) -> tuple[str, ...]:
    """Write requirements into a file and return the option that names it, nothing where there are none."""
    lines = "".join(f"{text}\n" for text in texts)
    if not lines:
        return ()
    path = folder / f"{option.strip('-')}.txt"
    resolver.files.write(path, lines)
    return (option, str(path))


def _arguments(question: Question, wish: Wish, resolver: Resolver) -> tuple[str, ...]:
    arguments = ["--format", "pylock.toml", "--generate-hashes", "--no-header", "--no-annotate"]
    arguments += ["--python-version", _oldest(wish), "--python-platform", question.floor.platform]
    if resolver.host_sources:
        arguments += [part for path in resolver.settings.constraints for part in ("--constraints", path)]
    arguments += [part for name in sorted(wish.upgrade - {ALL}) for part in ("--upgrade-package", name)]
    if not resolver.offline:
        arguments += [part for name in _wanted_anew(wish) for part in ("--refresh-package", name)]
    return tuple(arguments)


def _wanted_anew(wish: Wish) -> list[str]:
    """Return what is to move to its newest version: uv would trust pages of the index that it read minutes ago."""
    if ALL not in wish.upgrade:
        return sorted(wish.upgrade)
    return sorted({canonicalize_name(Requirement(text).name) for text in wish.target.manifest.requirements})


def _oldest(wish: Wish) -> str:
    """Return the oldest release of the minor version that the target admits: what fits it fits the later ones."""
    wanted = SpecifierSet(wish.target.python)
    patch = next((patch for patch in range(60) if wanted.contains(f"{wish.python}.{patch}")), 0)
    return f"{wish.python}.{patch}" if patch else wish.python


def _project(question: Question, wish: Wish) -> dict[str, Any]:
    """Return a project that asks for the requirements, some of them from explicit indexes."""
    asked = {canonicalize_name(Requirement(text).name) for text in question.requirements}
    entries: list[dict[str, Any]] = []
    for index in indexes(wish.target):
        place: dict[str, Any] = {"url": index.url}
        if index.name in question.folders:
            place = {"url": question.folders[index.name], "format": "flat"}
        entries.append({"name": index.name, "explicit": True, **place})
    sources = {name: {"index": index} for name, index in served(wish.target).items() if name in asked}
    return {
        "project": {"name": PROJECT, "version": "0", "dependencies": list(question.requirements)},
        "tool": {"uv": {"index": entries, "sources": sources}},
    }


def _configuration(question: Question, wish: Wish, resolver: Resolver) -> dict[str, Any]:
    """Return uv's whole configuration. It stands in a file: URLs with credentials must not show among processes."""
    settings = resolver.settings
    configuration: dict[str, Any] = {"python-downloads": "never", "no-index": settings.no_index}
    if settings.index_url:
        configuration["index-url"] = settings.index_url
    if resolver.host_sources:
        configuration["find-links"] = list(settings.find_links)
        configuration["extra-index-url"] = list(settings.extra_index_urls)
        if settings.extra_index_urls and question.merged:
            configuration["index-strategy"] = settings.index_strategy or "unsafe-best-match"
    if wish.target.manifest.exclude_newer:
        configuration["exclude-newer"] = _end_of(wish.target.manifest.exclude_newer)
    early = dict.fromkeys(_asking_for_pre_releases(wish.target.manifest.requirements), "allow")
    if early:
        configuration["prerelease-package"] = early
    if wish.target.manifest.build_requires:
        configuration["extra-build-dependencies"] = {
            name: list(texts) for name, texts in wish.target.manifest.build_requires.items()
        }
    return configuration


def _asking_for_pre_releases(requirements: Iterable[str]) -> list[str]:
    """Return the names of those that name a pre-release: `torch>=2.0.dev0` admits pre-releases of torch alone."""
    asked = (Requirement(text) for text in requirements)
    return sorted({canonicalize_name(each.name) for each in asked if each.specifier.prereleases})


def _end_of(day: date) -> str:
    """Return the end of a day in UTC; a bare date would mean the host's own time zone."""
    return f"{(day + timedelta(days=1)).isoformat()}T00:00:00Z"
