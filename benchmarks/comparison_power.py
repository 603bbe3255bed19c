"""How often `matrix compare` is wrong, and how small a change it finds.

Pairs of equal cells must almost never come out as faster or slower, and planted slowdowns must be found. The values are
simulated (drift that is correlated in time, heavy tails, processes that are hit now and then), or taken from real
processes with --measured FILE: a JSON list of seconds, one a process, in the order in which they were measured
(`benchmarks/measure_processes.py` makes one).

    python benchmarks/comparison_power.py [--pairs 1000] [--processes 10] [--measured FILE]
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from envmgr.model.comparison import Verdict
from envmgr.stats.compare import Measured, judge_all

CHANGES = (0.0, 0.05, 0.10)
Series = Callable[[random.Random, int], list[float]]


@dataclass(frozen=True)
class Noise:
    """Relative noise of one value a process: `drift` wanders with a memory of `memory`, `own` has heavy tails.

    With a chance of `hits` a process takes 10 to 40 % longer, because something else ran.
    """

    drift: float
    own: float
    hits: float
    memory: float = 0.7

    def series(self, draw: random.Random, count: int) -> list[float]:
        """Return the seconds of processes that follow one another."""
        wander, values = draw.gauss(0, self.drift), []
        for _ in range(count):
            wander = self.memory * wander + draw.gauss(0, self.drift * (1 - self.memory**2) ** 0.5)
            tail = draw.gauss(0, 1) / (sum(draw.gauss(0, 1) ** 2 for _ in range(3)) / 3) ** 0.5 / 3**0.5
            hit = draw.uniform(0.1, 0.4) if draw.random() < self.hits else 0.0
            values.append(1 + wander + self.own * tail + hit)
        return values


NOISES = {
    "quiet machine": Noise(drift=0.005, own=0.008, hits=0.02),
    "shared 2-core machine": Noise(drift=0.015, own=0.012, hits=0.05),
    "drifting machine": Noise(drift=0.03, own=0.008, hits=0.05),
    "very noisy machine": Noise(drift=0.03, own=0.02, hits=0.10),
}


def cut_from(values: list[float]) -> Series:
    """Return a source of stretches of real processes, kept in their order so that their drift is kept too."""

    def series(draw: random.Random, count: int) -> list[float]:
        start = draw.randrange(len(values))
        return [values[(start + place) % len(values)] for place in range(count)]

    return series


def pair(series: Series, draw: random.Random, processes: int, change: float, *, paired: bool) -> Measured:
    """Return two cells measured in turns in one run, or in two runs; the second has the planted change."""
    if paired:
        both = series(draw, 2 * processes)
        one, other = both[0::2], both[1::2]
    else:
        one, other = series(draw, processes), series(draw, processes)
    return Measured(dict(enumerate(one)), {at: value * (1 + change) for at, value in enumerate(other)}, paired)


def shares(series: Series, pairs: int, processes: int, change: float, *, paired: bool) -> Counter[Verdict]:
    """Return how often each verdict is given to pairs with this change, each pair judged alone."""
    draw = random.Random(f"{processes} {change} {paired}")
    return Counter(judge_all([pair(series, draw, processes, change, paired=paired)])[0].verdict for _ in range(pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--measured", type=Path, help="JSON list of seconds, one a process")
    options = parser.parse_args()
    sources: dict[str, Series] = {name: noise.series for name, noise in NOISES.items()}
    if options.measured:
        sources = {options.measured.stem: cut_from(json.loads(options.measured.read_text(encoding="utf-8")))}
    print(f"{options.pairs} pairs, {options.processes} processes a cell; in % of the pairs\n")
    print("| noise | compared | equal: claimed | equal: same | 5 % slower: found | 10 % slower: found |")
    print("|---|---|---:|---:|---:|---:|")
    for name, series in sources.items():
        for paired in (True, False):
            found = [shares(series, options.pairs, options.processes, change, paired=paired) for change in CHANGES]
            claimed = found[0][Verdict.FASTER] + found[0][Verdict.SLOWER]
            counts = (claimed, found[0][Verdict.SAME], found[1][Verdict.SLOWER], found[2][Verdict.SLOWER])
            columns = " | ".join(f"{100 * count / options.pairs:.1f}" for count in counts)
            print(f"| {name} | {'within a run' if paired else 'two runs'} | {columns} |")


if __name__ == "__main__":
    main()
