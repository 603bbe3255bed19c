"""A lock with the addresses of its artefacts, in the form of PEP 751: made on demand, as addresses grow old."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from typing import Any

from envmgr.errors import ResolveError
from envmgr.lock.compile import Question, ask
from envmgr.lock.floors import Floor, floors
from envmgr.lock.trouble import resolve_error
from envmgr.lock.work import Resolver, Wish
from envmgr.model.lock import Lock


def as_pylock(lock: Lock, wish: Wish, resolver: Resolver) -> str:
    """Return pylock.toml with those artefacts of the indexes alone whose hashes the lock admits.

    Raises ResolveError when an index does not answer or no longer has one of them.
    """
    question = Question(
        requirements=tuple(
            f"{each.name}=={each.version}" + (f" ; {each.marker}" if each.marker else "") for each in lock.distributions
        ),
        floor=_floor(lock),
        sources=frozenset(each.name for each in lock.distributions if each.source),
        dependencies=False,
    )
    with resolver.files.scratch("export") as folder:
        completed = ask(question, wish, resolver, folder)
    if not completed.good:
        raise resolve_error(completed, wish, resolver)
    import tomlkit  # noqa: PLC0415 - every command that builds imports this module, few export

    document = tomlkit.parse(completed.stdout)
    document["created-by"] = "envmgr"
    admitted = {each.name: frozenset(each.hashes) for each in lock.distributions}
    for entry in document.get("packages", ()):
        _keep_admitted(entry, admitted.get(str(entry["name"]), frozenset()))
    return tomlkit.dumps(document)


def _floor(lock: Lock) -> Floor:
    all_floors = floors(lock.platform)
    return next((floor for floor in all_floors if floor.minimum == lock.minimum), all_floors[0])


def _keep_admitted(entry: MutableMapping[str, Any], hashes: Collection[str]) -> None:
    wheels = [wheel for wheel in entry.get("wheels", ()) if _hash(wheel) in hashes]
    if "wheels" in entry and len(wheels) != len(entry["wheels"]):
        entry["wheels"] = wheels
    if "sdist" in entry and _hash(entry["sdist"]) not in hashes:
        del entry["sdist"]
    if not entry.get("wheels"):
        entry.pop("wheels", None)
    if "wheels" not in entry and "sdist" not in entry:
        raise ResolveError(
            f"{entry['name']} {entry['version']} has left its index",
            "wanted one of the artefacts whose hashes the lock holds; the index lists none of them",
            "renew the lock (`envmgr lock NAME`), or name an index that still has it",
            answered=True,
        ).lacking(f"{entry['name']}=={entry['version']}")


def _hash(artefact: MutableMapping[str, Any]) -> str:
    return f"sha256:{artefact.get('hashes', {}).get('sha256')}"
