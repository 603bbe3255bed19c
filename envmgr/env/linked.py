"""Files of an env that are names of files in uv's cache: are they what their wheel says?

A write by hand in any env that shares a wheel reaches the cache and all others. So files are hashed when they are first
linked, and afterwards taken for good as long as they are the same inode with the same size, time and mode.
"""

from __future__ import annotations

import csv
import hashlib
import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from envmgr.outside import Files

LINKED = "-"
"""What a snapshot has instead of the time of the inode of a file with several names."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What became of a look at linked files: the distributions whose files are not what was released.

    `unclaimed` are linked files, as paths from the env's folder, of which no wheel tells a digest.
    """

    damaged: tuple[str, ...] = ()
    unclaimed: tuple[str, ...] = ()


def is_linked(facts: str) -> bool:
    """Tell from what a snapshot says of a file whether it has other names.

    >>> is_linked("100644 12 1600000000 - 42"), is_linked("100644 12 1600000000 1600000001 42"), is_linked("folder")
    (True, False, False)
    """
    words = facts.split()
    return len(words) > 3 and words[3] == LINKED  # noqa: PLR2004 - mode, size, time of content, time of inode, inode


def trust(
    folder: Path, found: Mapping[str, str], known: Path, files: Files, before: Mapping[str, str] | None = None
) -> Trust:
    """Look at the linked files in an env's snapshot; what was found good is kept below `known` for the next env.

    `before` is the snapshot of an earlier look, since when damaged distributions were brought anew: what is new and
    still not what its RECORD says was released so.
    """
    linked = {path for path, facts in found.items() if is_linked(facts)}
    claimed: set[str] = set()
    good: set[str] = set()
    doubted: dict[str, set[str]] = {}
    for info in _infos(found):
        record = files.read(folder / info / "RECORD") or ""
        rows = {path: digests for path, digests in _rows(info, record).items() if path in linked}
        claimed |= rows.keys()
        place = known / f"{PurePosixPath(info).name}-{hashlib.sha256(record.encode()).hexdigest()[:16]}.json"
        seen = _read(place, files)
        held = {path for path in rows if seen.get(path) == found[path]}
        fresh = {path for path in rows.keys() - held if _holds(folder / path, rows[path], files)}
        fresh = {path for path in fresh if not _has_another_mode(seen.get(path), found[path])}
        fresh |= {path for path in rows.keys() - held if before is not None and _is_new(before.get(path), found[path])}
        good |= held | fresh
        for path in rows.keys() - held - fresh:
            doubted.setdefault(path, set()).add(_name(info))
        if fresh:
            facts = {path: found[path] for path in sorted(held | fresh)}
            files.write(place, json.dumps({"schema": 1, "files": facts}), durable=False)
    damaged = {name for path, names in doubted.items() if path not in good for name in names}
    return Trust(tuple(sorted(damaged)), tuple(sorted(linked - claimed)))


def look_at_links(
    folder: Path, files: Files, before: Mapping[str, str] | None = None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what is in an env, and the distributions of which uv's cache holds something else than was released.

    Linked files that no wheel names get bytes of their own. `before` is what an earlier look found.
    """
    found = files.snapshot(folder)
    seen = trust(folder, found, known_wheels(folder.parent), files, before)
    for path in seen.unclaimed:
        files.detach(folder / path)
        found[path] = files.facts(folder / path)
    return found, seen.damaged


def known_wheels(envs: Path) -> Path:
    """Return where it stands which files of uv's cache were found to be what their wheels say."""
    return envs.parent / "known-wheels"


def _infos(found: Mapping[str, str]) -> Iterable[str]:
    return sorted(path for path, facts in found.items() if facts == "folder" and path.endswith(".dist-info"))


def _rows(info: str, record: str) -> dict[str, set[str]]:
    """Return the digests of each file of a RECORD by its path from the env's folder.

    A wheel may hold a path twice, as that of PlaidML 0.6.4 does: the last one written wins, whichever that is.
    """
    site = posixpath.dirname(info)
    found: dict[str, set[str]] = {}
    for row in csv.reader(record.splitlines()):
        if len(row) > 1 and row[1]:
            path = posixpath.join(site, row[0])
            roundabout = "/." in path or "//" in path or path.endswith("/")
            found.setdefault(posixpath.normpath(path) if roundabout else path, set()).add(row[1])
    return found


def _holds(path: Path, recorded: Iterable[str], files: Files) -> bool:
    for each in recorded:
        algorithm, _, wanted = each.partition("=")
        if wanted and files.digest(path, algorithm) == wanted.rstrip("="):
            return True
    return False


def _is_new(before: str | None, now: str) -> bool:
    """Tell whether a file is another one than before, and not the same one changed."""
    return before is None or before.split()[-1] != now.rsplit(maxsplit=1)[-1]


def _has_another_mode(before: str | None, now: str) -> bool:
    """Tell whether the very same file had other rights before: no RECORD tells which are right."""
    if before is None:
        return False
    old, new = before.split(), now.split()
    return old[-1] == new[-1] and old[0] != new[0]


def _read(place: Path, files: Files) -> dict[str, str]:
    try:
        facts = json.loads(files.read(place) or "")["files"]
    except (ValueError, KeyError, TypeError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _name(info: str) -> str:
    """Return the distribution of a metadata folder.

    >>> _name("lib/python3.8/site-packages/plaidml_keras-0.7.0.dist-info")
    'plaidml-keras'
    """
    return PurePosixPath(info).name.removesuffix(".dist-info").rpartition("-")[0].replace("_", "-")
