"""Turn what score.py measured (its --json) into the table of benchmarks/diagnose.md.

    diagnose_table.py plain.json [--minimal minimal.json] [--recorded recorded.json] [--blind blind.json]

What was not measured is said to be so; each miss is listed with what the tool said.
"""

import argparse
import json
import statistics
from pathlib import Path


def share(rows: list, key: str) -> str:
    among = [row for row in rows if not row["skipped"] and (row[key] is not None or row["crash"])]
    good = sum(1 for row in among if row[key])
    return f"{good}/{len(among)} ({good / len(among):.0%})" if among else "not measured"


def load(path: Path | None) -> list:
    return json.loads(path.read_text()) if path else []


def misses(rows: list) -> list:
    wrong = [
        row
        for row in rows
        if not row["skipped"]
        and (row["cause"] is False or row["fix"] is False or row["false"] or row["crash"] or row["residue"])
    ]
    return [f"| {row['id']} | {row['title']} | {row['words'][:160].replace('|', '/')} |" for row in wrong]


def lines(plain: list, minimal: list, recorded: list, blind: list) -> list:
    judged = [row for row in plain if not row["skipped"]]
    seconds = [row["seconds"] for row in judged]
    return [
        "| what | result |",
        "| --- | --- |",
        f"| cause right | {share(plain, 'cause')} |",
        f"| fix seen to work | {share(plain, 'fix')} |",
        f"| false accusations | {sum(row['false'] for row in judged)} |",
        f"| crashes, residue | {sum(row['crash'] for row in judged)}, {sum(bool(row['residue']) for row in judged)} |",
        f"| median, longest | {statistics.median(seconds):.1f} s, {max(seconds):.1f} s |" if seconds else "",
        f"| fixes that are minimal | {share(minimal, 'minimal')} |",
        f"| recorded: cause right | {share(recorded, 'cause')} |",
        f"| recorded: says what it must | {share(recorded, 'says')} |",
        f"| blind (exit codes alone): fix seen to work | {share(blind, 'fix')} |",
        "",
        "| miss | what failed | what was said |",
        "| --- | --- | --- |",
        *misses(plain),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plain", type=Path)
    for name in ("--minimal", "--recorded", "--blind"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    print("\n".join(lines(load(options.plain), load(options.minimal), load(options.recorded), load(options.blind))))


if __name__ == "__main__":
    main()
