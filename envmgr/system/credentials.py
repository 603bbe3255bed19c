"""What a host on the network is told of who asks: from the address, or from the user's netrc file."""

from __future__ import annotations

import base64
import netrc
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, unquote


def authorization(parts: SplitResult, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the credentials for an address, and none where none are known."""
    credentials = _credentials(parts, environment)
    if not credentials:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}


def _credentials(parts: SplitResult, environment: Mapping[str, str]) -> str:
    if parts.username:
        return f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    place = Path(environment.get("NETRC") or Path.home() / ".netrc")
    try:
        found = netrc.netrc(place).authenticators(parts.hostname or "")
    except (OSError, netrc.NetrcParseError):
        return ""
    return f"{found[0]}:{found[2]}" if found else ""
