"""Processes that are none, for experiments that start none; they keep the promises of test_stoppable.py."""

import threading

import pytest


class StandIn:
    """Runs nothing: a request lasts until it is stopped, or not at all if its argv is empty."""

    def __init__(self):
        self.stopped = threading.Event()
        self.parts = []

    def apart(self):
        part = StandIn()
        self.parts.append(part)
        if self.stopped.is_set():
            part.stop_all()
        return part

    def run(self, request):
        if request.argv[-1:] != ("at once",):
            request.argv[-1].touch()
            self.stopped.wait(30)
        if self.stopped.is_set():
            raise KeyboardInterrupt

    def stop_all(self):
        self.stopped.set()
        for part in self.parts:
            part.stop_all()


@pytest.fixture(scope="session")
def stand_in():
    return StandIn
