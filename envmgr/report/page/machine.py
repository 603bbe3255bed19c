"""What the machine was like while a cell was measured, in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envmgr.model.conditions import Conditions
from envmgr.model.result import CellResult


def machine_of(results: Sequence[CellResult]) -> str:
    """Return load, frequency, other programs and free memory over all processes of a cell, as far as the host tells."""
    told = [result.conditions for result in results if result.conditions]
    if not told:
        return ""
    others = _values(told, lambda each: (each.others,))
    free = _values(told, lambda each: (each.available,))
    parts = (
        _between("load", _values(told, lambda each: (each.load_before, each.load_after)), ".2f"),
        f"others kept up to {max(others):.2f} of {told[0].cores} cores busy" if others else "",
        _between("frequency", _values(told, lambda each: (each.frequency,)), ".0f", " MHz"),
        f"at least {100 * min(free):.0f} % of the memory free" if free else "",
    )
    return "; ".join(part for part in parts if part)


def _values(told: Sequence[Conditions], of: Callable[[Conditions], tuple[float | None, ...]]) -> list[float]:
    return [value for each in told for value in of(each) if value is not None]


def _between(name: str, values: Sequence[float], shape: str, unit: str = "") -> str:
    if not values:
        return ""
    low, high = (format(value, shape) for value in (min(values), max(values)))
    return f"{name} {low}{unit}" if low == high else f"{name} {low} to {high}{unit}"
