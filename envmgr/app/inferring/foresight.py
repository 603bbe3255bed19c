"""What can be said of an era before it is built: the names that the releases of its day seem to lack.

It is read off the files of wheels that were unpacked here before; where a release was never seen, nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from envmgr.app.inferring.offers import Offers
from envmgr.infer.eras import Era
from envmgr.infer.naming import Wanted
from envmgr.infer.probe import read_glances
from envmgr.ports import Process, ProcessRequest

_SECONDS = 10.0


@dataclass(frozen=True)
class Foresight:
    """Tells of eras; `glance` returns the names that each of some folders lacks, nothing when it cannot tell."""

    offers: Offers
    folders: Mapping[tuple[str, Version], Path]
    glance: Callable[[Sequence[Path]], tuple[frozenset[str], ...]]

    def of(self, eras: Mapping[int, Era], wanted: Sequence[Wanted]) -> dict[int, frozenset[str]]:
        """Return what each era seems to lack, as far as its newest releases were seen here.

        An era of which not all was seen, and of the rest nothing is lacking, is left out. They are looked at in order.
        """
        parts = {at: list(self._seen(era, wanted)) for at, era in eras.items()}
        places = list(dict.fromkeys(folder for seen in parts.values() for _, folder in seen))
        lacking = dict(zip(places, self.glance(places), strict=False)) if places else {}
        looked_at = {at: [(module, place) for module, place in seen if place in lacking] for at, seen in parts.items()}
        found = {at: frozenset(_of_those(seen, lacking)) for at, seen in looked_at.items()}
        return {at: names for at, names in found.items() if names or len(looked_at[at]) == len(wanted)}

    def _seen(self, era: Era, wanted: Sequence[Wanted]) -> Iterator[tuple[str, Path]]:
        for one in wanted:
            name = next((each for each in self.offers.candidates(one) if self.offers.line(each, era)), "")
            releases = self.offers.fitting(name, era) if name else ()
            folder = self.folders.get((name, releases[-1].version)) if releases else None
            if folder is not None:
                yield one.module, folder


def _of_those(seen: Sequence[tuple[str, Path]], lacking: Mapping[Path, frozenset[str]]) -> Iterator[str]:
    for module, folder in seen:
        yield from (name for name in lacking.get(folder, ()) if name.partition(".")[0] == module)


def glance_with(
    python: Path, code_for: Callable[[Sequence[str]], str], process: Process
) -> Callable[[Sequence[Path]], tuple[frozenset[str], ...]]:
    """Return a glance that one of the host's Pythons takes, with no packages of its own."""

    def glance(folders: Sequence[Path]) -> tuple[frozenset[str], ...]:
        code = code_for([str(folder) for folder in folders])
        argv = (str(python), "-I", "-S", "-c", code)
        return read_glances(process.run(ProcessRequest(argv, timeout=_SECONDS)).stdout)

    return glance
