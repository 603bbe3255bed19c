"""What the head of a runner says of it (PEP 723, `[tool.envmgr]`)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from envmgr.app.workplace import Workplace
from envmgr.cell.request import RunnerFacts
from envmgr.cell.script import is_plain_script
from envmgr.errors import ManifestError
from envmgr.model.script_block import script_block


def read_head(text: str, source: str) -> dict[str, Any]:
    """Return the script block of a runner as data, empty if it has none; raises ManifestError for a broken one."""
    try:
        return tomllib.loads(script_block(text) or "")
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
    text = workplace.files.read(path) or ""
    table = read_head(text, source).get("tool", {}).get("envmgr", {})
    return RunnerFacts(
        needs_device=bool(table.get("needs-device", not is_plain_script(text))),
        defaults=dict(table.get("parameters", {})),
        neutral=frozenset(table.get("neutral", ())),
    )
