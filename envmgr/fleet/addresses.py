"""Addresses of a fleet, and which of them may be used without encryption."""

from __future__ import annotations

import ipaddress
import re

from envmgr.errors import UsageError

_ADDRESS = re.compile(
    r"(?:(?P<protocol>tcp|tls|ucx|ws|wss)://)?(?P<host>\[[0-9A-Fa-f:]+\]|[^:/\[\]\s]+)(?::(?P<port>\d+))?/?"
)
_SAFE = frozenset({"tls", "wss"})


def checked_address(text: str, *, insecure: bool) -> str:
    """Return the address of a scheduler with its protocol; raises UsageError for one that is not safe to use.

    Whoever reaches an unencrypted fleet can run anything on its hosts: without TLS only this machine's own loopback
    will do, unless the user insists.

    >>> checked_address("127.0.0.1:8786", insecure=False), checked_address("tls://box:8786", insecure=False)
    ('tcp://127.0.0.1:8786', 'tls://box:8786')
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no address of a scheduler", "wanted such as tcp://127.0.0.1:8786", "")
    protocol = found["protocol"] or "tcp"
    if protocol not in _SAFE and not insecure and not is_loopback(found["host"].strip("[]")):
        raise UsageError(
            f"{text} is not encrypted",
            f"wanted tls:// (by Dask's own settings) or loopback; found {protocol}:// to {found['host']}. Whoever "
            "reaches such a fleet can run anything on its hosts",
            "give Dask certificates (distributed.comm.tls) and say tls://, or insist with --insecure",
        )
    return f"{protocol}://{found['host']}" + (f":{found['port']}" if found["port"] else "")


def is_loopback(host: str) -> bool:
    """Tell whether a host's name or number is this machine itself.

    >>> is_loopback("127.0.0.2"), is_loopback("::1"), is_loopback("localhost"), is_loopback("10.0.0.1")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
