"""How a runner is started: one that speaks the protocol by itself, any other script of PEP 723 by an adapter."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from envmgr.model.script_block import script_block

_ADAPTER = Path(__file__).with_name("probes") / "script_as_runner.py"


@lru_cache(maxsize=64)
def is_plain_script(text: str) -> bool:
    """Tell whether a file is a script of PEP 723 that says nothing of envmgr, and so knows nothing of its protocol."""
    block = script_block(text)
    if block is None:
        return False
    try:
        return "envmgr" not in tomllib.loads(block).get("tool", {})
    except (tomllib.TOMLDecodeError, TypeError):
        return False


def words_to_run(runner: Path, text: str) -> tuple[str, ...]:
    """Return what an interpreter is given to run a runner of that text, before `--request` and `--report`."""
    return (str(_ADAPTER), str(runner)) if is_plain_script(text) else (str(runner),)
