"""Kills envmgr at random moments and looks whether anything is lost, half, stale or left.

    python benchmarks/robustness/kill_anywhere.py --kills 200 --seed 1

Each time one command of a small world is started and killed with SIGKILL after a random part of the time that it takes;
then the next command must recover by itself. Prints a JSON line with what was found; exit 1 when something is amiss.
"""

import argparse
import json
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from world import cache_of, elsewhere, held_locks, incomplete, leftovers, make_world, processes_of, say

THIS_PYTHON = ".".join(str(part) for part in sys.version_info[:2])
PROBE = "import demo; assert demo.ANSWER == 42"
COMMANDS = {
    "lock": ["lock", "one"],
    "build": ["build", "one"],
    "matrix": ["matrix", "run"],
    "report": ["matrix", "report", "--html", "page.html", "--csv", "table.csv"],
    "clean": ["clean", "--yes"],
    "diagnose": ["diagnose", "--python", THIS_PYTHON, "--require", "demo==2.0", "--probe", PROBE, "--budget", "60s"],
    "bundle": ["export", "one", "--to", "bundle", "--output", "one.bundle"],
    "import": ["import", "one.bundle", "--project", "../elsewhere"],
}
AGAIN = ("bundle", "import")
"""Commands that write into folders of the user's: what a killed one left there must not be in the way of the next."""
REPORTED = re.compile(r"\[\d+/\d+\] one answer: passed")


class Trial:
    """One world, killed in again and again."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.project = make_world(folder)
        self.project.matrix(manifests=["one"], entries=[{}, {"behaviour": "b"}, {"behaviour": "c"}])
        self.took = {}
        self.faults = []
        self.killed = Counter()
        self.late = Counter()

    def prepare(self, name):
        """Bring about a state in which the command has something to do."""
        if name == "lock" or (name == "build" and self.random.random() < 0.3):
            shutil.rmtree(self.project.root / "manifests" / "locks", ignore_errors=True)
        if name in {"build", "matrix"} and self.random.random() < 0.7:
            shutil.rmtree(cache_of(self.project) / "envs", ignore_errors=True)
        if name == "import":
            shutil.rmtree(elsewhere(self.project), ignore_errors=True)
            (elsewhere(self.project) / "manifests").mkdir(parents=True)
            self.project.run(*COMMANDS["bundle"])

    def measure(self):
        """Find out how long each command takes undisturbed."""
        for name, arguments in COMMANDS.items():
            self.prepare(name)
            begun = time.monotonic()
            self.project.run(*arguments)
            self.took[name] = time.monotonic() - begun
        self.recover("first of all")

    def kill_once(self, number):
        """Start one command, kill it, and look at what is there."""
        name = self.random.choice(list(COMMANDS))
        self.prepare(name)
        where = f"kill {number} in {name}"
        process = self.project.start(*COMMANDS[name])
        time.sleep(self.random.uniform(0, self.took[name]))
        late = process.poll() is not None
        process.send_signal(signal.SIGKILL)
        _, talk = process.communicate()
        (self.late if late else self.killed)[name] += 1
        self.took[name] *= 0.8 if late else 1.05  # the machine is now faster, now slower
        self.look(where, talk if name == "matrix" else "")
        if name in AGAIN:
            done = self.project.run(*COMMANDS[name])
            self.fault(where, "does not do it again", done.stderr.splitlines() if done.returncode else [])
        self.recover(where)

    def look(self, where, talk):
        """Check what must hold right after the kill."""
        deadline = time.monotonic() + 5
        while (running := processes_of(self.project)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.fault(where, "still running", running)
        self.fault(where, "served though not complete", incomplete(self.project))
        self.fault(where, "locks held", held_locks(self.project))
        bundle = self.project.root / "one.bundle"
        self.fault(where, "half a bundle", [] if not bundle.exists() or zipfile.is_zipfile(bundle) else [bundle.stat()])
        if talk:
            runs = sorted((self.project.root / ".envmgr" / "runs").iterdir())
            whole = (
                [json.loads(path.read_text())["outcome"] for path in runs[-1].glob("results/*.json")] if runs else []
            )
            reported = len(REPORTED.findall(talk))
            if whole.count("passed") < reported:
                self.fault(where, "reported results lost", [f"{reported} reported, {whole} there"])

    def recover(self, where):
        """Run the main job: it must succeed without any help, and leave nothing of what was killed."""
        code, answer = self.project.json("matrix", "run")
        outcomes = [cell["outcome"] for cell in answer["data"]["cells"]] if answer["data"] else [answer["error"]]
        if code or outcomes != ["passed"] * 3:
            self.fault(where, "no recovery", outcomes)
        self.fault(where, "incomplete after recovery", incomplete(self.project))
        self.fault(where, "left behind", leftovers(self.project))

    def fault(self, where, what, found):
        if found:
            self.faults.append(f"{where}: {what}: {found[:3]}")
            say("FAULT", self.faults[-1])


def run(folder, kills, seed):
    """Kill so many times and return what was found."""
    trial = Trial(folder, seed)
    trial.measure()
    number = 0
    while trial.killed.total() < kills and number < 3 * kills:
        trial.kill_once(number)
        number += 1
        if number % 20 == 0:
            say(f"{trial.killed.total()} of {kills}, {len(trial.faults)} faults")
    return {
        "seed": seed,
        "kills": sum(trial.killed.values()),
        "in": dict(trial.killed),
        "ended before the kill": sum(trial.late.values()),
        "faults": trial.faults,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), options.kills, options.seed)
    print(json.dumps(found))
    return int(bool(found["faults"]))


if __name__ == "__main__":
    sys.exit(main())
