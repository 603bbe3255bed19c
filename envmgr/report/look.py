"""How a terminal wants to be written to, and the sign of each outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envmgr.model.outcome import Outcome

_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Look:
    """Width in columns, whether colours and signs beyond ASCII are welcome, and whether everything is asked for."""

    width: int = 80
    color: bool = False
    unicode: bool = True
    wide: bool = False


def look_for(variables: Mapping[str, str], *, terminal: bool, encoding: str, columns: int, wide: bool = False) -> Look:
    """Return the look for an output stream: `NO_COLOR` and `TERM=dumb` forbid colours, `FORCE_COLOR` asks for them.

    In continuous integration (`CI`) a terminal is nobody's: colours are to be asked for.
    """
    forced = bool(variables.get("FORCE_COLOR"))
    terminal = terminal and not variables.get("CI")
    forbidden = bool(variables.get("NO_COLOR")) or variables.get("TERM") == "dumb"
    return Look(
        width=max(columns, _NARROWEST),
        color=(terminal or forced) and not forbidden,
        unicode=encoding.lower().replace("-", "").startswith("utf"),
        wide=wide,
    )


_SIGNS = {
    Outcome.PASSED: ("✓", "+"),
    Outcome.WRONG: ("≠", "#"),
    Outcome.FAILED: ("✗", "x"),
    Outcome.CRASHED: ("✗", "x"),
    Outcome.TIMEOUT: ("✗", "x"),
    Outcome.OUT_OF_MEMORY: ("✗", "x"),
    Outcome.UNAVAILABLE: ("·", "-"),
    Outcome.NOT_OFFERED: ("·", "-"),
    Outcome.BUILD_FAILED: ("✗", "x"),
    Outcome.GONE: ("✗", "x"),
    Outcome.SKIPPED: ("·", "-"),
    Outcome.XFAIL: ("~", "~"),
    Outcome.XPASS: ("!", "!"),
}


def signed(outcome: Outcome, *, unicode: bool = True) -> str:
    """Return an outcome with its sign, so that it can be told without colour."""
    return f"{_SIGNS[outcome][0 if unicode else 1]} {outcome.value}"
