"""Names of files and folders that belong to a running process, so that what killed ones left is found."""

from __future__ import annotations

import functools
import os
import re
import secrets
import socket
import time
from pathlib import Path

_OWNED = re.compile(r"\.(?P<host>[A-Za-z0-9_-]+)\.(?P<pid>\d+)\.[0-9a-f]{8}(?:\.part)?$")
_A_DAY = 86400.0


def owned_name(purpose: str, ending: str = "") -> str:
    """Return a new name that tells which process of which host it belongs to."""
    return f"{purpose}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}{ending}"


def is_orphan(name: str) -> bool:
    """Tell whether a name belongs to a process of this host that is no more; of other hosts nobody can say."""
    found = _owner(name)
    return found is not None and found["host"] == _host() and not _lives(int(found["pid"]))


def is_held(path: Path) -> bool:
    """Tell whether what bears this name counts as in use: its process lives, or is of another host and a day young."""
    found = _owner(path.name)
    if found is None:
        return False
    if found["host"] == _host():
        return _lives(int(found["pid"]))
    try:
        return time.time() - path.stat().st_mtime < _A_DAY
    except OSError:
        return False


def is_own(name: str) -> bool:
    """Tell whether a name belongs to this very process."""
    found = _owner(name)
    return found is not None and found["host"] == _host() and int(found["pid"]) == os.getpid()


def _lives(pid: int) -> bool:
    import psutil  # noqa: PLC0415 - most commands find nothing that somebody owns

    return psutil.pid_exists(pid)


def _owner(name: str) -> re.Match[str] | None:
    """Return the part of a name that tells its owner; it stands at the name's end.

    >>> _owner("cell.box.12.0123abcd")["pid"], _owner("install.log")
    ('12', None)
    """
    return _OWNED.search(name)


@functools.cache
def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname())[:12] or "host"
