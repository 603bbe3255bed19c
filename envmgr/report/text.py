"""Words and numbers as people read them; text from runners and libraries made harmless."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MINUTE = 60.0
_KIBI = 1024.0


def clean(text: str) -> str:
    r"""Return untrusted text as one line that a terminal only shows: what would steer it is written as an escape.

    >>> clean("a\x1b[31m\nb")
    'a\\x1b[31m b'
    """
    if text.isprintable():
        return text
    joined = " ".join(text.split("\n")) if "\n" in text else text
    return "".join(
        _escaped(character) if unicodedata.category(character) in _UNSAFE else character for character in joined
    )


def seconds(value: float | None) -> str:
    """Return a time with three digits and the unit that fits, empty for none.

    >>> seconds(0.00123), seconds(0.25), seconds(12.345), seconds(150), seconds(0)
    ('1.23 ms', '250 ms', '12.3 s', '2:30 min', '0 s')
    """
    if value is None:
        return ""
    if value == 0:
        return "0 s"
    if value < 0.9995e-3:  # noqa: PLR2004 - rounds to less than a millisecond
        return f"{_three(value * 1e6)} us"
    if value < 0.9995:  # noqa: PLR2004 - rounds to less than a second
        return f"{_three(value * 1e3)} ms"
    if value < 2 * _MINUTE:
        return f"{_three(value)} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes}:{rest:02d} min"


def amount(value: float | None) -> str:
    """Return a number of bytes with the unit that fits, empty for none.

    >>> amount(512), amount(3 * 1024**2), amount(2.5 * 1024**3)
    ('512 B', '3.0 MiB', '2.5 GiB')
    """
    if value is None:
        return ""
    if value < _KIBI:
        return f"{value:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        value /= _KIBI
        if value < _KIBI or unit == "GiB":
            return f"{value:.1f} {unit}"
    return ""


def ratio(value: float | None) -> str:
    """Return a factor, empty for none.

    >>> ratio(1), ratio(12.34), ratio(0.0312)
    ('1.00x', '12.3x', '0.031x')
    """
    if value is None:
        return ""
    if value < 0.1:  # noqa: PLR2004 - two digits say more than 0.03
        return f"{value:.2g}x"
    return f"{_three(value)}x"


def listed(names: Sequence[str], most: int) -> str:
    """Return untrusted names one after the other, of many only the first ones.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b"], 2)
    ('a, b, and 1 more', 'a, b')
    """
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return clean(", ".join(names[:most])) + more


def processes(count: int, most: int | None = None) -> str:
    """Return a number of processes in words, or from how many to how many."""
    if most is not None and most != count:
        return f"{count} to {most} processes"
    return "1 process" if count == 1 else f"{count} processes"


def parameters(values: dict[str, object]) -> str:
    """Return parameters on one line, sorted by name."""
    return clean(" ".join(f"{name}={value}" for name, value in sorted(values.items())))


def _three(value: float) -> str:
    """Return three digits that tell, never an exponent."""
    for limit, digits in ((9.995, 2), (99.95, 1)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def sharing_in_words(sharing: str, why: str) -> str:
    """Return how an environment's files share their bytes with uv's cache, for people.

    >>> sharing_in_words("copy", "UV_LINK_MODE is copy")
    "copies of those in uv's cache; no better, because UV_LINK_MODE is copy"
    """
    words = {
        "clone": "clones of those in uv's cache: they take no room until one is written to",
        "hardlink": "hard links into uv's cache: they take no room, and only bytecode is written beside them",
    }.get(sharing, "copies of those in uv's cache")
    return f"{words}; no better, because {why}" if why else words
