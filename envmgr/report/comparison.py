"""Comparisons as text and as Markdown."""

from __future__ import annotations

from collections import Counter

from rich.console import RenderableType
from rich.text import Text

from envmgr.model.comparison import Comparison, Comparisons, Verdict
from envmgr.report.look import Look
from envmgr.report.markdown import escaped, table
from envmgr.report.rich_text import new_table, render
from envmgr.report.text import clean

_SIGNS = {
    Verdict.FASTER: ("▲", "+"),
    Verdict.SLOWER: ("▼", "-"),
    Verdict.SAME: ("=", "="),
    Verdict.CANNOT_TELL: ("?", "?"),
}
_STYLES = {Verdict.FASTER: "green", Verdict.SLOWER: "bold red", Verdict.SAME: "", Verdict.CANNOT_TELL: "yellow"}
_HEADS = ("cell", "verdict", "time", "interval", "shows", "why")
_LEGEND = (
    "time: how many times as long the second takes, with its interval (at the level that allows for all comparisons); "
    "shows: the smallest change that this data would have shown"
)


def text(compared: Comparisons, look: Look) -> str:
    """Return comparisons as text: a line a pair, and one sentence that sums up."""
    parts: list[RenderableType] = [Text(clean(f"{compared.second}\nagainst {compared.first}"), style="bold"), Text("")]
    grid = new_table(_HEADS, look, folding=(0, 5), right=(2, 3, 4))
    for pair in compared.pairs:
        sign = _SIGNS[pair.verdict][0 if look.unicode else 1]
        verdict = Text(f"{sign} {pair.verdict.value}", style=_STYLES[pair.verdict])
        grid.add_row(clean(pair.name), verdict, *_figures(pair), clean(_why(pair)))
    parts += [grid, Text(f"\n{_LEGEND}", style="dim")]
    parts += [Text(clean(note)) for note in (*_missing(compared), *compared.notes)]
    parts += [Text(""), Text(headline(compared), style="bold")]
    return render(parts, look)


def markdown(compared: Comparisons) -> str:
    """Return comparisons as Markdown."""
    rows = [
        (pair.name, f"{_SIGNS[pair.verdict][0]} {pair.verdict.value}", *_figures(pair), _why(pair))
        for pair in compared.pairs
    ]
    head = [f"### {escaped(compared.second)} against {escaped(compared.first)}", "", f"{headline(compared)}", ""]
    notes = [f"- {escaped(note)}" for note in (*_missing(compared), *compared.notes)]
    return "\n".join([*head, *table(_HEADS, set(_HEADS[2:5]), rows), "", _LEGEND, *notes]) + "\n"


def headline(compared: Comparisons) -> str:
    """Return in one sentence what came of the comparisons."""
    counted = Counter(pair.verdict for pair in compared.pairs)
    told = ", ".join(f"{counted[verdict]} {verdict.value}" for verdict in Verdict if counted[verdict])
    regressed = sum(pair.regressed for pair in compared.pairs)
    return f"{told or 'nothing compared'}" + (f"; {regressed} no longer good" if regressed else "")


def _figures(pair: Comparison) -> tuple[str, str, str]:
    if pair.ratio is None or pair.low is None or pair.high is None or pair.smallest_change is None:
        return "", "", ""
    change = 100 * pair.smallest_change
    shown = f"{change:.2g} %" if change < 100 else "no"  # noqa: PLR2004 - less than a doubling would not show
    return f"{pair.ratio:.3f}x", f"{pair.low:.3g} - {pair.high:.3g}", shown


def _why(pair: Comparison) -> str:
    """Return why there is no clear verdict, or with what care it is to be taken."""
    parts = []
    if pair.regressed:
        parts.append(f"was {pair.first_outcome.value}, is {pair.second_outcome.value}")
    elif pair.ratio is None:
        parts.append(pair.reason)
    parts += pair.marks
    return "; ".join(parts)


def _missing(compared: Comparisons) -> list[str]:
    return [
        f"only in {where}: {', '.join(names)}"
        for where, names in ((compared.first, compared.only_first), (compared.second, compared.only_second))
        if names
    ]
