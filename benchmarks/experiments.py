"""What an experiment of a diagnosis costs beside its floor: the same environment made by plain uv, the probe run in it.

Each diagnosis runs three times, as a user starts it: the first fills uv's cache, the second is measured, and the third
with `--jobs 1`, one experiment after the other and none before it is asked for. Then comes each experiment's floor, one after the other: `uv venv`, `uv pip install --offline` of the distributions that the experiment
had (or, where it could not be built, its own install command), and the probe in the plain interpreter with the
experiment's variables. Experiments run beside one another, their floors do not, so what they take from one another is in
the excess.

    python benchmarks/experiments.py [NAME…] [--rounds 1] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "plaidml on 3.10": (
        "--python", "3.10", "--require", "plaidml==0.7.0", "--require", "plaidml-keras==0.7.0",
        "--probe", "import plaidml.keras; plaidml.keras.install_backend(); import keras",
    ),
    "keras on 3.12": ("plaidml-0.7.0-python3.12", "--probe", "import keras"),
    "jinja2 of 2021": ("--python", "3.9", "--require", "jinja2==2.11.3", "--probe", "import jinja2"),
    "flask of 2020": ("--python", "3.9", "--require", "flask==1.1.2", "--probe", "import flask"),
    "h5py of 2019": (
        "--python", "3.8", "--require", "h5py==2.10.0", "--require", "numpy==1.24.4", "--probe", "import h5py",
    ),
}  # fmt: skip


def watch(target: Path, words: list[str]) -> int:
    """Run envmgr in this process, and write down every experiment: when it ran, of what world, with what in it."""
    from envmgr.app.experiments.commands import calls, lists_of
    from envmgr.app.experiments.laboratory import Laboratory
    from envmgr.cli import run

    records: list[dict] = []
    observe = Laboratory._observe  # noqa: SLF001 - what `observe` and the fresh copies of it go through

    def watched(self, world, *, in_place, own, key):
        begun = time.time()
        seen, refused = observe(self, world, in_place=in_place, own=own, key=key)
        interpreter = self.bench.interpreters.get(world.python)
        typed = []
        if interpreter and not lists_of(world) and not world.build_requires:
            typed = [list(each.argv) for each in calls(world, self.bench, Path("{folder}"), interpreter)]
        records.append({
            "begun": begun, "ended": time.time(), "python": str(interpreter or ""), "resolved": seen.resolved,
            "built": seen.built, "set": dict(world.variables.set), "unset": list(world.variables.unset),
            "probe": list(self.bench.probe), "typed": typed, "in_place": in_place, "uv": str(self.bench.uv),
        })  # fmt: skip
        return seen, refused

    Laboratory._observe = watched  # noqa: SLF001
    try:
        return run(words)
    finally:
        target.write_text(json.dumps(records))


AHEAD = re.compile(r"(\d+) begun ahead, (\d+) of them used")


def diagnosed(words: tuple[str, ...], place: Path) -> tuple[float, list[dict], tuple[int, int]]:
    """Run a diagnosis and return its seconds, what was watched of its experiments, and how many began ahead (used)."""
    kept = place / "records.json"
    command = [sys.executable, __file__, "--watch", str(kept), "--", "diagnose", "--json", *words]
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if done.returncode not in {0, 1}:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    ahead = AHEAD.search(done.stderr)
    return seconds, json.loads(kept.read_text()), (int(ahead[1]), int(ahead[2])) if ahead else (0, 0)


def floor(record: dict, place: Path) -> float | None:
    """Return the seconds of the same by hand; None where uv cannot install it from its cache alone."""
    with tempfile.TemporaryDirectory(dir=place) as room:
        folder, uv = Path(room), record["uv"]
        (folder / "cwd").mkdir()
        python = str(folder / "venv" / "bin" / "python")
        environment = {**os.environ, **record["set"]}
        for name in record["unset"]:
            environment.pop(name, None)
        environment = {
            name: text.replace("{venv}", str(folder / "venv")).replace("{home}", str(Path.home()))
            for name, text in environment.items()
        }
        commands = [[uv, "venv", "-q", "-p", record["python"], str(folder / "venv")]]
        if record["built"]:
            pins = [f"{name}=={version}" for name, version in sorted(record["resolved"].items())]
            sources = ["--find-links", os.environ["PIP_FIND_LINKS"]] if os.environ.get("PIP_FIND_LINKS") else []
            commands.append([uv, "pip", "install", "-q", "--offline", "--no-deps", "-p", python, *sources, *pins])
            commands.append([python, *record["probe"]])
        elif record["typed"]:
            commands = [[word.replace("{folder}", str(folder)) for word in argv] for argv in record["typed"]]
        else:
            return None
        begun = time.perf_counter()
        for number, command in enumerate(commands):
            done = subprocess.run(command, cwd=folder / "cwd", env=environment, capture_output=True, check=False)
            if done.returncode and record["built"] and number < len(commands) - 1:
                return None
        return time.perf_counter() - begun


def together(spans: list[tuple[float, float]]) -> float:
    """Return the seconds in which at least one of some spans ran."""
    covered, last = 0.0, 0.0
    for begun, ended in sorted(spans):
        covered += max(0.0, ended - max(begun, last))
        last = max(last, ended)
    return covered


def measure(words: tuple[str, ...], place: Path, rounds: int) -> dict:
    """Return all that was measured of one diagnosis."""
    diagnosed(words, place)
    found: dict = {"seconds": [], "experiments": [], "ahead": [], "alone": [], "overlap": [], "covered": []}
    for _ in range(rounds):
        seconds, records, ahead = diagnosed(words, place)
        found["alone"].append(diagnosed((*words, "--jobs", "1"), place)[0])
        spans = [(each["begun"], each["ended"]) for each in records]
        covered = together(spans)
        found["seconds"].append(seconds)
        found["ahead"].append(ahead)
        found["covered"].append(covered)
        found["overlap"].append(sum(ended - begun for begun, ended in spans) / covered)
        for record in records:
            took = record["ended"] - record["begun"]
            found["experiments"].append({"seconds": took, "floor": floor(record, place), "built": record["built"]})
    return found


def row(name: str, measured: list[dict]) -> str:
    """Return one row of the table, of one diagnosis or of all."""
    experiments = [each for found in measured for each in found["experiments"]]
    beside = [each for each in experiments if each["floor"] is not None]
    excess = [each["seconds"] - each["floor"] for each in beside]
    overlap = statistics.median(value for found in measured for value in found["overlap"])
    outside = sum(sum(each["seconds"]) - sum(each["covered"]) for each in measured)
    share = outside / sum(sum(each["seconds"]) for each in measured)
    unbuilt = sum(not each["built"] for each in experiments)
    alone = sum(sum(each["alone"]) for each in measured)
    begun, used = (sum(pair[at] for each in measured for pair in each["ahead"]) for at in (0, 1))
    return (
        f"| {name} | {len(experiments)} ({unbuilt}) | {sum(sum(each['seconds']) for each in measured):.1f} s | {alone:.1f} s "
        f"| {statistics.median(each['seconds'] for each in experiments):.2f} s "
        f"| {statistics.median(each['floor'] for each in beside):.2f} s | {statistics.median(excess):.2f} s "
        f"| {max(excess):.2f} s | {overlap:.2f} | {begun} ({used}) | {share:.0%} |"
    )


def main() -> None:
    """Measure the diagnoses that are named, or all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in CASES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    measured = {}
    print(
        "| diagnosis | experiments (unbuilt) | whole | one by one | experiment | its floor | excess | most | at once | ahead (used) "
        "| outside |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for name in arguments.names or CASES:
            measured[name] = measure(CASES[name], Path(place), arguments.rounds)
            print(row(name, [measured[name]]), flush=True)
    if len(measured) > 1:
        print(row("all", list(measured.values())))
    print(
        "\nexperiment, floor, excess: medians, `most` the largest excess; at once: the seconds of all experiments by those in\n"
        "which any of them ran; one by one: the whole with --jobs 1; ahead: experiments begun before they were asked for\n"
        "(those that were asked for then; of the others those that ended by themselves count as experiments here, not in the\n"
        "finding); outside: the share of the whole in which none did."
    )
    if arguments.output:
        arguments.output.write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watch"]:
        sys.exit(watch(Path(sys.argv[2]), sys.argv[4:]))
    main()
