"""Fixtures that every test may use, and the rule that unmarked tests start no process and open no connection."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

# Examples take as long as a busy machine makes them take.
settings.register_profile("envmgr", deadline=None)
settings.load_profile("envmgr")

# A background job of a shell starts with SIGINT ignored, under nohup SIGHUP; what the tests start must not inherit that.
for name, handler in (("SIGINT", signal.default_int_handler), ("SIGTERM", signal.SIG_DFL), ("SIGHUP", signal.SIG_DFL)):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# Who looks on (a CI service, a terminal of some width, one who wants colours) must not decide what the tests find.
ONLOOKER = ("CI", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR", "CLICOLOR_FORCE")
for name in [each for each in os.environ if each in ONLOOKER or each.startswith(("GITHUB_", "BUILD_", "TYPER_"))]:
    del os.environ[name]

REAL = {"integration", "network", "system", "robustness"}
LONG_FIRST = ("e2e", "robustness", "integration")
"""The folders whose files take longest; begun last, one of them would go on alone while the other processors idle."""


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest."""
    order = {Path(__file__).parent / name: place for place, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: next((order[each] for each in item.path.parents if each in order), len(order)))


@pytest.fixture(autouse=True)
def forbid_effects(request, monkeypatch):
    """Make unmarked tests fail loudly when they would start a process or open a connection."""
    if any(request.node.get_closest_marker(name) for name in REAL):
        return

    def refuse(*arguments, **options):
        pytest.fail(f"a unit test must not reach outside: {arguments[:1]}")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def own_places(request, monkeypatch, tmp_path_factory):
    """Keep the tester's own envmgr folders and settings out of every test."""
    for name in list(os.environ):
        if name.startswith(("ENVMGR_", "KERAS_", "PLAIDML_")):
            monkeypatch.delenv(name)
