"""Differences as text for people: what can matter first, then the rest."""

from __future__ import annotations

from collections.abc import Sequence

from envmgr.model.difference import Difference, Differences
from envmgr.report.look import Look
from envmgr.report.rich_text import new_table, render
from envmgr.report.text import clean

_REST = 60
_LONGEST = 60


def text(found: Differences, look: Look) -> str:
    """Return the whole answer, ready to be printed."""
    head = f"A  {clean(found.first)}\nB  {clean(found.second)}\n"
    if not found.differences:
        return f"{head}nothing differs in {', '.join(found.compared)}\n{_uncompared(found)}"
    telling = [each for each in found.differences if each.telling]
    rest = [each for each in found.differences if not each.telling]
    parts = [head]
    for title, some in (("what can matter first", telling), ("the rest", rest)):
        if some:
            parts += [f"\n{title} ({len(some)})\n", _table(some[:_REST], look)]
            parts += [f"and {len(some) - _REST} more (--json has all)\n"] if len(some) > _REST else []
    return "".join(parts) + _uncompared(found)


def _uncompared(found: Differences) -> str:
    return "".join(f"not compared: {clean(each)} tells it\n" for each in found.not_compared)


def _table(differences: Sequence[Difference], look: Look) -> str:
    scoped = any(each.scope for each in differences)
    heads = ("what", "name", "A", "B", *(("in",) if scoped else ()), "why")
    table = new_table(heads, look, folding=tuple(range(1, len(heads))))
    for each in differences:
        scope = (clean(each.scope),) if scoped else ()
        table.add_row(each.kind, clean(each.name), _value(each.first), _value(each.second), *scope, clean(each.why))
    return render([table], look)


def _value(value: str) -> str:
    shown = clean(value)
    return "-" if not shown else (shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}...")
