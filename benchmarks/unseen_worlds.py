"""Score `envmgr diagnose` on worlds that nobody has seen: invented distributions on an index on loopback, made from a seed.

    unseen_worlds.py [--count 200] [--controls 40] [--seed 1] [--only w017]... [--jobs 2] [--check] [--json OUT]

Each world has a known cause, fails as given and passes with a mend of its own (the generator sees to it, `--check` does
nothing else). The proposed fix is applied by hand, with plain uv. Sound worlds are broken ones of which the mend was
made beforehand. Prints a Markdown table by kind and each miss. Needs no network; worlds use the Pythons of this machine.
"""

import argparse
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from unseen.judge import Judge, interpreters
from unseen.shelf import served
from unseen.worlds import worlds


def share(rows, key):
    good = sum(1 for row in rows if row[key])
    return f"{good}/{len(rows)} ({good / len(rows):.1%})" if rows else "none"


def kind_of(row):
    return "sound" if row["sound"] else "a pair" if " + " in row["kind"] else row["kind"]


def table(rows):
    broken = [row for row in rows if not row["sound"]]
    lines = ["| kind | worlds | cause right | fix works | false accusations |", "| --- | --- | --- | --- | --- |"]
    kinds = sorted({kind_of(row) for row in rows}, key=lambda kind: (kind == "sound", kind == "a pair", kind))
    for name, group in [(kind, [row for row in rows if kind_of(row) == kind]) for kind in kinds] + [
        ("all broken ones", broken)
    ]:
        lines.append(
            f"| {name} | {len(group)} | {share(group, 'cause')} | {share(group, 'fix')} | {sum(row['false'] for row in group)} |"
        )
    seconds = [row["seconds"] for row in rows]
    lines += [
        "",
        f"Median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s; crashes {sum(row['crash'] for row in rows)}.",
    ]
    misses = [row for row in rows if not (row["cause"] and row["fix"]) or row["false"]]
    if misses:
        lines += ["", "| miss | kind | what was said |", "| --- | --- | --- |"]
        lines += [f"| {row['id']} | {row['kind']} | {row['words'][:200].replace('|', '/')} |" for row in misses]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--controls", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--envmgr", default=f"{sys.executable} -P -m envmgr", help="how envmgr is started")
    parser.add_argument("--check", action="store_true", help="only see to it that the worlds are what they claim to be")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = interpreters()
    with tempfile.TemporaryDirectory(prefix="unseen-") as room, served(Path(room) / "index") as address:
        cases = worlds(Path(room) / "index", options.seed, options.count, options.controls, tuple(pythons))
        cases = [case for case in cases if not options.only or case.id in options.only]
        judge = Judge(address, Path(room) / "cache", pythons, options.envmgr.split(), options.budget)
        rows = []

        def one(case):
            fault = judge.honest(case)
            if fault:
                sys.exit(f"{case.id} ({case.kind}) is not what it claims to be: {fault}")
            return None if options.check else judge.judge(case)

        with ThreadPoolExecutor(options.jobs) as pool:
            for case, row in zip(cases, pool.map(one, cases), strict=True):
                if row is not None:
                    rows.append(row)
                    good = "right" if row["cause"] and row["fix"] and not row["false"] else "MISS "
                    print(
                        f"{case.id} {good} {row['seconds']:5.1f} s  {case.kind}: {row['words']}",
                        file=sys.stderr,
                        flush=True,
                    )
    print(table(rows) if rows else f"{len(cases)} worlds are what they claim to be")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
