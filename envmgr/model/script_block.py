"""What stands in the head of a single-file script (PEP 723)."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"(?m)^# /// script\s*$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def script_block(text: str) -> str | None:
    r"""Return the TOML in the script block of a file, None where it has none.

    >>> script_block("# /// script\n# dependencies = []\n# ///\n")
    'dependencies = []\n'
    """
    found = _BLOCK.search(text)
    if found is None:
        return None
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in found["content"].splitlines(keepends=True))
    return "".join(lines)
