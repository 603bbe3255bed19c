"""What uv tells of its downloads and builds while it installs, as a line for people: sizes, and the time left."""

from __future__ import annotations

import re
from collections.abc import Callable

from envmgr.outside import Event, Hearer

_BEGUN = re.compile(r"Downloading (?P<name>\S+) \((?P<size>[\d.]+)(?P<unit>[KMG]?i?B)\)")
_ENDED = re.compile(r"Downloaded (?P<name>\S+)")
_BUILDING = re.compile(r"Building (?P<name>\S+)")
_RESOLVED = re.compile(r"Resolved \d+ packages? in .+")
_PREPARED = re.compile(r"Prepared \d+ packages? in .+")
_BUILT = re.compile(r"Built (?P<name>\S+)")
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_MIB = 1 << 20
DONE = "everything is fetched"
"""What is told when nothing is on its way any more."""
_REST = "small files, unpacking"
"""What uv does without telling of it, once all that is large is here."""


_WORTH_A_WARNING = 1_000_000_000


def warn_of_size(size: int, label: str, listener: Hearer) -> None:
    """Tell whoever watches of downloads that may take long."""
    if size >= _WORTH_A_WARNING:
        text = f"up to {size / 1e9:.1f} GB will be downloaded unless they are cached"
        listener.on_event(Event("warning", label, text))


class Downloads:
    """Follows the lines of one installation; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun: float | None = None
        self._sizes: dict[str, int] = {}
        self._ended: set[str] = set()
        self._building: list[str] = []

    @property
    def sizes(self) -> dict[str, str]:
        """The bytes of the downloads that have ended and of all, for who shows a bar; none when none is on its way."""
        return {"done": str(self._done), "whole": str(sum(self._sizes.values()))} if self._loading else {}

    @property
    def building_alone(self) -> bool:
        """Whether something is built from source while nothing large is on its way."""
        return bool(self._building) and not self._loading

    def hear(self, line: str) -> str | None:
        """Take a line of uv's and return what is to be told now, or None if it is about something else."""
        text = line.strip()
        if found := _BEGUN.fullmatch(text):
            self._begun = self._clock() if self._begun is None else self._begun
            self._sizes[found["name"]] = int(float(found["size"]) * _BYTES.get(found["unit"], 1))
        elif found := _ENDED.fullmatch(text):
            self._ended.add(found["name"])
        elif found := _BUILDING.fullmatch(text):
            self._building.append(found["name"])
        elif (found := _BUILT.fullmatch(text)) and found["name"] in self._building:
            self._building.remove(found["name"])
        elif _PREPARED.fullmatch(text):
            return DONE
        else:
            return None
        return "; ".join(part for part in (self._downloading(), self._compiling()) if part) or _REST

    @property
    def _loading(self) -> bool:
        return bool(self._sizes.keys() - self._ended)

    @property
    def _done(self) -> int:
        return sum(size for name, size in self._sizes.items() if name in self._ended)

    def _downloading(self) -> str:
        if not self._loading:
            return ""
        whole = sum(self._sizes.values())
        done = self._done
        count = f"{len(self._ended & self._sizes.keys())} of {len(self._sizes)}"
        return f"{count} downloads, {done / _MIB:.0f} of {whole / _MIB:.0f} MiB{self._left(done, whole)}"

    def _left(self, done: int, whole: int) -> str:
        """Return the time that the rest will take at the pace so far; nothing before there is a pace."""
        elapsed = self._clock() - self._begun if self._begun is not None else 0.0
        return f", about {elapsed * (whole - done) / done:.0f} s left" if done and elapsed > 0 else ""

    def _compiling(self) -> str:
        return f"building {', '.join(self._building)}" if self._building else ""


def has_answers(line: str) -> bool:
    """Tell whether a line of uv's says that the indexes have answered for all that is asked for.

    >>> has_answers("Resolved 13 packages in 4.71s"), has_answers("Prepared 13 packages in 2s")
    (True, False)
    """
    return _RESOLVED.fullmatch(line.strip()) is not None


def without_progress(output: str) -> str:
    """Return what an installer said besides its downloads and builds that went well."""
    told = (_BEGUN, _ENDED, _BUILDING, _BUILT)
    lines = output.splitlines(keepends=True)
    return "".join(line for line in lines if not any(each.fullmatch(line.strip()) for each in told))
