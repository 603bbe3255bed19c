"""Something that is done while something else is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Outcome = TypeVar("Outcome")


class Beside(Generic[Outcome]):
    """Calls a function in a thread of its own, beginning at once."""

    def __init__(self, function: Callable[[], Outcome]) -> None:
        self._returned: list[Outcome] = []
        self._raised: list[BaseException] = []
        self._thread = threading.Thread(target=self._work, args=(function,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the function, however it ends."""
        self._thread.join()

    def outcome(self) -> Outcome:
        """Wait for what the function returns, or raise what it raises."""
        self.wait()
        for error in self._raised:
            raise error
        return self._returned[0]

    def _work(self, function: Callable[[], Outcome]) -> None:
        try:
            self._returned.append(function())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            self._raised.append(error)
