from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from envmgr.system.credentials import Onward, authorization, followed

_HOPS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})


class RealWeb:
    """Reads pages, with the certificates that the environment names, through its proxies if it names any.

    One connection a host is kept open: looking up a name and shaking hands for each page costs more than the pages.
    `complete` adds to an address what is known of who asks there.
    """

    def __init__(
        self, environment: Mapping[str, str], timeout: float = 20.0, complete: Callable[[str], str] = str
    ) -> None:
        self._timeout = timeout
        self._complete = complete
        self._environment = environment
        bundle = next((environment[name] for name in ("SSL_CERT_FILE", "PIP_CERT") if environment.get(name)), None)
        self._context = _context(bundle)
        self._proxied = any(environment.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
        self._open: dict[str, http.client.HTTPConnection] = {}
        self._guard = threading.Lock()

    def get(self, url: str, accept: str = "*/*") -> str | None:
        """Return a page's text, or None when there is none to be had for whatever reason."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            place = Path(unquote(parts.path))
            place = place / "index.html" if place.is_dir() else place
            return place.read_text(errors="replace") if place.is_file() else None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        url = self._complete(url)
        body = self._through_proxy(url, accept) if self._proxied else self._follow(url, accept)
        return None if body is None else body.decode("utf-8", "replace")

    def _follow(self, url: str, accept: str) -> bytes | None:
        with self._guard:
            for _ in range(_HOPS):
                status, body, onward = self._ask(urlsplit(url), accept)
                if status not in _MOVED or not onward:
                    return body if status == http.HTTPStatus.OK else None
                url = followed(url, onward)
        return None

    def _ask(self, parts: SplitResult, accept: str) -> tuple[int, bytes, str]:
        """Ask once, and once more on a new connection where the kept one has been closed meanwhile."""
        host = f"{parts.scheme}://{parts.netloc}"
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        for _ in range(2):
            connection = self._open.get(host) or self._connect(parts)
            try:
                connection.request("GET", path, headers={"Accept": accept, **authorization(parts, self._environment)})
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                self._open.pop(host, None)
                with contextlib.suppress(OSError):
                    connection.close()
                continue
            self._open[host] = connection
            return answer.status, body, answer.headers.get("Location", "")
        return 0, b"", ""

    def _connect(self, parts: SplitResult) -> http.client.HTTPConnection:
        host = str(parts.hostname)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(host, parts.port, timeout=self._timeout)

    def _through_proxy(self, url: str, accept: str) -> bytes | None:
        parts = urlsplit(url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        request = urllib.request.Request(bare, headers={"Accept": accept})  # noqa: S310 - http and https alone
        for name, value in authorization(parts, self._environment).items():
            request.add_unredirected_header(name, value)
        opener = urllib.request.build_opener(
            Onward(parts, self._environment), urllib.request.HTTPSHandler(context=self._context)
        )
        try:
            with opener.open(request, timeout=self._timeout) as answer:
                body: bytes = answer.read()
                return body
        except (urllib.error.URLError, OSError, ValueError, http.client.HTTPException):
            return None


def _context(bundle: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=bundle)
    except OSError:
        return ssl.create_default_context()
