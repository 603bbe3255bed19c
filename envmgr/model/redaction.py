"""Take credentials out of text before anyone sees it."""

from __future__ import annotations

import re

_AUTHORITY = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/?#\s`'\"]*@")
_QUERY = re.compile(r"(?P<address>[A-Za-z][A-Za-z0-9+.-]{0,30}://[^?#\s`'\"]*)\?[^#\s`'\"]*")
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:^|_)(?:KEY|AUTH)(?:$|_)", re.IGNORECASE)
_BARE = re.compile(r"(?<!\S)[^\s/:@]+:[^\s/@]*@(?=[^\s@]+)")


def redact(url: str) -> str:
    """Return a URL, or any text with URLs in it, without user names, passwords and query strings.

    >>> redact("https://user:secret@mirror.example/simple?token=1")
    'https://mirror.example/simple'
    """
    return _BARE.sub("", _QUERY.sub(r"\g<address>", _AUTHORITY.sub(r"\g<scheme>", url)))


def shown_variable(name: str, value: str) -> str:
    """Return a variable as `NAME=value`, without credentials; the value of one that is named as a secret is not shown.

    >>> shown_variable("HUB_TOKEN", "abc")
    'HUB_TOKEN=(not shown)'
    """
    return f"{name}={shown_value(name, value)}"


def shown_value(name: str, value: str) -> str:
    """Return a variable's value without credentials, and nothing of one that is named as a secret."""
    return "(not shown)" if _SECRET.search(name) else redact(value)
