"""Answers for people about manifests and hosts."""

from __future__ import annotations

from collections.abc import Sequence

from envmgr.app.catalog import CatalogueEntry, Details
from envmgr.app.doctoring import Examination
from envmgr.cli.look import look
from envmgr.cli.session import say
from envmgr.errors import ManifestError
from envmgr.model.host import HostFacts
from envmgr.report import tables
from envmgr.report.text import sharing_in_words


def show_catalogue(entries: Sequence[CatalogueEntry], broken: Sequence[ManifestError]) -> None:
    """Print the list of manifests, and which of them cannot be read."""
    listed = [
        tables.Listed(
            label=entry.name if entry.variant == "default" else f"{entry.name}@{entry.variant}",
            summary=entry.summary,
            match=entry.match,
            state="built" if entry.built else ("locked" if entry.locked else ""),
        )
        for entry in entries
    ]
    print(tables.manifests(listed, look()), end="")
    for error in broken:
        say("", f"broken: {error.what}", *(f"  {line}" for line in error.why.splitlines()))


def show_details(found: Details) -> None:
    """Print one manifest, its locks and its env."""
    manifest = found.manifest
    say(f"{manifest.name}  {manifest.summary}", f"  file          {found.path}", f"  python        {manifest.python}")
    say(f"  requirements  {', '.join(manifest.requirements) or 'a history of steps'}")
    say(*(f"  step          {' '.join(step.install + step.uninstall)} ({step.installer})" for step in manifest.step))
    say(f"  backend       {manifest.backend or 'none'}", f"  runners       {', '.join(manifest.runners) or 'none'}")
    for lock in found.locks:
        state = f"stale: {lock.stale}" if lock.stale else f"{len(lock.distributions)} distributions"
        say(f"  lock          {lock.variant} {lock.platform}: {state}")
    if found.env:
        say(f"  built         {found.env.path}")
        say(*(f"                {name} {version}" for name, version in sorted(found.env.resolved.items())))


def show_examination(found: Examination) -> None:
    """Print what doctor found."""
    print(tables.doctor(found.facts, [(each.label, each.match) for each in found.manifests], look()), end="")
    if found.sharing is not None:
        say(f"files of environments: {sharing_in_words(found.sharing, found.sharing_why)}")
    for what in found.broken:
        say(f"broken: {what}")


def show_pythons(facts: HostFacts) -> None:
    """Print the Pythons of a host."""
    for each in facts.interpreters:
        translated = ", translated" if each.translated else ""
        say(f"{each.version:<10} {each.implementation} {each.arch}{translated:<14} {each.source:<12} {each.executable}")
    for rejected in facts.rejected_interpreters:
        say(f"not usable {rejected.executable}: {rejected.reason}")
    if facts.fetchable_pythons:
        say(f"uv can fetch: {', '.join(facts.fetchable_pythons)}")
