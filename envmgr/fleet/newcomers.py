"""Hosts that join a fleet while work is done on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from envmgr.fleet.failures import Failures


class Newcomers:
    """Has every host that joins welcomed, once, in a thread of its own: the work on the others goes on meanwhile.

    `welcome` is called with the host's name and what it announces, and returns further jobs; without it nobody is.
    """

    def __init__(self, welcome: Callable[[str, str], Iterable[Any]] | None = None, known: Iterable[str] = ()) -> None:
        self._welcome = welcome
        self._known = set(known)
        self._turn = threading.Lock()
        self._asked = 0
        self._jobs: list[Any] = []
        self._failures = Failures()

    @property
    def busy(self) -> bool:
        """True while a host is being welcomed or has brought jobs that nobody has taken yet."""
        with self._turn:
            return bool(self._asked or self._jobs)

    def see(self, host: str, announced: str) -> None:
        """Take note that a host is there."""
        if self._welcome is not None and host not in self._known:
            self._known.add(host)
            with self._turn:
                self._asked += 1
            threading.Thread(target=self._ask, args=(self._welcome, host, announced), daemon=True).start()

    def jobs(self) -> list[Any]:
        """Return, once, the jobs that hosts have brought."""
        with self._turn:
            found, self._jobs = self._jobs, []
        return found

    def surface(self) -> None:
        """Raise what went wrong while hosts were welcomed."""
        self._failures.surface()

    def _ask(self, welcome: Callable[[str, str], Iterable[Any]], host: str, announced: str) -> None:
        brought: list[Any] = []
        try:
            brought = list(welcome(host, announced))
        except Exception as error:  # noqa: BLE001 - it is raised when the other work is done
            self._failures.add(error)
        finally:
            with self._turn:
                self._asked -= 1
                self._jobs += brought
