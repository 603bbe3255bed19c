"""Two equal cells, measured for real and compared: on a quiet machine, and with a busy neighbour from the middle on.

Makes a project with two version sets that are the same (a bare Python) and a runner that computes for some
milliseconds, lets `envmgr matrix run` measure both in turns, and prints what `matrix compare` says of them.

    python benchmarks/equal_cells.py [--runs 3] [--neighbour] [--slower 0.1] [--values FILE]

`--slower 0.1` plants a slowdown of 10 % in the second; `--values FILE` keeps every process's median as a JSON list, for
`comparison_power.py --measured FILE`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

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
MATRIX = """\
schema = 1
name = "equal"
manifests = ["one", "two"]
effort = "default"

[[entry]]
runner = "spin"
manifests = ["one"]
parameters = {{ loops = {loops} }}

[[entry]]
runner = "spin"
manifests = ["two"]
parameters = {{ loops = {slower} }}
"""
"""The second may have more to do: the planted slowdown."""
LOOPS = 200_000


def make_project(folder: Path, slower: float) -> None:
    (folder / "manifests" / "matrices").mkdir(parents=True)
    (folder / "runners").mkdir()
    (folder / "runners" / "spin.py").write_text(RUNNER, encoding="utf-8")
    python = ".".join(map(str, sys.version_info[:2]))
    for name in ("one", "two"):
        (folder / "manifests" / f"{name}.toml").write_text(MANIFEST.format(name=name, python=python), encoding="utf-8")
    text = MATRIX.format(loops=LOOPS, slower=round(LOOPS * (1 + slower)))
    (folder / "manifests" / "matrices" / "equal.toml").write_text(text, encoding="utf-8")


def envmgr(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "envmgr", *arguments, "--project", str(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    if answer["error"]:
        sys.exit(str(answer["error"]))
    return answer["data"]


class Neighbour:
    """A process that keeps one core busy from the moment when half of the results of a new run are there."""

    def __init__(self, runs: Path, results: int) -> None:
        self._runs, self._half = runs, results // 2
        self._known = set(runs.glob("*")) if runs.exists() else set()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while not self._ended.wait(0.05):
            new = [path for path in self._runs.glob("*") if path not in self._known]
            if new and len(list(new[0].glob("results/*.json"))) >= self._half:
                self._process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                return

    def end(self) -> None:
        self._ended.set()
        time.sleep(0.1)
        if self._process:
            self._process.kill()
            self._process.wait()


def values_of(run: Any) -> list[float]:
    """Return the processes' medians in the order in which they were measured: round by round, one before two."""
    cells = sorted(run["cells"], key=lambda cell: cell["manifest"])
    medians = [[sorted(process)[len(process) // 2] for process in cell["samples"]] for cell in cells]
    return [value for together in zip(*medians, strict=True) for value in together]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--neighbour", action="store_true", help="a busy process from the middle of each run on")
    parser.add_argument("--slower", type=float, default=0.0, help="share by which the second has more to do")
    parser.add_argument("--values", type=Path, help="where to keep every process's median")
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    values: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_project(folder, options.slower)
        envmgr(folder, "build", "one", "two")
        for number in range(options.runs):
            neighbour = Neighbour(folder / ".envmgr" / "runs", results=20) if options.neighbour else None
            run = envmgr(folder, "matrix", "run", "equal", "--effort", "default")
            if neighbour:
                neighbour.end()
            pair = envmgr(folder, "matrix", "compare", "--cell", "one", "--cell", "two")["pairs"][0]
            marked = sum(bool(cell["marks"]) for cell in run["cells"])
            verdicts[pair["verdict"]] += 1
            values += values_of(run)
            interval = f"{pair['low']:.3f} to {pair['high']:.3f}"
            print(
                f"run {number + 1}: {pair['verdict']}, ratio {pair['ratio']:.3f} ({interval}), {marked} of 2 cells marked"
            )
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    if options.values:
        options.values.write_text(json.dumps(values), encoding="utf-8")


if __name__ == "__main__":
    main()
