"""How fast envmgr is beside its peers and beside the limit: what plain uv, a plain interpreter, a plain loop need.

Contestants of one figure run in turns, in a new order each round; figures are medians, ratios are ratios of medians. Peers
(tox with tox-uv, nox) are looked for in --peers, a folder of programs; one that is not there is left out and said so.

    python benchmarks/speed.py help noop rebuild [--rounds 7] [--peers DIR]
    python benchmarks/speed.py cells [--cells 1000] [--rounds 3]
    python benchmarks/speed.py growth [--cells 10000]
    python benchmarks/speed.py disk [--place DIR]

The environments are those of two shipped manifests (plaidml-0.7.0 and plaidml-0.6.4 unless --names says otherwise); their
packages must be in uv's cache, so build them once before. --output FILE keeps all raw times as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ENVMGR = str(Path(sys.executable).with_name("envmgr"))


@dataclass(frozen=True)
class Contestant:
    """One command line; `before` is done untimed ahead of each round."""

    name: str
    argv: tuple[str, ...]
    folder: Path
    before: Callable[[], None] = lambda: None


@dataclass
class Bench:
    """A folder to work in, the environment of all processes, and what has been measured."""

    place: Path
    rounds: int
    peers: Path | None
    names: tuple[str, ...]
    environment: dict[str, str]
    times: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def peer(self, name: str) -> str | None:
        found = self.peers / name if self.peers else None
        if found is None or not found.is_file():
            print(f"{name}: not there, left out")
            return None
        return str(found)

    def call(self, argv: tuple[str, ...], folder: Path) -> str:
        done = subprocess.run(argv, cwd=folder, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def race(self, title: str, contestants: list[Contestant], limit: str) -> None:
        """Run all in turns and print the medians beside the one called `limit`."""
        times: dict[str, list[float]] = {each.name: [] for each in contestants}
        for number in range(self.rounds + 1):
            for each in random.sample(contestants, len(contestants)):
                each.before()
                begun = time.perf_counter()
                self.call(each.argv, each.folder)
                if number:  # the first round warms all caches
                    times[each.name].append(time.perf_counter() - begun)
        self.times[title] = times
        print(f"\n{title} ({self.rounds} rounds)\n\n| | median | least | x {limit} |\n|---|---|---|---|")
        base = statistics.median(times[limit])
        for name, each in sorted(times.items(), key=lambda item: statistics.median(item[1])):
            middle = statistics.median(each)
            print(f"| {name} | {middle:.3f} s | {min(each):.3f} s | {middle / base:.2f} |")


def race_help(bench: Bench) -> None:
    """`--help`, beside a plain interpreter."""
    entrants = [
        Contestant("python -c pass", (sys.executable, "-c", "pass"), bench.place),
        Contestant("envmgr --help", (ENVMGR, "--help"), bench.place),
    ]
    nox = bench.peer("nox")
    if nox:
        entrants.append(Contestant("nox --help", (nox, "--help"), bench.place))
    bench.race("help", entrants, "python -c pass")


def race_noop(bench: Bench) -> None:
    """Two environments that are built already."""
    requirements = lay_peers(bench)
    bench.call((ENVMGR, "build", *bench.names), bench.place)
    entrants = [
        Contestant("python -c pass", (sys.executable, "-c", "pass"), bench.place),
        Contestant("envmgr build A B", (ENVMGR, "build", *bench.names), bench.place),
    ]
    tox, nox = bench.peer("tox"), bench.peer("nox")
    sessions = tuple(requirements)
    if tox:
        entrants.append(Contestant("tox -e A,B", (tox, "run", "-qq", "-e", ",".join(sessions)), bench.place))
    if nox:
        entrants.append(Contestant("nox -R A B", (nox, "-R", "-s", *sessions), bench.place))
    bench.race("nothing to do", entrants, "python -c pass")


def race_rebuild(bench: Bench) -> None:
    """One environment from a lock and a warm cache."""
    requirements = lay_peers(bench)
    python = python_of(bench)
    session, file = next(iter(requirements.items()))
    uv = bench.call((sys.executable, "-c", "import uv; print(uv.find_uv_bin())"), bench.place).strip()
    plain = bench.place / "plain"
    sync = f"{uv} pip sync -q --offline --require-hashes -p {plain}/bin/python {file}"
    entrants = [
        Contestant(
            "uv venv + uv pip sync",
            ("sh", "-c", f"{uv} venv -q -p {python} {plain} && {sync}"),
            bench.place,
            lambda: shutil.rmtree(plain, ignore_errors=True),
        ),
        Contestant(
            "the same, files copied",
            ("sh", "-c", f"{uv} venv -q -p {python} {plain} && {sync} --link-mode copy"),
            bench.place,
            lambda: shutil.rmtree(plain, ignore_errors=True),
        ),
        Contestant(
            "envmgr build",
            (ENVMGR, "build", "--offline", bench.names[0]),
            bench.place,
            lambda: forget(bench, "envs"),
        ),
        Contestant(
            "envmgr build, decided anew",
            (ENVMGR, "build", "--offline", bench.names[0]),
            bench.place,
            lambda: forget(bench, "envs", "recipes"),
        ),
    ]
    tox, nox = bench.peer("tox"), bench.peer("nox")
    if tox:
        entrants.append(
            Contestant(
                "tox with tox-uv",
                (tox, "run", "-qq", "-e", session),
                bench.place,
                lambda: shutil.rmtree(bench.place / ".tox" / session, ignore_errors=True),
            )
        )
    if nox:
        entrants.append(
            Contestant(
                "nox with uv",
                (nox, "-s", session),
                bench.place,
                lambda: shutil.rmtree(bench.place / ".nox", ignore_errors=True),
            )
        )
    bench.race("rebuild", entrants, "uv venv + uv pip sync")


def forget(bench: Bench, *kinds: str) -> None:
    """Remove what envmgr keeps in folders of its cache; without recipes, a build decides everything anew."""
    for kind in kinds:
        shutil.rmtree(bench.place / "cache" / kind, ignore_errors=True)


def race_cells(bench: Bench, count: int) -> None:
    """Many cells of a trivial runner, one process each, beside a loop over the same command; start-up apart."""
    project = lay_project(bench.place / "cells", count)
    bench.call((ENVMGR, "build", "one"), project)
    python = bench.call((ENVMGR, "path", "one"), project).strip() + "/bin/python"
    runner = f"{python} -I {project}/runners/trivial.py --request {project}/in.json --report {project}/out"
    loop = f"i=0; while [ $i -lt {count} ]; do {runner}.json; i=$((i+1)); done"
    both = f"seq {count} | xargs -P2 -I@ {runner}@.json"
    entrants = [
        Contestant("shell loop", ("sh", "-c", loop), project),
        Contestant("xargs -P2", ("sh", "-c", both), project),
        Contestant("envmgr, one cell", (ENVMGR, "matrix", "run", "single", "--json"), project),
        Contestant("envmgr", (ENVMGR, "matrix", "run", "many", "--json"), project),
        Contestant("envmgr --jobs 2", (ENVMGR, "matrix", "run", "many", "--jobs", "2", "--json"), project),
        Contestant("envmgr matrix plan", (ENVMGR, "matrix", "plan", "many", "--json"), project),
    ]
    bench.race(f"{count} cells", entrants, "shell loop")
    middle = {name: statistics.median(each) for name, each in bench.times[f"{count} cells"].items()}
    start = middle["envmgr, one cell"]
    one, two = middle["envmgr"] - start, middle["envmgr --jobs 2"] - start
    print(f"\nstart-up apart: envmgr {one / middle['shell loop']:.3f} x the loop")
    gain, possible = one / two, middle["shell loop"] / middle["xargs -P2"]
    print(f"2 jobs gain {gain:.2f}, xargs -P2 gains {possible:.2f}: {gain / possible:.2f} of it")


def measure_growth(bench: Bench, count: int) -> None:
    """What planning and running cost for a quarter, half and all of the cells: seconds and peak memory of envmgr."""
    print("\ncells: planned in, peak; run in, a cell, peak\n\n| cells | plan | peak | run | a cell | peak |")
    print("|---|---|---|---|---|---|")
    for cells in (count // 4, count // 2, count):
        project = lay_project(bench.place / f"growth-{cells}", cells)
        bench.call((ENVMGR, "build", "one"), project)
        planned, plan_peak = costs((ENVMGR, "matrix", "plan", "many", "--json"), project, bench.environment)
        run, run_peak = costs((ENVMGR, "matrix", "run", "many", "--quiet", "--json"), project, bench.environment)
        bench.times.setdefault("growth", {})[str(cells)] = [planned, plan_peak, run, run_peak]
        print(
            f"| {cells} | {planned:.2f} s | {plan_peak / 1e6:.0f} MB | {run:.0f} s | {run / cells * 1e3:.1f} ms "
            f"| {run_peak / 1e6:.0f} MB |"
        )
        shutil.rmtree(project)


def costs(argv: tuple[str, ...], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that a command takes and the bytes that its own process holds at most (Linux, macOS)."""
    begun = time.perf_counter()
    with subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(argv)} ended with {process.returncode}")
    return time.perf_counter() - begun, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure_disk(bench: Bench) -> None:
    """What a second environment with the wheels of a first costs on this file system."""
    kind = subprocess.run(("stat", "-f", "-c", "%T", bench.place), capture_output=True, text=True, check=True).stdout
    bench.environment["UV_CACHE_DIR"] = str(bench.place / "uv-cache")
    forget(bench, "envs")  # what another figure has left was built from another uv's cache
    bench.call((ENVMGR, "build", bench.names[0]), bench.place)
    first = used(bench.place)
    told = json.loads(bench.call((ENVMGR, "show", bench.names[0], "--json"), bench.place))["data"]["env"]
    folder = Path(told["path"])  # `envmgr path` would give its files bytes of their own
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink())
    folder.rename(folder.with_name("kept-aside"))
    bench.call((ENVMGR, "build", "--offline", bench.names[0]), bench.place)
    cost = used(bench.place) - first
    print(f"\ndisk on {kind.strip()} ({told['sharing']}): {size / 1e6:.0f} MB of files,", end=" ")
    print(f"a second environment costs {cost / 1e6:.1f} MB ({cost / size:.1%})")


def used(place: Path) -> int:
    os.sync()
    facts = os.statvfs(place)
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize


def python_of(bench: Bench) -> str:
    """Return the base Python of the first manifest's environment."""
    told = json.loads(bench.call((ENVMGR, "build", bench.names[0], "--json"), bench.place))
    return str(told["data"]["builds"][0]["interpreter"]["executable"])


def lay_peers(bench: Bench) -> dict[str, Path]:
    """Write what tox and nox need for the same environments; return the requirements file of each session."""
    files: dict[str, Path] = {}
    python = python_of(bench)
    sessions, environments = ["import nox", 'nox.options.default_venv_backend = "uv"'], []
    for number, name in enumerate(bench.names):
        session = "ab"[number]
        file = files[session] = bench.place / f"{session}.txt"
        bench.call((ENVMGR, "export", name, "--output", str(file)), bench.place)
        sessions += [f'@nox.session(python="{python}", name="{session}")', f"def {session}(session):"]
        sessions += [f'    session.install("-r", "{file}")', '    session.run("python", "-c", "pass")']
        environments += [f"[testenv:{session}]", "skip_install = true", f"base_python = {python}"]
        environments += ["deps =", f"    -r {file}", "commands = python -c pass"]
    bench.place.joinpath("noxfile.py").write_text("\n".join(sessions) + "\n")
    bench.place.joinpath("tox.ini").write_text("\n".join(["[tox]", "no_package = true", *environments]) + "\n")
    return files


RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
#
# [tool.envmgr.parameters]
# number = 0
# ///
import json, sys
with open(sys.argv[sys.argv.index("--request") + 1]) as stream:
    request = json.load(stream)
with open(sys.argv[sys.argv.index("--report") + 1], "w") as stream:
    json.dump({"protocol": 1, "cell": request["cell"], "status": "ok", "first_call": 0.1, "samples": [0.1]}, stream)
"""


def lay_project(folder: Path, count: int) -> Path:
    """Write a project with one tiny environment and a matrix of many cells."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    matrices = folder / "manifests" / "matrices"
    matrices.mkdir(parents=True)
    folder.joinpath("runners").mkdir()
    folder.joinpath("runners", "trivial.py").write_text(RUNNER)
    folder.joinpath("in.json").write_text('{"cell": "x"}')
    folder.joinpath("manifests", "one.toml").write_text(
        f'schema = 1\nname = "one"\npython = "=={minor}.*"\nrequirements = ["six==1.17.0"]\nrunners = ["trivial"]\n'
    )
    for name, cells in (("single", 1), ("many", count)):
        entries = "".join(
            f'[[entry]]\nrunner = "trivial"\nparameters = {{ number = {each} }}\n' for each in range(cells)
        )
        text = f'schema = 1\nname = "{name}"\nmanifests = ["one"]\neffort = "quick"\n{entries}'
        (matrices / f"{name}.toml").write_text(text)
    print(f"\n{count} cells: to make a file takes {cost_of_a_file(folder) * 1e6:.0f} us in their project")
    return folder


def cost_of_a_file(folder: Path) -> float:
    """Return the seconds that a new file takes in a new folder: a crowded part of a disk can make them many."""
    place = folder / "files"
    place.mkdir()
    times = []
    for number in range(200):
        begun = time.perf_counter()
        (place / str(number)).touch()
        times.append(time.perf_counter() - begun)
    shutil.rmtree(place)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", choices=["help", "noop", "rebuild", "cells", "growth", "disk"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cells", type=int, help="1000 for cells, 10000 for growth, unless said otherwise")
    parser.add_argument(
        "--peers", type=Path, help="a folder with tox and nox, such as the bin of a virtual environment"
    )
    parser.add_argument("--names", nargs="+", default=["plaidml-0.7.0", "plaidml-0.6.4"])
    parser.add_argument("--place", type=Path, help="a folder in which to work (else: a temporary one)")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.place, prefix="envmgr-speed-") as folder:
        place = Path(folder)
        environment = {**os.environ, "ENVMGR_CACHE_DIR": str(place / "cache"), "NO_COLOR": "1"}
        bench = Bench(place, asked.rounds, asked.peers, tuple(asked.names), environment)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}")
        for figure in asked.figures:
            if figure == "cells":
                race_cells(bench, asked.cells or 1000)
            elif figure == "growth":
                measure_growth(bench, asked.cells or 10_000)
            else:
                {"help": race_help, "noop": race_noop, "rebuild": race_rebuild, "disk": measure_disk}[figure](bench)
    if asked.output:
        asked.output.write_text(json.dumps(bench.times, indent=1))


if __name__ == "__main__":
    main()
