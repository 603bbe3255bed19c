"""How many hard gists `envmgr infer` finds an environment for, and how many of them two simple ways do.

infer.py FOLDER [--count N] [--skip N] [--only ID…] [--budget SECONDS] [--baselines] [--json FILE]

FOLDER is a checkout of gistable/gistable (`all-gists/` and `results/`); infer_sample.py says which gists are meant. Each is
copied alone into an empty folder, and the command itself is run there: search, manifest, lock, the build of that lock, and
the probe in it. It counts as resolved when every import and every name that is used from a module is there, and nothing
was set aside. `seconds` are those of the whole command. None of the gists' code is run or kept.

With `--baselines`, no envmgr: the newest of everything on Python 3.11, and everything as of 2019-07-01 on Python 3.7 (and
tensorflow with keras, which otherwise could not be imported at all), each installed by uv into a virtual environment and asked by the same probe. Uv's cache is used as it is. What is measured is
written to FILE after every gist; infer_table.py makes benchmarks/infer.md of such files.
"""

import argparse
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import infer_sample
import uv

from envmgr.diagnose.knowledge import distributions_for
from envmgr.infer.probe import make_probe, read_proof
from envmgr.infer.source import read_source
from envmgr.infer.surface import surface_of
from envmgr.infer.syntax import parse

WAYS = {"newest-3.11": ("3.11", ""), "2019-07-3.7": ("3.7", "2019-07-01")}
BESIDE = {"keras": ["tensorflow"]}  # without a backend keras is never imported; whoever installs it knows that
NO_ACCELERATOR = "nvidia-nccl-cu12; sys_platform == 'none'\n"  # 300 MB that no import needs
LONGEST_INSTALL, LONGEST_PROBE = 600, 300


def inferred(folder, gist, budget, cache):
    """What the command says of one gist."""
    with tempfile.TemporaryDirectory(prefix="infer-", ignore_cleanup_errors=True) as place:
        shutil.copyfile(infer_sample.snippet_of(folder, gist), Path(place) / "snippet.py")
        environment = dict(os.environ, ENVMGR_CACHE_DIR=str(cache), ENVMGR_STATE_DIR=str(cache / "state"))
        environment.setdefault("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
        argv = [sys.executable, "-m", "envmgr", "infer", "snippet.py", "--json", "--budget", f"{budget:.0f}s"]
        root = str(Path(__file__).resolve().parents[1])
        environment["PYTHONPATH"] = root
        begun = time.monotonic()
        done = subprocess.run(
            argv, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
        )
        seconds = time.monotonic() - begun
    shutil.rmtree(cache / "envs", ignore_errors=True)
    try:
        told = json.loads(done.stdout.decode("utf-8", "replace").replace(f"{place}/", ""))
    except ValueError:
        return {"resolved": False, "exit": done.returncode, "seconds": round(seconds, 1), "why": "it told nothing"}
    return row_of(told, done.returncode) | {"exit": done.returncode, "seconds": round(seconds, 1)}


def row_of(told, exit_code):
    """What counts of the command's answer."""
    if told["error"]:
        error = told["error"]
        last = (error["why"] or "").strip().splitlines()[-1:]
        return {"resolved": False, "why": ": ".join([error["what"], *last])}
    found = told["data"]["infer"]
    return {
        "resolved": exit_code == 0 and found["proof"]["passed"] and not found["unreachable"],
        "python": found["python"],
        "day": found["exclude_newer"],
        "requirements": found["requirements"],
        "experiments": len(found["experiments"]),
        "searched": round(sum(each["seconds"] for each in found["experiments"]), 1),
        "names": len(found["proof"]["imported"]) + len(found["proof"]["resolved"]),
        "why": "; ".join(found["unreachable"]),
    }


def simply(folder, gist, way):
    """What the probe says in an environment with everything that a gist imports, chosen by day alone."""
    python, day = WAYS[way]
    path = infer_sample.snippet_of(folder, gist)
    surface = surface_of(parse(read_source(path.name, path.read_text(encoding="utf-8", errors="replace")).code).tree)
    tops = infer_sample.third_party(path)
    names = sorted({name for top in tops for name in (distributions_for(top)[0], *BESIDE.get(top, ()))})
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="infer-simply-", ignore_cleanup_errors=True) as place:
        venv, overrides = Path(place) / "venv", Path(place) / "overrides.txt"
        overrides.write_text(NO_ACCELERATOR)
        wheels = ["--find-links", os.environ["PIP_FIND_LINKS"]] if os.environ.get("PIP_FIND_LINKS") else []
        days = ["--exclude-newer", day] if day else []
        install = ["pip", "install", "-q", "-p", str(venv), "--override", str(overrides), *days, *wheels, *names]
        for words in (["venv", "-q", "-p", interpreter(python), str(venv)], install):
            why = finished([uv.find_uv_bin(), *words], place, LONGEST_INSTALL)
            if why:
                return {"resolved": False, "why": why, "seconds": round(time.monotonic() - begun, 1)}
        environment = {"HOME": place, "PATH": os.environ["PATH"]}
        probe = [str(venv / "bin" / "python"), "-B", "-c", make_probe([surface], ()).code]
        try:
            done = subprocess.run(
                probe, cwd=place, env=environment, capture_output=True, text=True, timeout=LONGEST_PROBE, check=False
            )
        except subprocess.TimeoutExpired:
            return {"resolved": False, "why": "the probe did not end", "seconds": round(time.monotonic() - begun, 1)}
    proof = read_proof(done.stdout, passed=done.returncode == 0)
    lacking = [each.name for each in proof.missing if each.required] if proof else ["the probe"]
    why = "missing: " + ", ".join(lacking) if lacking else ""
    return {"resolved": bool(proof and proof.passed), "why": why, "seconds": round(time.monotonic() - begun, 1)}


@functools.cache
def interpreter(minor):
    """Where this host has a Python, as envmgr finds it (uv stumbles over shims)."""
    argv = [sys.executable, "-m", "envmgr", "python", "list", "--json"]
    listed = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)["data"]["interpreters"]
    return next(each["executable"] for each in listed if each["version"].startswith(f"{minor}."))


def finished(argv, place, seconds):
    """Why a command failed, empty when it did not."""
    try:
        done = subprocess.run(argv, cwd=place, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"not installed within {seconds} s"
    return "not installed: " + " ".join(done.stderr.split())[:300] if done.returncode else ""


def measured(wishes, gist, cache):
    """The row of one gist: ours, or those of the simple ways."""
    if wishes.baselines:
        return {way: simply(wishes.folder, gist, way) for way in WAYS}
    return inferred(wishes.folder, gist, wishes.budget, cache)


def told(row, way=""):
    """One line for who waits."""
    part = row[way] if way else row
    return f"{'yes' if part['resolved'] else 'no ':3} {part['seconds']:6.1f} s  {way} {part['why'][:150]}"


def commit():
    """The commit that is measured, with a mark when the tree is another."""
    argv = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=infer_sample.COUNT)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="these ids alone")
    parser.add_argument("--budget", type=float, default=300.0)
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--json", type=Path)
    wishes = parser.parse_args()
    everything = infer_sample.sample(wishes.folder)
    chosen = everything[wishes.skip : wishes.skip + wishes.count]
    rows, loads = [], [os.getloadavg()[0]]
    facts = {"commit": commit(), "cpus": os.cpu_count(), "of": len(everything), "skipped": wishes.skip}
    with tempfile.TemporaryDirectory(prefix="infer-cache-", ignore_cleanup_errors=True) as cache:
        for digest, gist in chosen:
            if wishes.only and gist not in wishes.only:
                continue
            row = measured(wishes, gist, Path(cache))
            rows.append({"sha256": digest, "id": gist} | row)
            loads.append(os.getloadavg()[0])
            for way in WAYS if wishes.baselines else ("",):
                print(digest[:8], gist, told(row, way), flush=True)
            if wishes.json:
                facts |= {"load": [round(min(loads), 1), round(statistics.median(loads), 1), round(max(loads), 1)]}
                wishes.json.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n")
    for way in WAYS if wishes.baselines else ("",):
        parts = [row[way] if way else row for row in rows]
        seconds = [part["seconds"] for part in parts] or [0.0]
        good = sum(part["resolved"] for part in parts)
        middle = statistics.median(seconds)
        print(f"{way or 'infer'}: {good} of {len(parts)} resolved, median {middle:.0f} s, longest {max(seconds):.0f} s")


if __name__ == "__main__":
    main()
