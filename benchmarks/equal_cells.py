"""Equal cells and slower ones, measured for real and compared: how often is a verdict wrong, and what is found?

Makes a project with five version sets that are the same (a bare Python) and a runner that computes for some
milliseconds: in three of them equally long, in the fourth 5 % and in the fifth 10 % longer. `envmgr matrix run --effort
default` measures all in turns, as often as there is time, and what `envmgr matrix compare` calls judges each pair: within
each run, and from one run to the next. Further pairs are cut out of the same rounds, and judged by the same code.

    python benchmarks/equal_cells.py [--minutes 10] [--pairs 1000] [--values FILE]
    python benchmarks/equal_cells.py --neighbour [--runs 5]

`--values FILE` keeps what every process came to, for `comparison_power.py --measured FILE`. With `--neighbour` the two equal
cells alone are measured, and from the middle of each run on another process keeps a core busy.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean, median
from typing import Any

from comparison_power import CHANGES, EQUAL, HEADS, RULE, SLOWER, Line, One, cut_from, line_from, line_of

from envmgr import compare, load
from envmgr.model.comparison import Comparison
from envmgr.model.result import Run
from envmgr.stats.marks import crowding

RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
#
# [tool.envmgr.parameters]
# loops = 200000
# ///
import json
import sys
import time

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
loops = request["parameters"]["loops"]


def work():
    total = 0
    for number in range(loops):
        total += number * number
    return total


seconds = []
for _ in range(15):
    start = time.perf_counter()
    work()
    seconds.append(time.perf_counter() - start)
report = {"protocol": 1, "cell": request["cell"], "status": "ok", "first_call": seconds[0], "warmup": seconds[1:3]}
json.dump({**report, "samples": seconds[3:]}, open(sys.argv[sys.argv.index("--report") + 1], "w"))
"""
MANIFEST = 'schema = 1\nname = "{name}"\npython = "=={python}.*"\nrequirements = ["six==1.17.0"]\nrunners = []\n'
MATRIX = 'schema = 1\nname = "equal"\nmanifests = {names}\neffort = "default"\n'
ENTRY = '\n[[entry]]\nrunner = "spin"\nmanifests = ["{name}"]\nparameters = {{ loops = {loops} }}\n'
LOOPS = 200_000
CELLS = {**dict.fromkeys(EQUAL, 0.0), **{name: change for change, name in SLOWER.items()}}
"""The version sets, and by which share each has more to do."""


def make_project(folder: Path, names: Sequence[str]) -> None:
    (folder / "manifests" / "matrices").mkdir(parents=True)
    (folder / "runners").mkdir()
    (folder / "runners" / "spin.py").write_text(RUNNER, encoding="utf-8")
    python = ".".join(map(str, sys.version_info[:2]))
    text = MATRIX.format(names=json.dumps(list(names)))
    for name in names:
        (folder / "manifests" / f"{name}.toml").write_text(MANIFEST.format(name=name, python=python), encoding="utf-8")
        text += ENTRY.format(name=name, loops=round(LOOPS * (1 + CELLS[name])))
    (folder / "manifests" / "matrices" / "equal.toml").write_text(text, encoding="utf-8")


def envmgr(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "envmgr", *arguments, "--project", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
    if answer["error"]:
        sys.exit(str(answer["error"]))
    return answer["data"]


class Neighbour:
    """A process that keeps one core busy from the moment when so many results of a new run are there."""

    def __init__(self, runs: Path, results: int) -> None:
        self._runs, self._results = runs, results
        self._known = set(runs.glob("*")) if runs.exists() else set()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while not self._ended.wait(0.05):
            new = [path for path in self._runs.glob("*") if path not in self._known]
            if new and len(list(new[0].glob("results/*.json"))) >= self._results:
                self._process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                return

    def end(self) -> bool:
        """End it, and tell whether it ever began."""
        self._ended.set()
        time.sleep(0.1)
        if self._process:
            self._process.kill()
            self._process.wait()
        return self._process is not None


def rounds_of(run: Run) -> Iterator[dict[str, One]]:
    """Yield for each round what each cell's process came to."""
    names = {cell.id: cell.manifest for cell in run.record.plan.cells}
    rounds: dict[int, dict[str, One]] = {}
    for result in run.results:
        assert result.report, result.reason
        one = One(median(result.report.samples), crowding([result]))
        rounds.setdefault(result.round, {})[names[result.cell]] = one
    yield from (rounds[number] for number in sorted(rounds))


def pairs_of(change: float) -> list[tuple[str, str]]:
    """Return which cells make pairs that differ by a share."""
    return [(name, SLOWER[change]) for name in EQUAL] if change else list(combinations(EQUAL, 2))


class Gathered:
    """What repeated runs came to: every round, and the verdicts on real pairs, for each planted change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[str] = []
        self.rounds: list[dict[str, One]] = []
        self.within: dict[float, list[Comparison]] = {change: [] for change in CHANGES}
        self.between: dict[float, list[Comparison]] = {change: [] for change in CHANGES}
        self._disturbed: list[tuple[float, float, float]] = []

    def once_more(self) -> None:
        """Measure the matrix once more, and judge its pairs, within the run and against the run before."""
        run = envmgr(self._folder, "matrix", "run", "equal", "--effort", "default")
        name = run["run"]["id"]
        self.rounds += rounds_of(load(name, project=self._folder))
        for change in CHANGES:
            for one, other in pairs_of(change):
                self.within[change].append(self._compared(f"{name}#{one}", f"{name}#{other}"))
            if self._runs:
                before = f"{self._runs[-1]}#{EQUAL[0]}"
                self.between[change].append(self._compared(before, f"{name}#{SLOWER.get(change, EQUAL[0])}"))
        self._runs.append(name)
        self._disturbed += [
            (each["load_before"] or 0.0, each["others"] or 0.0, each["stolen"])
            for cell in run["cells"]
            for each in cell["conditions"]
        ]

    def _compared(self, one: str, other: str) -> Comparison:
        return compare(one, other, project=self._folder).pairs[0]

    def state(self) -> str:
        """Return under which load it was measured."""
        load, others, stolen = (mean(column) for column in zip(*self._disturbed, strict=True))
        return (
            f"{os.cpu_count()} cores; while it was measured: load {load:.1f}, other programs on {others:.2f} cores, "
            f"{stolen:.2f} cores taken by the host; {len(self._runs)} runs, {len(self.rounds)} rounds"
        )


def measure(folder: Path, options: argparse.Namespace) -> None:
    gathered = Gathered(folder)
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end or len(gathered.rounds) == 0:
        gathered.once_more()
    if options.values:
        options.values.write_text(json.dumps(gathered.rounds), encoding="utf-8")
    source = cut_from(gathered.rounds)
    lines: dict[str, tuple[int, Line]] = {
        "within a run, as measured": (len(gathered.within[0.0]), line_of(gathered.within))
    }
    lines["within a run, resampled"] = options.pairs, line_from(source, options.pairs, paired=True)
    if gathered.between[0.0]:
        lines["two runs, as measured"] = len(gathered.between[0.0]), line_of(gathered.between)
    lines["two runs, resampled"] = options.pairs, line_from(source, options.pairs, paired=False)
    print(f"{gathered.state()}; in % of the pairs\n\n| pairs | {HEADS}\n|---:{RULE}")
    for name, (count, line) in lines.items():
        print(f"| {count} | {name} | {line} |")


def with_neighbour(folder: Path, runs: int) -> None:
    verdicts: Counter[str] = Counter()
    for number in range(runs):
        neighbour = Neighbour(folder / ".envmgr" / "runs", results=10)
        run = envmgr(folder, "matrix", "run", "equal", "--effort", "default")
        began = neighbour.end()
        found = envmgr(folder, "matrix", "compare", "--cell", EQUAL[0], "--cell", EQUAL[1])["pairs"][0]
        marked = sum(bool(cell["marks"]) for cell in run["cells"])
        verdicts[found["verdict"]] += 1
        print(
            f"run {number + 1}: {found['verdict']}, ratio {found['ratio']:.3f} "
            f"({found['low']:.3f} to {found['high']:.3f}), {found['processes'][0]} processes a cell, "
            f"{marked} of 2 cells marked" + ("" if began else "; the neighbour never began"),
            flush=True,
        )
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pairs", type=int, default=1000, help="how many are cut out of the rounds")
    parser.add_argument("--values", type=Path, help="where to keep what every process came to")
    parser.add_argument("--neighbour", action="store_true", help="a busy process from the middle of each run on")
    parser.add_argument("--runs", type=int, default=5, help="with --neighbour")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = EQUAL[:2] if options.neighbour else tuple(CELLS)
        make_project(folder, names)
        envmgr(folder, "build", *names)
        if options.neighbour:
            with_neighbour(folder, options.runs)
        else:
            measure(folder, options)


if __name__ == "__main__":
    main()
