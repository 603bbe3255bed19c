"""What the head of a runner says of it (PEP 723, `[tool.envmgr]`)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from envmgr.app.workplace import Workplace
from envmgr.cell.request import RunnerFacts
from envmgr.errors import ManifestError

_HEAD = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def read_head(text: str, source: str) -> dict[str, Any]:
    """Return the script block of a runner as data, empty if it has none; raises ManifestError for a broken one."""
    found = _HEAD.search(text)
    if found is None:
        return {}
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in found["content"].splitlines(keepends=True))
    try:
        return tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(
            f"{source} has a script block that is no TOML",
            str(error),
            "see PEP 723, and runners/PROTOCOL.md for [tool.envmgr]",
        ) from None


def runner_facts(workplace: Workplace) -> dict[str, RunnerFacts]:
    """Return what planning must know of every runner in view."""
    return {name: _facts(workplace, path) for name, path in workplace.shelf.runners.items()}


def _facts(workplace: Workplace, path: Path) -> RunnerFacts:
    source = workplace.project.shown(path)
    table = read_head(workplace.files.read(path) or "", source).get("tool", {}).get("envmgr", {})
    return RunnerFacts(
        needs_device=bool(table.get("needs-device", True)),
        defaults=dict(table.get("parameters", {})),
        neutral=frozenset(table.get("neutral", ())),
    )
