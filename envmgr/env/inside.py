"""Has an env's own interpreter tell what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from envmgr.outside import Completed, Files, Process, ProcessRequest

PROBE = Path(__file__).with_name("probes") / "inspect.py"

_SECONDS = 60.0
_SECONDS_DEEP = 1800.0


def ask_inside(python: Path, process: Process, files: Files, *, deep: bool = False) -> tuple[str | None, Completed]:
    """Return the report of the probe in an env, if it made one, and how it ended.

    The interpreter sees no variable of the caller, and what the env runs at its start can write nowhere, where the
    system sees to that.
    """
    with files.scratch("inspect") as scratch:
        request, report = scratch / "request.json", scratch / "report.json"
        files.write(request, json.dumps({"deep": deep}), durable=False)
        completed = process.run(
            ProcessRequest(
                (str(python), "-I", "-B", str(PROBE), "--request", str(request), "--report", str(report)),
                cwd=scratch,
                env=_bare_environment(scratch),
                timeout=_SECONDS_DEEP if deep else _SECONDS,
                writable=(scratch, Path("/dev")),
            )
        )
        return files.read(report), completed


def _bare_environment(home: Path) -> Mapping[str, str]:
    """No variable of the caller reaches the probe; Windows starts no Python without its own folder."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "USERPROFILE": str(home),
        "SYSTEMROOT": "C:\\Windows",
        "LC_ALL": "C.UTF-8",
    }
