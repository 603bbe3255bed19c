"""Makes benchmarks/infer.md of what infer.py wrote.

infer_table.py [--ours FILE…] [--first-look FILE…] [--baselines FILE…] > benchmarks/infer.md
"""

import argparse
import json
import statistics
from pathlib import Path

PUBLISHED = (("PLLM", 1583), ("ReadPyE", 1365), ("PyEGo", 1302))
HARD = 2891
HEAD = """# How many old scripts infer finds an environment for

The scripts are gists that nobody here wrote, from the public set gistable/gistable, chosen by the rule in
`benchmarks/infer_sample.py`; none of their code is here, and none of it was run. A gist counts as resolved when, in the
environment that the written lock builds, everything that it imports can be imported and every name that it uses from a
module is there, and nothing had to be set aside. Seconds are those of the whole command, from an empty folder: search,
manifest, lock, the build of that lock, and the probe in it; uv's cache was warm.

Published figures are of the same 2,891 hard gists, and measure something else: a script counts there when it *ran* to
success or to an error that is not one of dependencies. Ours runs no line of a script, and asks for every name at once, also
for those that a run would never have come to; it says nothing of arguments, data and results. The samples differ as well:
theirs are all of the hard gists, ours those that parse as Python 3, import widely used distributions only, and at least one
for machine learning. So the columns stand beside each other and are not to be subtracted.

| what | measure | resolved |
| --- | --- | --- |
"""


def read(paths):
    """The files' rows in one, and what they say of how they were made."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in paths or ()]
    rows = {row["id"]: row for file in files for row in file["rows"]}
    return files, sorted(rows.values(), key=lambda row: row["sha256"])


def share(rows):
    good = sum(row["resolved"] for row in rows)
    return f"{good} of {len(rows)} ({100 * good / len(rows):.0f} %)"


def middle(rows):
    seconds = [row["seconds"] for row in rows]
    return f"median {statistics.median(seconds):.0f} s, longest {max(seconds):.0f} s"


def circumstances(files):
    commits = ", ".join(dict.fromkeys(file["commit"] for file in files))
    loads = [load for file in files for load in file["load"]]
    return f"commit {commits}, {files[0]['cpus']} cores, load {min(loads)} to {max(loads)}"


def table(rows):
    lines = ["| sha256 | gist | resolved | Python | as of | seconds | experiments | what is missing |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        why = " ".join(row["why"].split()).replace("|", "/")[:200]
        day = row.get("day") or ("newest" if row.get("python") else "")
        cells = (row["sha256"][:8], row["id"], "yes" if row["resolved"] else "**no**", row.get("python", ""), day)
        lines.append("| " + " | ".join(map(str, (*cells, row["seconds"], row.get("experiments", ""), why))) + " |")
    return lines


def of_baselines(rows):
    ways = [key for key in rows[0] if key not in {"sha256", "id"}]
    lines = ["| gist | " + " | ".join(ways) + " |", "| --- |" + " --- |" * len(ways)]
    for row in rows:
        told = ("yes" if row[way]["resolved"] else "no: " + row[way]["why"][:110].replace("|", "/") for way in ways)
        lines.append(f"| {row['id']} | " + " | ".join(told) + " |")
    return ways, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ours", "first-look", "baselines"):
        parser.add_argument(f"--{name}", nargs="+", type=Path)
    wishes = parser.parse_args()
    files, rows = read(wishes.ours)
    summary, parts = [], []
    if rows:
        summary.append(
            f"| envmgr infer, the fixed sample of 40 | import surface, not run; {middle(rows)} | {share(rows)} |"
        )
        parts += ["", "## The fixed sample", "", f"Measured at {circumstances(files)}.", "", *table(rows)]
    looked, first = read(wishes.first_look)
    if first:
        told = f"import surface, not run; {middle(first)}"
        summary.append(f"| envmgr infer, gists never looked at before, first pass | {told} | {share(first)} |")
        parts += ["", "## Gists of the same kind that were never looked at before", ""]
        parts += [
            "The next ones by the same rule, each at its first pass; what missed was mended by kind afterwards, and they were",
            f"not counted again. Measured at {circumstances(looked)}.",
        ]
        parts += ["", *table(first)]
    simple, simply = read(wishes.baselines)
    if simply:
        ways, lines = of_baselines(simply)
        names = {
            "newest-3.11": "the newest of everything on Python 3.11",
            "2019-07-3.7": "everything as of 2019-07 on 3.7",
        }
        summary += [f"| {names[way]} | the same probe | {share([row[way] for row in simply])} |" for way in ways]
        parts += ["", "## Two simple ways, on the same sample", "", f"Measured at {circumstances(simple)}.", "", *lines]
    told = "published: ran to success or to an error that is none of dependencies"
    summary += [f"| {name} | {told} | {good:,} of {HARD:,} ({100 * good / HARD:.0f} %) |" for name, good in PUBLISHED]
    print(
        HEAD
        + "\n".join(summary + parts)
        + "\n\nMade by `benchmarks/infer_table.py` from what `benchmarks/infer.py` wrote."
    )


if __name__ == "__main__":
    main()
