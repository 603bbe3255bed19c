"""Starts many envmgr at once: one build each, results apart, nobody stopped by one that is killed, nothing in use removed.

    python benchmarks/robustness/together.py --same 16 --others 8

Prints a JSON line with what was found; exit 1 when something is amiss.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from world import cache_of, incomplete, leftovers, make_world, processes_of, say


def build_together(project, same, others):
    """Build one env in many processes and others beside them; return faults and how many processes built."""
    processes = [("one", project.start("build", "one", "--json")) for _ in range(same)]
    processes += [(f"other{n}", project.start("build", f"other{n}", "--json")) for n in range(others)]
    faults, fresh = [], {}
    for name, process in processes:
        stdout, stderr = process.communicate(timeout=600)
        if process.returncode:
            faults.append(f"{name}: exit {process.returncode}: {stderr[-300:]}")
            continue
        fresh[name] = fresh.get(name, 0) + json.loads(stdout)["data"]["builds"][0]["fresh"]
    faults += [f"{name} was built {count} times" for name, count in fresh.items() if count != 1]
    return faults + [f"not complete: {what}" for what in incomplete(project)]


def kill_the_builder(project, waiting):
    """Kill the process that builds while others wait for it: one of them must take over."""
    first = project.start("build", "killed", "--json")
    deadline = time.monotonic() + 60
    envs = cache_of(project) / "envs"
    before = {path.name for path in envs.iterdir()}
    while not [path for path in envs.iterdir() if path.is_dir() and path.name not in before]:
        if first.poll() is not None or time.monotonic() > deadline:
            return ["the builder could not be caught at work"]
        time.sleep(0.002)
    others = [project.start("build", "killed", "--json") for _ in range(waiting)]
    first.send_signal(signal.SIGKILL)
    first.communicate()
    faults, fresh = [], 0
    for process in others:
        stdout, stderr = process.communicate(timeout=120)
        if process.returncode:
            faults.append(f"after the kill: exit {process.returncode}: {stderr[-300:]}")
        else:
            fresh += json.loads(stdout)["data"]["builds"][0]["fresh"]
    if not faults and fresh != 1:
        faults.append(f"after the kill it was built {fresh} times")
    return faults + [f"after the kill not complete: {what}" for what in incomplete(project)]


def run_twice_and_clean(project):
    """Run two matrices at once while others clean all the time: results stay apart, and what is in use stays."""
    project.matrix("first", manifests=["one"], entries=[{"behaviour": f"a{n}"} for n in range(6)])
    project.matrix("second", manifests=["one", "other0"], entries=[{"behaviour": f"b{n}"} for n in range(3)])
    project.json("build", "one", "other0")
    runs = {name: project.start("matrix", "run", name, "--json") for name in ("first", "second")}
    cleaned = 0
    while any(process.poll() is None for process in runs.values()):
        cleaned += project.run("clean", "--yes").returncode in {0, 4}
    faults = [] if cleaned else ["no clean ran beside them"]
    for name, process in runs.items():
        stdout, stderr = process.communicate(timeout=120)
        if process.returncode:
            faults.append(f"matrix {name}: exit {process.returncode}: {stderr[-300:]}")
            continue
        data = json.loads(stdout)["data"]
        behaviours = {cell["parameters"]["behaviour"][0] for cell in data["cells"]}
        if behaviours != {"a" if name == "first" else "b"} or len(data["cells"]) != 6:
            faults.append(f"matrix {name} holds {len(data['cells'])} cells of {behaviours}")
    return faults


def run(folder, same, others):
    """Do all of it and return what was found."""
    names = ("one", "killed", *(f"other{number}" for number in range(others)))
    project = make_world(folder, names, files=60)
    project.run("lock", *names)
    begun = time.monotonic()
    faults = build_together(project, same, others)
    seconds = time.monotonic() - begun
    say(f"built together in {seconds:.1f} s")
    faults += kill_the_builder(project, 4)
    faults += run_twice_and_clean(project)
    project.run("build", "one")
    faults += [f"left behind: {path}" for path in leftovers(project)]
    faults += [f"still running: {pid}" for pid in processes_of(project)]
    return {"same": same, "others": others, "seconds": round(seconds, 1), "faults": faults}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--same", type=int, default=16)
    parser.add_argument("--others", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), options.same, options.others)
    print(json.dumps(found))
    return int(bool(found["faults"]))


if __name__ == "__main__":
    sys.exit(main())
