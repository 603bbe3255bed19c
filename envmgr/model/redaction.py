"""Take credentials out of text before anyone sees it."""

from __future__ import annotations

import re

_AUTHORITY = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s`'\"]*@")
_QUERY = re.compile(r"(?P<address>[A-Za-z][A-Za-z0-9+.-]*://[^?#\s`'\"]*)\?[^#\s`'\"]*")
_BARE = re.compile(r"(?<!\S)[^\s/:@]+:[^\s/@]*@(?=[^\s@]+)")


def redact(url: str) -> str:
    """Return a URL, or any text with URLs in it, without user names, passwords and query strings.

    >>> redact("https://user:secret@mirror.example/simple?token=1")
    'https://mirror.example/simple'
    """
    return _BARE.sub("", _QUERY.sub(r"\g<address>", _AUTHORITY.sub(r"\g<scheme>", url)))
