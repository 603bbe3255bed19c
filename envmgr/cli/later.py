"""An answer that is printed now but for how long it took, which is known later."""

from __future__ import annotations

from typing import cast

_MARK = "@@seconds@@"


class _Later(str):
    """Stands for seconds, however they are to be printed."""

    __slots__ = ()

    def __format__(self, _specification: str) -> str:
        return _MARK


LATER = cast("float", _Later(_MARK))
"""Seconds that are known later."""


def filled(answer: str, seconds: float) -> str:
    """Return an answer with the seconds at their place, in JSON or in a sentence.

    >>> filled('{"seconds": "@@seconds@@"}', 0.25), filled("built in @@seconds@@ s", 0.25)
    ('{"seconds": 0.25}', 'built in 0.2 s')
    """
    return answer.replace(f'"{_MARK}"', repr(seconds)).replace(_MARK, f"{seconds:.1f}")
