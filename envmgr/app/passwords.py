"""Passwords that the program `keyring` keeps: asked for where uv or pip is told to, as they ask, for a user alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from urllib.parse import SplitResult, quote, unquote, urlsplit

from envmgr.app.hosting import true_settings
from envmgr.app.place import HostPlace
from envmgr.model.host import InstallerSettings
from envmgr.ports import Process, ProcessRequest, Web
from envmgr.system.credentials import from_netrc
from envmgr.system.web import RealWeb

_PATIENCE = 300.0
"""Seconds for who is asked to unlock what keeps the passwords."""


class Passwords:
    """Completes addresses that name a user and no password; each user of a host is asked for once.

    `settings` are read when the first of them comes. A netrc file that knows the user goes before.
    """

    def __init__(self, place: HostPlace, settings: Callable[[], InstallerSettings] | None = None) -> None:
        self._process: Process = place.process
        self._environment = place.caller.environment
        self._settings = settings or (lambda: true_settings(place))
        self._known: dict[tuple[str, str, str], str | None] = {}
        self._guard = threading.Lock()

    def completed(self, address: str) -> str:
        """Return an address with the password of the user that it names, or as it is where none is known."""
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.username or parts.password is not None:
            return address
        if from_netrc(parts, self._environment):
            return address
        user, host = unquote(parts.username), _host(parts)
        with self._guard:
            key = parts.scheme, host.lower(), user
            if key not in self._known:
                self._known[key] = self._ask(parts, user)
            password = self._known[key]
        if password is None:
            return address
        return parts._replace(netloc=f"{parts.username}:{quote(password, safe='')}@{host}").geturl()

    def _ask(self, parts: SplitResult, user: str) -> str | None:
        settings = self._settings()
        for service in _services(parts, settings) if settings.keyring else ():
            done = self._process.run(ProcessRequest(("keyring", "get", service, user), timeout=_PATIENCE))
            password = done.stdout.rstrip("\r\n")
            if done.good and password:
                return password
        return None


def web_of(place: HostPlace) -> Web:
    """Return the door to pages, which tells indexes who asks as uv and pip would."""
    return RealWeb(place.caller.environment, complete=Passwords(place).completed)


def _services(parts: SplitResult, settings: InstallerSettings) -> Iterator[str]:
    """Yield the names under which a password can be kept: the index as it is configured, then its host."""
    host = _host(parts)
    for index in (settings.index_url or "", *settings.extra_index_urls, *settings.find_links):
        known = urlsplit(index)
        if (known.scheme, _host(known).lower(), known.username) == (parts.scheme, host.lower(), parts.username):
            yield known._replace(netloc=host).geturl()
            break
    else:
        yield parts._replace(netloc=host).geturl()
    yield host
    if parts.scheme != "https":
        yield f"{parts.scheme}://{host}"


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]
