"""Asks the caller's index what releases there are, only for distributions that a diagnosis is about."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from packaging.utils import canonicalize_name

from envmgr.diagnose.releases import Release, parse_page
from envmgr.ports import Process, ProcessRequest, Web

_ACCEPT = "application/vnd.pypi.simple.v1+json"


class Releases:
    """The releases of distributions, each asked for once; none for one that the index does not have."""

    def __init__(self, web: Web, index_url: str) -> None:
        self._web = web
        self._url = index_url.rstrip("/")
        self._known: dict[str, tuple[Release, ...]] = {}
        self._guard = threading.Lock()

    def __call__(self, name: str) -> tuple[Release, ...]:
        """Return the releases of one distribution, oldest first."""
        key = canonicalize_name(name)
        with self._guard:
            if key in self._known:
                return self._known[key]
        releases = parse_page(self._page(key))
        with self._guard:
            return self._known.setdefault(key, releases)

    def _page(self, key: str) -> str:
        return (self._web.get(f"{self._url}/{quote(key)}/", _ACCEPT) or "") if self._url else ""

    def prefetch(self, names: Iterable[str]) -> None:
        """Ask for several in a row."""
        for name in names:
            self(name)


def default_index(uv: Path, process: Process, environment: Mapping[str, str]) -> str:
    """Return the address of the index that installs come from here: pip's variable, else what uv says it would use."""
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if environment.get(name):
            return environment[name]
    quiet = {name: value for name, value in environment.items() if name not in {"UV_OFFLINE", "UV_NO_INDEX"}}
    argv = (str(uv), "pip", "compile", "--emit-index-url", "--no-header", "-")
    completed = process.run(ProcessRequest(argv, env=quiet, stdin="", timeout=30))
    match = re.search(r"--(?:default-)?index-url (\S+)", completed.stdout)
    return match[1] if match else ""
