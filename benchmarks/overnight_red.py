"""A matrix that was green and is red: is the exact minimal culprit found among the changes of a night, in how many builds?

    python benchmarks/overnight_red.py [--simulated 400] [--real 20] [--seed 1] [--pythons 3.11 3.12] [--json FILE]

Every trial has 60 distributions of which 25 changed, 24 cells, and planted culprits: one change, a pair that only
together breaks, one that breaks together with a new interpreter, or three causes at once. Some changed distributions
require others that changed. Simulated trials run envmgr's own search against rules in memory; real ones make wheels,
measure the matrix before and after with `envmgr matrix run` and ask `envmgr diagnose RUN --good RUN`. The bound is
2 * k * ceil(log2 n) + 4 builds for k planted changes among n.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from base64 import urlsafe_b64encode
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.hunt import Ends, Hunt, Means, Probe
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.requirement import pins
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

KINDS = ("one", "pair", "interpreter", "three")
DISTRIBUTIONS, CHANGED, CELLS = 60, 25, 24
OLD, NEW = "1.0", "2.0"


@dataclass
class Night:
    """What changed in one night, and what of it breaks which cells: the first cause that a cell meets is what it shows."""

    seed: int
    kind: str
    pythons: tuple[str, str]
    names: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    needs: dict[str, str] = field(default_factory=dict)
    causes: list[frozenset[str]] = field(default_factory=list)
    cells: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        draw = random.Random(f"{self.kind} {self.seed}")
        self.names = [f"part-{draw.randrange(10**6):06d}-{number:02d}" for number in range(DISTRIBUTIONS)]
        self.changed = draw.sample(self.names, CHANGED)
        free = list(self.changed)
        sizes = {"one": [1], "pair": [2], "interpreter": [1], "three": [1, 1, 1]}[self.kind]
        for size in sizes:
            chosen = frozenset(free.pop() for _ in range(size))
            self.causes.append(chosen | {"python"} if self.kind == "interpreter" else chosen)
        innocent = [name for name in self.changed if not any(name in cause for cause in self.causes)]
        order = {name: place for place, name in enumerate(innocent)}
        for name in innocent[1:]:
            if draw.random() < 0.2:
                self.needs[name] = draw.choice([other for other in innocent if order[other] < order[name]])
        numbers = range(len(self.causes))
        self.cells = [(number,) for number in numbers]
        while len(self.cells) < CELLS:
            self.cells.append(tuple(number for number in numbers if draw.random() < 0.4))
        draw.shuffle(self.cells)

    @property
    def python_after(self) -> str:
        return self.pythons[1] if self.kind == "interpreter" else self.pythons[0]

    @property
    def members(self) -> int:
        return sum(len(cause) for cause in self.causes)

    @property
    def bound(self) -> int:
        changes = CHANGED + (self.kind == "interpreter")
        return 2 * self.members * math.ceil(math.log2(changes)) + 4

    @property
    def planted(self) -> set[frozenset[str]]:
        return {frozenset(self.python_after if name == "python" else name for name in cause) for cause in self.causes}


@dataclass
class Trial:
    """What came of one night."""

    night: Night
    found: list[frozenset[str]]
    builds: int
    confirmed: bool
    seconds: float

    @property
    def exact(self) -> bool:
        return len(self.found) == len(self.night.planted) and set(self.found) == self.night.planted


def simulated(night: Night) -> Trial:
    """Run envmgr's search with worlds that are judged by the planted rules."""

    def observe(probe: Probe, world: World) -> Observation:
        told = pins(world.requirements)
        resolved = {name: told.get(name, NEW if name in night.changed else OLD) for name in night.names}
        clash = [name for name, other in night.needs.items() if resolved[name] == NEW and resolved[other] == OLD]
        if clash:
            return Observation(False, Phase.RESOLVE, f"no solution found: {clash[0]} wants {night.needs[clash[0]]}")
        after = {name for name in night.changed if resolved[name] == NEW}
        after |= {"python"} if world.python != night.pythons[0] else set()
        broken = [number for number in night.cells[int(probe.name)] if night.causes[number] <= after]
        if not broken:
            return Observation(True, None, "", resolved)
        return Observation(False, Phase.IMPORT, f"RuntimeError: planted cause {'abc'[broken[0]]}", resolved)

    def contents(seen: Observation) -> Contents:
        return Contents(
            tuple(
                Distribution(name, found, (f"{night.needs[name]}>=2",) if name in night.needs and found == NEW else ())
                for name, found in seen.resolved.items()
            )
        )

    green = World(python=night.pythons[0], requirements=tuple(f"{name}=={OLD}" for name in night.names))
    after = [f"{name}=={NEW if name in night.changed else OLD}" for name in night.names]
    red = World(python=night.python_after, requirements=tuple(after))
    base = World(python=night.python_after, requirements=tuple(night.names))
    means = Means(observe, contents, lambda world: world.python + " ".join(world.requirements))
    probes = [Probe(str(place), (), kin=str(causes[0])) for place, causes in enumerate(night.cells) if causes]
    begun = time.monotonic()
    searched = Hunt(Ends(green, red, base), means).run(probes, ())
    found = [frozenset(cause.name for cause in one.finding.causes) for one in searched.traced]
    confirmed = all(one.finding.confirmed for one in searched.traced)
    return Trial(night, found, searched.builds, confirmed, time.monotonic() - begun)


RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = false
#
# [tool.envmgr.parameters]
# modules = ""
# cell = 0
# ///
import importlib, json, sys

request = json.load(open(sys.argv[sys.argv.index("--request") + 1]))
for name in request["parameters"]["modules"].split():
    importlib.import_module(name)
report = {"protocol": 1, "cell": request["cell"], "status": "ok", "samples": [0.1]}
json.dump(report, open(sys.argv[sys.argv.index("--report") + 1], "w"))
"""


def module(name: str) -> str:
    return name.replace("-", "_")


def code_of(night: Night, name: str, version: str) -> str:
    """Return a module that fails on import when its cause is complete; the first member of a cause looks for it."""
    lines = [f"VERSION = {version!r}"]
    for number, cause in enumerate(night.causes):
        if version == OLD or name != min(cause - {"python"}):
            continue
        condition = ["True"]
        for other in sorted(cause - {name}):
            if other == "python":
                minor = tuple(int(part) for part in night.pythons[1].split("."))
                lines.append("import sys")
                condition.append(f"sys.version_info[:2] >= {minor}")
            else:
                lines.append(f"import {module(other)}")
                condition.append(f"{module(other)}.VERSION == {NEW!r}")
        lines.append(f"if {' and '.join(condition)}:\n    raise RuntimeError('planted cause {'abc'[number]}')")
    return "\n".join(lines) + "\n"


def add_wheel(index: Path, name: str, version: str, code: str, requires: tuple[str, ...]) -> None:
    folder = index / name
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{module(name)}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {r}" for r in requires)]
    files = {
        f"{module(name)}.py": code,
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: made\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, text in files.items():
        digest = urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text)}")
    with zipfile.ZipFile(folder / f"{module(name)}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    links = []
    for wheel in sorted(folder.glob("*.whl")):
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        links.append(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')
    (folder / "index.html").write_text("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>")


def real(night: Night, place: Path) -> Trial:
    """Measure before and after with envmgr as a user does, and ask it what broke."""
    index, project = place / "index", place / "project"
    (project / "manifests" / "matrices").mkdir(parents=True)
    (project / "runners").mkdir()
    (place / "home").mkdir()
    (project / "runners" / "imports.py").write_text(RUNNER)
    for name in night.names:
        add_wheel(index, name, OLD, code_of(night, name, OLD), ())
    lines = ["schema = 1", 'name = "night"', 'manifests = ["night"]', 'effort = "quick"']
    for number, causes in enumerate(night.cells):
        wanted = " ".join(module(min(night.causes[cause] - {"python"})) for cause in causes)
        lines += ["[[entry]]", 'runner = "imports"', f'parameters = {{ modules = "{wanted}", cell = {number} }}']
    (project / "manifests" / "matrices" / "night.toml").write_text("\n".join(lines) + "\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON"))}
    environment |= {
        "HOME": str(place / "home"),
        "ENVMGR_CACHE_DIR": str(place / "cache"),
        "ENVMGR_STATE_DIR": str(place / "state"),
        "UV_DEFAULT_INDEX": index.as_uri(),
        "UV_CACHE_DIR": str(place / "uv"),
        "PIP_CONFIG_FILE": os.devnull,
        "PYENV_ROOT": os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv")),
    }

    def envmgr(*words: str) -> dict:
        argv = (sys.executable, "-m", "envmgr", *words, "--json", "--project", str(project))
        done = subprocess.run(argv, env=environment, cwd=project, capture_output=True, text=True, check=False)
        answer = json.loads(done.stdout)
        if answer["error"]:
            raise SystemExit(f"envmgr {' '.join(words)}: {answer['error']}")
        return answer["data"]

    def measured(python: str) -> str:
        manifest = ["schema = 1", 'name = "night"', f'python = "=={python}.*"', 'runners = ["imports"]']
        manifest += ["floating = true", f"requirements = {json.dumps(night.names)}"]
        (project / "manifests" / "night.toml").write_text("\n".join(manifest) + "\n")
        return envmgr("matrix", "run", "night", "--jobs", "2")["run"]["id"]

    green = measured(night.pythons[0])
    for name in night.changed:
        requires = (f"{night.needs[name]}>=2",) if name in night.needs else ()
        add_wheel(index, name, NEW, code_of(night, name, NEW), requires)
    red = measured(night.python_after)
    begun = time.monotonic()
    data = envmgr("diagnose", red, "--good", green, "--budget", "1800s")
    seconds = time.monotonic() - begun
    findings = [one["finding"] for one in data["findings"]]
    # The interpreter is named by what it is now, to the patch.
    python = night.python_after
    found = [
        frozenset(python if cause["kind"] == "python" else cause["name"] for cause in finding["causes"])
        for finding in findings
    ]
    return Trial(night, found, data["builds"], all(finding["confirmed"] for finding in findings), seconds)


def table(title: str, trials: list[Trial]) -> list[str]:
    lines = [
        f"### {title}",
        "",
        "| planted | trials | exact | within the bound | confirmed | builds (median, most) | bound | seconds |",
    ]
    lines.append("|---|---:|---:|---:|---:|---:|---:|---:|")
    groups = defaultdict(list)
    for trial in trials:
        groups[trial.night.kind].append(trial)
    groups["all"] = trials
    for kind, some in groups.items():
        builds = [trial.builds for trial in some]
        bounds = {trial.night.bound for trial in some}
        within = sum(trial.builds <= trial.night.bound for trial in some)
        lines.append(
            f"| {kind} | {len(some)} | {100 * sum(trial.exact for trial in some) / len(some):.1f} % | "
            f"{100 * within / len(some):.1f} % | {100 * sum(trial.confirmed for trial in some) / len(some):.1f} % | "
            f"{statistics.median(builds):g}, {max(builds)} | {', '.join(map(str, sorted(bounds)))} | "
            f"{statistics.median(trial.seconds for trial in some):.1f} |"
        )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", type=int, default=400)
    parser.add_argument("--real", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pythons", nargs=2, default=("3.11", "3.12"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = tuple(options.pythons)
    results: dict[str, list[Trial]] = {}
    for title, count in (("simulated builds", options.simulated), ("real builds", options.real)):
        for number in range(count):
            night = Night(options.seed + number // len(KINDS), KINDS[number % len(KINDS)], pythons)
            if title == "simulated builds":
                trial = simulated(night)
            else:
                with tempfile.TemporaryDirectory(prefix="overnight-") as place:
                    trial = real(night, Path(place))
                said = "exact" if trial.exact else f"planted {night.planted}, found {trial.found}"
                print(f"{night.kind} {night.seed}: {said}, {trial.builds} builds", file=sys.stderr)
            results.setdefault(title, []).append(trial)
    for title, trials in results.items():
        print("\n".join(table(title, trials)))
        for trial in trials:
            if not trial.exact or trial.builds > trial.night.bound:
                told = [sorted(one) for one in trial.found]
                planted = [sorted(one) for one in trial.night.planted]
                print(
                    f"- {trial.night.kind} {trial.night.seed}: planted {planted}, found {told}, {trial.builds} builds"
                )
    if options.json:
        rows = [
            {
                "builds_are": title,
                "kind": trial.night.kind,
                "seed": trial.night.seed,
                "exact": trial.exact,
                "builds": trial.builds,
                "bound": trial.night.bound,
                "confirmed": trial.confirmed,
                "seconds": round(trial.seconds, 2),
            }
            for title, trials in results.items()
            for trial in trials
        ]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
