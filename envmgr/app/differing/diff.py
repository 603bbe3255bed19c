"""diff: two environments, locks, runs, cells or hosts, as people name them."""

from __future__ import annotations

from pathlib import Path

from envmgr.app.building import Builder, BuildWishes
from envmgr.app.differing.sides import of_built, of_cell, of_folder, of_host, of_lock, of_run, of_text, read_facts
from envmgr.app.hosting import facts_here, pythons_here
from envmgr.app.locking import read_lock
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.diagnose.difference import compare, merged
from envmgr.errors import HostError, StoreError, UsageError
from envmgr.host.match import match
from envmgr.manifest.expand import select, target, variants
from envmgr.model.difference import Difference, Differences, Portrait
from envmgr.store.query import find_cell, split_reference

HERE = "here"


def diff(workplace: Workplace, first: str, second: str) -> Differences:
    """Return what differs between two sides; nothing is built, resolved or changed.

    A side is a built manifest (else its lock), a folder with a Python, a file (lock, pylock.toml, freeze, requirements,
    host facts as JSON), a run, a cell as RUN#CELL, or `here`: this host. Raises EnvmgrError for anything else, and
    UsageError where two sides tell nothing of the same kind.
    """
    ones, others = portraits(workplace, first), portraits(workplace, second)
    if len(ones) == 1 and len(others) == 1:
        found = merged(first, second, [compare(ones[0], others[0])])
        if not found.compared:
            raise UsageError(
                f"{first} and {second} cannot be compared",
                f"found {_kind(ones[0])} and {_kind(others[0])}, which tell nothing of the same kind",
                "name two environments, locks or runs, or two hosts",
            )
        return found
    by_scope = {each.scope: each for each in ones}, {each.scope: each for each in others}
    shared = sorted(by_scope[0].keys() & by_scope[1].keys())
    if not shared:
        listed = ", ".join(sorted(filter(None, by_scope[0].keys() | by_scope[1].keys())))
        raise UsageError(
            f"{first} and {second} have no version set in common", f"found {listed}", "name a cell as RUN#CELL"
        )
    alone = [
        Difference(
            kind="version-set",
            name=scope,
            first="there" if scope in by_scope[0] else "",
            second="there" if scope in by_scope[1] else "",
            why="only one of them has it",
        )
        for scope in sorted(by_scope[0].keys() ^ by_scope[1].keys())
    ]
    pairs = (compare(by_scope[0][scope], by_scope[1][scope]) for scope in shared)
    return merged(first, second, pairs, alone)


def portraits(workplace: Workplace, text: str) -> tuple[Portrait, ...]:
    """Return what is known of a side: one portrait, or one a version set of a run."""
    if text == HERE:
        return (of_host(HERE, facts_here(workplace)),)
    path = workplace.caller.folder / Path(text).expanduser()
    if workplace.files.is_folder(path):
        return (of_folder(workplace, text, path),)
    if workplace.files.exists(path):
        read = workplace.files.read(path) or ""
        return (of_host(text, read_facts(read, text)) if path.suffix == ".json" else of_text(text, read),)
    if "#" in text:
        run_name, cell_name = split_reference(text)
        run = stored_run(workplace, run_name)
        return (of_cell(workplace, run, find_cell(run.record.plan, cell_name), text),)
    if text.partition("@")[0] in workplace.shelf:
        return (_of_manifest(workplace, text),)
    try:
        run = stored_run(workplace, text)
    except StoreError as error:
        raise UsageError(
            f"{text} is nothing that can be compared",
            f"wanted a manifest, a folder, a file, a run, RUN#CELL or `{HERE}`; found none of them",
            "envmgr list, envmgr matrix show",
        ) from error
    return of_run(workplace, run, text)


def _of_manifest(workplace: Workplace, text: str) -> Portrait:
    """Return the portrait of a manifest's env if it is built, else of its lock."""
    ((manifest, named),) = select((text,), workplace.shelf)
    variant = named or variants(manifest)[0]
    facts = pythons_here(workplace)
    built = Builder(workplace, facts, BuildWishes()).find(manifest, variant)
    if built is not None:
        return of_built(workplace, text, built)
    platform = match(manifest, variant, facts).platform or manifest.platforms[0]
    found = read_lock(workplace, target(manifest, variant, platform))
    if found is None:
        raise HostError(f"{text} is neither built nor locked here", "", f"envmgr build {text}")
    return of_lock(f"{text} (its lock)", found.lock, manifest)


def _kind(portrait: Portrait) -> str:
    return {"env": "an environment", "host": "a host", "freeze": "a list of distributions"}.get(
        portrait.kind, f"a {portrait.kind}"
    )
