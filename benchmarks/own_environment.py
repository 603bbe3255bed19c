"""Diagnose environments that stand, built by hand, with manifest and history withheld (`envmgr diagnose --from VENV`).

    own_environment.py CASES --score score.py [--only ID]... [--json OUT] [--budget 300] [--envmgr envmgr] [--place DIR]
                       [--half-built] [--every]

CASES is a folder of cases as score.py reads them; those with `steps` are taken. Each environment is built by score.py's
own `World.build`, the finding is judged by score.py's own judge (it rebuilds the fix by itself), and what lay in the
environment, HOME and the folder must be byte-identical afterwards. Cases whose history cannot even be installed leave no
environment to ask about: they are counted apart; with --half-built, what was left of the attempt is asked about all the
same (the history is withheld, so that only the probe tells what was wanted).
"""

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from types import ModuleType


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint(root: Path, left_out: tuple[str, ...]) -> dict[str, str]:
    """Everything below a folder, empty folders and links too, but for the tool's own places."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in sorted(folders + names):
            path = Path(folder) / name
            told = path.relative_to(root).as_posix()
            if told.startswith(left_out) or f"{told}/".startswith(left_out):
                continue
            if path.is_symlink():
                found[told] = f"-> {path.readlink()}"
            elif path.is_file():
                facts = path.stat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[told] = f"{facts.st_mode:o} {facts.st_mtime_ns} {digest}"
            else:
                found[told] = "folder"
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def judged(score: ModuleType, case: dict, options: argparse.Namespace, place: Path) -> dict:
    row, expect = {**score.blank(case), "touched": [], "stands": True}, case["expect"]
    world = score.World(case, place / "base")
    venv = world.root / "venv"
    row["stands"], said = world.build(score.merged(case, {}), venv)
    if not row["stands"]:
        row["words"] = f"its history cannot be installed: {score.last(said)[:140]}"
        if not options.half_built or not (venv / "bin" / "python").exists():
            return row
    before = fingerprint(world.root, score.OWN)
    argv = ["diagnose", "--from", str(venv), "--probe", case["probe"], "--json", "--budget", f"{options.budget}s"]
    argv += [
        word
        for name, value in case.get("env", {}).items()
        if "{venv}" in value
        for word in ("--env", f"{name}={value}")
    ]
    finding = score.called(
        row, argv, options, cwd=world.root / "cwd", env={**world.environment(), "UV_CACHE_DIR": score.cache()}
    )
    row["touched"] = changed(before, fingerprint(world.root, score.OWN))
    if row["crash"] and finding is None and row["words"]:
        return row
    if expect.get("sound"):
        return {**row, "false": finding is not None, "words": "accused" if finding else "sound"}
    score.judge_causes(row, finding, expect["causes"])
    row["fix"], why = fixed(score, case, finding or {}, row, place)
    row["words"] += f" | fix: {why or 'works'}"
    return row


def fixed(score: ModuleType, case: dict, finding: dict, row: dict, place: Path) -> tuple[bool, str]:
    """Whether the fix works, rebuilt by hand, and keeps the pins that it should; no fix is right where there is none."""
    fix, exists = finding.get("fix") or {}, case["expect"].get("fix") == "exists"
    if not exists and not (fix and row["confirmed"]):
        return True, "none is right"
    if not fix:
        return False, "none"
    done, why = score.works(case, fix, place / "fix")
    before, after = (score.pins(score.asked(score.merged(case, part))) for part in ({}, fix))
    moved = [
        name
        for name in case["expect"].get("keep", [])
        if score.same(name) in before and after.get(score.same(name)) != before[score.same(name)]
    ]
    return (False, f"moves {', '.join(moved)}") if done and moved and exists else (done, why)


def table(rows: list[dict]) -> list[str]:
    standing = [row for row in rows if row["stands"] and not row["skipped"]]
    faulty = [row for row in standing if row["cause"] is not None or row["crash"]]
    count = len(faulty)
    share = {key: sum(bool(row[key]) for row in faulty) for key in ("cause", "fix")}
    both = sum(bool(row["cause"] and row["fix"]) for row in faulty)
    seconds = [row["seconds"] for row in standing]
    mark = {True: "yes", False: "NO", None: "-"}
    said = [
        f"| {row['id']} | {mark[row['cause']]} | {mark[row['fix']]} | "
        f"{', '.join(row['touched'][:3]) or 'nothing'} | {row['seconds']:.1f} s | {row['words'][:160].replace('|', '/')} |"
        for row in standing
    ]
    half = [row for row in rows if not row["stands"] and row["cause"] is not None]
    apart = [f"- {row['id']}: {row['skipped'] or row['words'][:160]}" for row in rows if row not in standing]
    return [
        "| what | result |",
        "| --- | --- |",
        f"| environments that stand | {len(standing)} of {len(rows)} |",
        f"| cause right | {share['cause']}/{count} |",
        f"| fix seen to work | {share['fix']}/{count} |",
        f"| both | {both}/{count} ({both / count:.0%}) |" if count else "| both | not measured |",
        f"| environment, HOME or folder touched | {sum(bool(row['touched']) for row in rows)} |",
        (
            f"| half-built ones: cause, fix | {sum(bool(row['cause']) for row in half)}/{len(half)}, "
            f"{sum(bool(row['fix']) for row in half)}/{len(half)} |"
        ),
        f"| sound ones accused | {sum(row['false'] for row in standing)}/{len(standing) - count} |",
        f"| crashes | {sum(row['crash'] for row in standing)} |",
        f"| median, longest | {statistics.median(seconds):.1f} s, {max(seconds):.1f} s |" if seconds else "",
        "",
        "| case | cause | fix | touched | time | what was said |",
        "| --- | --- | --- | --- | --- | --- |",
        *said,
        "",
        *(["No environment to ask about:", "", *apart] if apart else []),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--score", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--every", action="store_true", help="cases without steps as well")
    parser.add_argument("--half-built", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--envmgr", default="envmgr")
    parser.add_argument("--place", type=Path, help="where environments are built; a temporary folder if not given")
    options = parser.parse_args()
    score = module_at(options.score)
    if shutil.which(options.envmgr.split()[0]) is None:
        parser.error(f"{options.envmgr} cannot be started: name it with --envmgr")
    rows = []
    for case in score.cases_in([options.cases], beneath=False):
        if not (case.get("steps") or options.every) or (options.only and case["id"] not in options.only):
            continue
        lacking = score.lacking(case)
        if lacking:
            rows.append({**score.blank(case), "touched": [], "stands": False, "skipped": f"needs {lacking}"})
            continue
        with tempfile.TemporaryDirectory(prefix="own-", dir=options.place, ignore_cleanup_errors=True) as place:
            rows.append(judged(score, case, options, Path(place)))
        print(f"{rows[-1]['id']}: {rows[-1]['words'][:200]} ({rows[-1]['seconds']:.1f} s)", flush=True)
    print("", *table(rows), sep="\n")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
