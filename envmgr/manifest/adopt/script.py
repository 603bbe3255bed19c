"""A single-file script (PEP 723)."""

from __future__ import annotations

import tomllib

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, python_range, settle
from envmgr.manifest.adopt.uv_settings import with_settings
from envmgr.model.script_block import script_block


def read_script(text: str) -> tuple[Draft, ...]:
    """Return the draft of what the script block of a file asks for; the script itself is not run."""
    block = script_block(text)
    if block is None:
        found = "wanted a block between `# /// script` and `# ///` in it; found none"
        raise UsageError("the script says nothing of what it needs", found, "envmgr infer SCRIPT")
    try:
        data = tomllib.loads(block)
    except tomllib.TOMLDecodeError as error:
        raise UsageError("the script's block is no TOML", str(error), "mend it first") from None
    kept, notes = settle(data.get("dependencies", ()))
    draft = Draft(kept, python=python_range(data.get("requires-python", ANY_PYTHON)), notes=notes)
    return (with_settings(draft, data.get("tool", {}).get("uv", {})),)
