from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of a cell."""

    PASSED = "passed"
    WRONG = "wrong"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    UNAVAILABLE = "unavailable"
    NOT_OFFERED = "not-offered"
    BUILD_FAILED = "build-failed"
    GONE = "gone"
    SKIPPED = "skipped"
    XFAIL = "xfail"
    XPASS = "xpass"


NEUTRAL = frozenset({Outcome.UNAVAILABLE, Outcome.NOT_OFFERED, Outcome.SKIPPED})
"""Outcomes that never fail a matrix: the host, not the version set, decided them."""

NEVER_OBSERVED = frozenset({Outcome.XFAIL, Outcome.XPASS})
"""What an expectation turns an outcome into; so it cannot be expected itself."""


class Phase(StrEnum):
    """The step in which a cell stopped."""

    INTERPRETER = "interpreter"
    RESOLVE = "resolve"
    DOWNLOAD = "download"
    BUILD = "build"
    INSTALL = "install"
    VERIFY = "verify"
    IMPORT = "import"
    BACKEND = "backend"
    RUN = "run"
    CHECK = "check"
