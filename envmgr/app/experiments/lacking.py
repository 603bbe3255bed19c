"""What a machine may lack while an experiment goes on: that tells nothing of what is asked."""

from __future__ import annotations

import re

from envmgr.env.trouble import NO_SPACE

_LACKS = (
    (rf"{NO_SPACE}|Disk quota exceeded|os error 122\b", "there was no space left on the disk"),
    (r"Too many open files|os error 24\b", "too many files were open"),
    (r"Read-only file system|os error 30\b", "the file system could only be read"),
)


def lack_of_machine(text: str) -> str:
    """Return what the machine lacked, by what a failed command wrote; empty if it does not say so.

    >>> lack_of_machine("OSError: [Errno 28] No space left on device: '/tmp/x'")
    'there was no space left on the disk'
    >>> lack_of_machine("ImportError: No module named 'errno28'")
    ''
    """
    return next((told for pattern, told in _LACKS if re.search(pattern, text, re.IGNORECASE)), "")
