"""What bad input is fed to: each takes bytes, and fails only when envmgr does what it must never do.

A fault is a traceback, an error that does not name its file, an exit code of its own, or more than five seconds.
"""

import contextlib
import io
import os
import sys
import time
from pathlib import Path

from envmgr.cell.check import parse_report
from envmgr.cli import run as run_command
from envmgr.errors import EnvmgrError
from envmgr.lock.parse import parse as parse_lock
from envmgr.manifest import check, read
from envmgr.model.cell import Cell
from envmgr.store.results import FileStore
from envmgr.system.files import RealFiles

REPOSITORY = Path(__file__).resolve().parents[2]
CELL = Cell(id="c1", manifest="m", variant="default", runner="r")
LONGEST = 5.0
NEW_WORD = 224
LONGEST_LINE = 8

REPORT = b"""{"protocol": 1, "cell": "c1", "status": "ok", "first_call": 0.1, "samples": [0.1, 0.2], "peak_memory": 5,
"outputs": {"a": {"shape": [2, 1], "values": [1.0, "nan"]}}, "metrics": {"loss": [0.5, "inf"]}, "notes": ["x"],
"checks": [{"name": "n", "passed": true, "wanted": 1, "found": 2}], "versions": {"keras": "2"}}"""
RESULT = b"""{"schema": 1, "cell": "c1", "round": 0, "outcome": "passed", "phase": null, "reason": "", "elapsed": 1.5,
"report": {"protocol": 1, "cell": "c1", "status": "ok", "samples": [0.1]}, "log": "logs/c1-0.log"}"""
RUN = b"""{"schema": 1, "id": "r1", "started_at": "2026-01-01T00:00:00+00:00", "host": "h", "envmgr": "1", "plan":
{"matrix": "quick", "effort": "quick", "processes": 1, "host": "h", "cells": [{"id": "c1", "manifest": "m", "variant":
"default", "runner": "r"}]}}"""
WORDS = (
    "list show path doctor verify devices clean diff export import init schema python matrix plan logs compare report "
    "--json --project --debug --help --version --dry-run --older-than --check --host --device -e -j --effort --wide "
    "--markdown --baseline --cell --fail-if-slower --from --to --output --deep --python --offline one absent latest "
    "# r1#c1 10% -1 0 1e999 nan . .. / /dev/null /nonexistent \x00 \xff -- - = --= ⌘ 'quote\" *"
).split(" ")
KEPT_OUT = frozenset(
    {"install", "run", "build", "lock", "shell", "worker", "up", "diagnose", "bisect", "infer", "watch", "measure"}
)
"""Words that would start downloads or other people's programs."""


def manifest(data):
    """Read a manifest as a project does."""
    _read(data, lambda text: _checked(read.parse_manifest(text, "bad.toml"), text), "bad.toml")


def matrix(data):
    """Read a matrix."""
    _read(data, lambda text: read.parse_matrix(text, "bad.toml"), "bad.toml")


def lock(data):
    """Read a lock."""
    _read(data, lambda text: parse_lock(text, "bad.txt"), "bad.txt")


def report(data):
    """Read a runner's report: whatever it is, it is a report or a reason."""
    text = data.decode("utf-8", "replace")
    begun = time.monotonic()
    found = parse_report(text, CELL)
    assert found, "no reason"
    assert time.monotonic() - begun < LONGEST


def result(data, folder):
    """Load a run in which a result and, by its first byte, the head is what it is."""
    place = folder / "runs" / "r1"
    (place / "results").mkdir(parents=True, exist_ok=True)
    head, body = (data[1:], RESULT) if data[:1] < b"\x40" else (RUN, data[1:])
    (place / "run.json").write_bytes(head)
    (place / "results" / "c1-0.json").write_bytes(body)
    store = FileStore(folder / "runs", RealFiles(folder / "scratch"))
    try:
        run = store.load("r1")
    except EnvmgrError as error:
        assert "run.json" in str(error), str(error)
    else:
        assert len(run.results) + len(run.damaged) == 1
        assert all("c1-0.json" in each for each in run.damaged)


def command(data, project):
    """Run a command line in a project."""
    argv = [word for word in words_of(data) if word not in KEPT_OUT]
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(project)
    begun = time.monotonic()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_command(argv)
    except SystemExit as leaving:
        code = leaving.code
    finally:
        os.chdir(before)
    said = err.getvalue()
    assert code in {0, 1, 2, 3, 4, 130, None}, (argv, code, said)
    assert "--debug" in argv or "Traceback" not in said, (argv, said)
    assert time.monotonic() - begun < 6 * LONGEST, argv


def words_of(data):
    """Return the words of a command line: a byte chooses a known one, or begins a new one that a zero ends."""
    words, rest = [], data[:80]
    while rest and len(words) < LONGEST_LINE:
        first, rest = rest[0], rest[1:]
        if first < NEW_WORD:
            words.append(WORDS[first % len(WORDS)])
        else:
            text, _, rest = rest.partition(b"\0")
            words.append(text.decode("utf-8", "surrogateescape"))
    return words


def make_project(folder):
    """Make the project that commands are run in, with its own caches, and gather this host's facts only once."""
    from envmgr.app import hosting

    os.environ |= {"ENVMGR_CACHE_DIR": str(folder / "cache"), "ENVMGR_STATE_DIR": str(folder / "state")}
    os.environ |= {"ENVMGR_CONFIG_DIR": str(folder / "config"), "COLUMNS": "100", "NO_COLOR": "1"}
    hosting.gather = _once(hosting.gather)
    project = folder / "project"
    (project / "manifests" / "matrices").mkdir(parents=True)
    text = 'schema = 1\nname = "one"\npython = ">=3.11"\nrequirements = ["demo==1.0"]\n'
    (project / "manifests" / "one.toml").write_text(text)
    (project / ".envmgr" / "runs" / "r1" / "results").mkdir(parents=True)
    (project / ".envmgr" / "runs" / "r1" / "run.json").write_bytes(RUN)
    (project / ".envmgr" / "runs" / "r1" / "results" / "c1-0.json").write_bytes(RESULT)
    return project


def seeds():
    """Return good inputs for each target, from which bad ones are made."""
    manifests = [path.read_bytes() for path in sorted((REPOSITORY / "manifests").glob("*.toml"))]
    matrices = [path.read_bytes() for path in sorted((REPOSITORY / "manifests" / "matrices").glob("*.toml"))]
    locks = sorted((REPOSITORY / "manifests" / "locks").rglob("*.txt"))
    short = [path.read_bytes()[:3000] for path in locks[:6]]
    return {
        "manifest": manifests,
        "matrix": matrices,
        "lock": short,
        "report": [REPORT],
        "result": [b"\x80" + RESULT, b"\x00" + RUN],
        "command": [
            *(bytes([number, number + 3, number + 7]) for number in range(0, 60, 5)),
            *(bytes([NEW_WORD, *word.encode(), 0, number]) for number, word in enumerate(WORDS[:24])),
        ],
    }


def _read(data, parse, name):
    text = data.decode("utf-8", "replace")
    begun = time.monotonic()
    try:
        parse(text)
    except EnvmgrError as error:
        assert name in str(error), str(error)
        assert error.what
    assert time.monotonic() - begun < LONGEST


def _checked(found, text):
    check.check_manifest(found, text=text, source="bad.toml", runners=("r",), backends=("plaidml",))


def _once(function):
    """Return a function that is called the first time alone, whatever it is given later."""
    answers = []

    def remembered(*arguments, **options):
        if not answers:
            answers.append(function(*arguments, **options))
        return answers[0]

    return remembered


if __name__ == "__main__":
    sys.exit("this is a part of fuzz.py")
