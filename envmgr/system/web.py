from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit


class RealWeb:
    """Reads pages: through the proxies and with the certificates that the environment names."""

    def __init__(self, environment: Mapping[str, str], timeout: float = 20.0) -> None:
        self._timeout = timeout
        bundle = next((environment[name] for name in ("SSL_CERT_FILE", "PIP_CERT") if environment.get(name)), None)
        self._context = _context(bundle)

    def get(self, url: str, accept: str = "*/*") -> str | None:
        """Return a page's text, or None when there is none to be had for whatever reason."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            place = Path(unquote(parts.path))
            place = place / "index.html" if place.is_dir() else place
            return place.read_text(errors="replace") if place.is_file() else None
        if parts.scheme not in {"http", "https"}:
            return None
        request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310 - http and https alone
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=self._context) as answer:  # noqa: S310
                body: bytes = answer.read()
                return body.decode("utf-8", "replace")
        except (urllib.error.URLError, OSError, ValueError):
            return None


def _context(bundle: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=bundle)
    except OSError:
        return ssl.create_default_context()
