"""What a host on the network is told of who asks: from the address, or from the user's netrc file."""

from __future__ import annotations

import base64
import netrc
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage
from pathlib import Path
from typing import IO
from urllib.parse import SplitResult, unquote, urljoin, urlsplit


def authorization(parts: SplitResult, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the credentials for an address, and none where none are known."""
    credentials = _credentials(parts, environment)
    if not credentials:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}"}


class Onward(urllib.request.HTTPRedirectHandler):
    """Goes on to where a host points, and tells credentials only to the host that they are for."""

    def __init__(self, asked: SplitResult, environment: Mapping[str, str]) -> None:
        self._asked = asked
        self._environment = environment

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """Return the request that follows; the host that was asked first is told again what it was told."""
        onward = super().redirect_request(req, fp, code, msg, headers, newurl)
        if onward is not None:
            there = urlsplit(newurl)
            known = self._asked if _origin(there) == _origin(self._asked) else there
            for name, value in authorization(known, self._environment).items():
                onward.add_unredirected_header(name, value)
        return onward


def followed(asked: str, location: str) -> str:
    """Return the address that a host points to from another; one of the same host is told again who asks.

    >>> followed("https://ann:pw@own.example/simple", "https://own.example/simple/")
    'https://ann:pw@own.example/simple/'
    >>> followed("https://ann:pw@own.example/simple", "https://b.example/simple/")
    'https://b.example/simple/'
    """
    there, here = urlsplit(urljoin(asked, location)), urlsplit(asked)
    return (there._replace(netloc=here.netloc) if _origin(there) == _origin(here) else there).geturl()


def from_netrc(parts: SplitResult, environment: Mapping[str, str]) -> str:
    """Return `user:password` of the netrc file for an address, and nothing where it knows another user alone."""
    place = Path(environment.get("NETRC") or Path.home() / ".netrc")
    try:
        found = netrc.netrc(place).authenticators(parts.hostname or "")
    except (OSError, ValueError, netrc.NetrcParseError):  # not there, no text, or no netrc
        return ""
    if not found or (parts.username and unquote(parts.username) != found[0]):
        return ""
    return f"{found[0]}:{found[2]}"


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port


def _credentials(parts: SplitResult, environment: Mapping[str, str]) -> str:
    if parts.username and parts.password is not None:
        return f"{unquote(parts.username)}:{unquote(parts.password)}"
    return from_netrc(parts, environment) or (f"{unquote(parts.username)}:" if parts.username else "")
