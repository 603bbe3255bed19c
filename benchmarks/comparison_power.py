"""How often `matrix compare` is wrong, and how small a change it finds.

Pairs of equal cells must almost never come out as faster or slower, and slowdowns must be found. As many rounds are taken
as `--effort default` takes. The values are simulated (drift that is correlated in time, heavy tails, processes that are
hit now and then; the slowdown multiplies them), or cut out of real rounds with --measured FILE, in which the slower cells
really had more to do (`benchmarks/equal_cells.py --values FILE` makes one).

    python benchmarks/comparison_power.py [--pairs 1000] [--measured FILE]
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from envmgr.app.planning import EFFORTS
from envmgr.model.comparison import Comparison, Verdict
from envmgr.stats.compare import CHOSEN_ROUNDS, FALSE_ALARMS, Judgement, Measured, judge_all
from envmgr.stats.enough import SoFar, course

CHANGES = (0.0, 0.05, 0.10)
EQUAL = ("one", "two", "three")
SLOWER = {0.05: "five", 0.10: "ten"}
"""What the cells of measured rounds are called: equal ones, and those that are slower by a share."""


class One(NamedTuple):
    """One process: its seconds, and by which factor other programs could have slowed it down."""

    seconds: float
    crowded: float = 1.0


Rounds = Iterator[Sequence[One]]
"""One process a cell, round after round."""
Source = Callable[[random.Random, float, int], Rounds]
"""Rounds of so many equal cells, the last of them slower by a share."""


@dataclass(frozen=True)
class Noise:
    """Relative noise of one value a process: `drift` wanders with a memory of `memory`, `own` has heavy tails.

    With a chance of `hits` a process takes 10 to 40 % longer, because something else ran.
    """

    drift: float
    own: float
    hits: float
    memory: float = 0.7

    def rounds(self, draw: random.Random, change: float, cells: int) -> Rounds:
        """Yield rounds of cells that are measured in turns."""
        wander = draw.gauss(0, self.drift)
        while True:
            values = []
            for cell in range(cells):
                wander = self.memory * wander + draw.gauss(0, self.drift * (1 - self.memory**2) ** 0.5)
                tail = draw.gauss(0, 1) / (sum(draw.gauss(0, 1) ** 2 for _ in range(3)) / 3) ** 0.5 / 3**0.5
                hit = draw.uniform(0.1, 0.4) if draw.random() < self.hits else 0.0
                factor = 1 + change if cell == cells - 1 else 1.0
                values.append(One((1 + wander + self.own * tail + hit) * factor))
            yield values


NOISES = {
    "quiet machine": Noise(drift=0.005, own=0.008, hits=0.02),
    "shared 2-core machine": Noise(drift=0.015, own=0.012, hits=0.05),
    "drifting machine": Noise(drift=0.03, own=0.008, hits=0.05),
    "very noisy machine": Noise(drift=0.03, own=0.02, hits=0.10),
}


def cut_from(measured: Sequence[Mapping[str, One]]) -> Source:
    """Return a source of stretches of real rounds, which begin anywhere and keep their order, drift and all.

    `measured` has in each round the equal cells and the slower ones, by name. Which of the equal ones are taken is drawn.
    """

    def rounds(draw: random.Random, change: float, cells: int) -> Rounds:
        base, other = draw.sample(EQUAL, 2)
        last = SLOWER.get(change, other if cells > 1 else base)
        names = (base, last)[-cells:]
        place = draw.randrange(len(measured))
        while True:
            yield [measured[place % len(measured)][name] for name in names]
            place += 1

    return rounds


def taken(rounds: Rounds, cells: int) -> tuple[list[dict[int, float]], float]:
    """Return for each cell what the rounds gave that `--effort default` takes, and how crowded the machine was."""
    fewest, further = EFFORTS["default"]
    assert further is not None
    values: list[dict[int, float]] = [{} for _ in range(cells)]
    crowded: list[list[float]] = [[] for _ in range(cells)]
    for number, processes in enumerate(rounds):
        for place, process in enumerate(processes):
            values[place][number] = process.seconds
            crowded[place].append(process.crowded)
        if number + 1 >= fewest:
            so_far = {
                str(place): SoFar(cell, frozenset(cell), (), _beside_others(crowded[place]))
                for place, cell in enumerate(values)
            }
            if course(so_far, fewest, further).ended:
                break
    return values, max(median(factors) for factors in crowded)


def _beside_others(factors: Sequence[float]) -> frozenset[int]:
    return frozenset(number for number, factor in enumerate(factors) if factor > 1)


def judged(source: Source, draw: random.Random, change: float, *, paired: bool) -> Judgement:
    """Return the judgement on two cells of one run, or on one cell in two runs; the second is slower by `change`."""
    if paired:
        (one, other), crowded = taken(source(draw, change, 2), 2)
    else:
        ((one,), before), ((other,), after) = taken(source(draw, 0.0, 1), 1), taken(source(draw, change, 1), 1)
        crowded = max(before, after)
    return judge_all([Measured(one, other, paired, crowded)], CHOSEN_ROUNDS if paired else FALSE_ALARMS)[0]


class Line(NamedTuple):
    """How a kind of comparison did, in per cent of the pairs; `processes` is the mean number a cell."""

    processes: float
    claimed: float
    same: float
    found: tuple[float, ...]

    def __str__(self) -> str:
        found = " | ".join(f"{share:.1f}" for share in self.found)
        return f"{self.processes:.1f} | {self.claimed:.1f} | {self.same:.1f} | {found}"


def line_of(judgements: Mapping[float, Sequence[Judgement | Comparison]]) -> Line:
    """Return what judgements come to, which are given for each planted change."""

    def share(change: float, *verdicts: Verdict) -> float:
        counts = Counter(each.verdict for each in judgements[change])
        return 100 * sum(counts[each] for each in verdicts) / len(judgements[change])

    processes = [count for each in judgements.values() for one in each for count in one.processes]
    return Line(
        processes=sum(processes) / len(processes),
        claimed=share(0.0, Verdict.FASTER, Verdict.SLOWER),
        same=share(0.0, Verdict.SAME),
        found=tuple(share(change, Verdict.SLOWER) for change in CHANGES[1:]),
    )


HEADS = "compared | processes a cell | equal: claimed | equal: same | 5 % slower: found | 10 % slower: found |"
RULE = "|---|---:|---:|---:|---:|---:|"


def line_from(source: Source, pairs: int, *, paired: bool) -> Line:
    """Return how so many pairs from a source come out, each judged alone."""
    draw = random.Random(f"{pairs} {paired}")
    return line_of({change: [judged(source, draw, change, paired=paired) for _ in range(pairs)] for change in CHANGES})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--measured", type=Path, help="JSON list of rounds")
    options = parser.parse_args()
    sources: dict[str, Source] = {name: noise.rounds for name, noise in NOISES.items()}
    if options.measured:
        kept = json.loads(options.measured.read_text(encoding="utf-8"))
        measured = [{name: One(*process) for name, process in each.items()} for each in kept]
        sources = {options.measured.stem: cut_from(measured)}
    print(f"{options.pairs} pairs, --effort default; in % of the pairs\n")
    print(f"| noise | {HEADS}\n|---{RULE}")
    for name, source in sources.items():
        for paired in (True, False):
            line = line_from(source, options.pairs, paired=paired)
            print(f"| {name} | {'within a run' if paired else 'two runs'} | {line} |", flush=True)


if __name__ == "__main__":
    main()
