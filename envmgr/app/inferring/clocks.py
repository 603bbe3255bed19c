"""The clocks of scripts, each with its day, and the days that are worth trying because of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from packaging.utils import canonicalize_name

from envmgr.app.experiments.standpoint import Place
from envmgr.app.inferring.offers import Offers
from envmgr.app.inferring.reading import Reading, clocks_of
from envmgr.diagnose.knowledge import python_released
from envmgr.infer.eras import TYPICAL, days_between
from envmgr.model.inference import Clock, ClockKind, ModuleOrigin

_SLACK = timedelta(days=30)
_FIRST_START = "2017-03-01"
"""No search begins earlier: before, few libraries had wheels for a Python that is still to be had."""

_ORDER: tuple[tuple[ClockKind, ...], ...] = (
    ("asked",), ("pin", "dockerfile", "model"), ("pickle",), ("version",), ("notebook",), ("date",), ("history",)
)  # fmt: skip
_OF_PYTHON: tuple[ClockKind, ...] = ("pin", "dockerfile", "notebook")
_TRUST = {kind: at for at, kinds in enumerate(_ORDER) for kind in kinds}


def read_clocks(
    reading: Reading, origins: Sequence[ModuleOrigin], offers: Offers, place: Place, asked: str
) -> tuple[Clock, ...]:
    """Return every clock, the most trusted first; one that names a version gets the day on which that came out.

    One of a Python beside the script, or of a notebook's kernel, gets the day until which that was the newest.
    """
    by_module = {origin.module.lower(): origin.distribution for origin in origins if origin.distribution}
    known = {*by_module, *by_module.values()}

    def dated(clock: Clock) -> Clock:
        if clock.python and clock.kind in _OF_PYTHON:
            return clock.model_copy(update={"day": python_released(_next(clock.python))})
        if clock.day or not clock.version:
            return clock
        name = by_module.get(clock.name.lower(), canonicalize_name(clock.name))
        return clock.model_copy(update={"name": name, "day": offers.uploaded(name, clock.version)})

    first = [Clock(kind="asked", where="--date", says=asked, day=asked)] if asked else []
    found = [dated(clock) for clock in (*first, *clocks_of(reading, known, place.files, place.process))]
    return tuple(dict.fromkeys(sorted(found, key=_distrust)))


def days_of(clocks: Sequence[Clock], today: date, asked: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the days to try and where to begin: at the most trusted clock, else with the newest of everything."""
    days = days_between("", today)
    if asked:
        return (asked,), (0,)
    trusted = next((clock for clock in clocks if clock.day), None)
    if trusted is None:
        return days, (len(days) - 1, days.index(TYPICAL))
    same = [clock.day for clock in clocks if clock.day and _distrust(clock) == _distrust(trusted)]
    latest = date.fromisoformat(max(same)) + _SLACK
    first = max(min(latest, today).isoformat(), _FIRST_START)
    ordered = (*sorted({*days[:-1], first}), "")
    return ordered, (ordered.index(first),)


def _distrust(clock: Clock) -> tuple[int, bool]:
    """Return the place of a clock's kind; a Python tells less than a version of a library does."""
    return _TRUST[clock.kind], bool(clock.python)


def _next(minor: str) -> str:
    major, _, number = minor.partition(".")
    return f"{major}.{int(number) + 1}"
