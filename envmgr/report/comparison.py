"""Comparisons as text and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from envmgr.model.comparison import Comparison, Comparisons, Verdict
from envmgr.model.summary import Mark
from envmgr.report.doubts import MarkNote, disturbed, letters
from envmgr.report.grid import Column, Words, grid, paragraph
from envmgr.report.look import Look
from envmgr.report.markdown import escaped, table
from envmgr.report.terminal import doubts, named
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
_COLUMNS = tuple(Column(head, right=head in _HEADS[2:], fold=head == _HEADS[0]) for head in _HEADS)


def text(compared: Comparisons, look: Look) -> str:
    """Return comparisons as text: a line a pair, what its letters and numbers mean, and one sentence that sums up."""
    reasons = _reasons(compared)
    rows = [
        [Words(clean(pair.name)), _verdict(pair, look), *map(Words, _figures(pair)), Words(_reference(pair, reasons))]
        for pair in compared.pairs
    ]
    parts = [
        paragraph([Words(clean(f"{compared.second}\nagainst {compared.first}"), "bold")], look),
        "\n",
        grid(_COLUMNS, rows, look),
        paragraph([Words(f"\n{_LEGEND}", "dim")], look),
        *_notes(reasons, look),
        *doubts("Measured under", _marks(compared), look),
    ]
    told = (*_missing(compared), *compared.notes)
    parts += [paragraph([Words(f"\n{clean(note)}")], look) for note in told]
    parts.append("\n" + paragraph([Words(headline(compared), "bold")], look))
    made = "".join(parts)
    return made if look.unicode else made.encode("ascii", "backslashreplace").decode("ascii")


def markdown(compared: Comparisons) -> str:
    """Return comparisons as Markdown."""
    reasons = _reasons(compared)
    rows = [
        (
            pair.name,
            f"{_SIGNS[pair.verdict][0]} {pair.verdict.value}",
            *_figures(pair),
            " ".join(part for part in (letters(pair.marks), _number(pair, reasons, "{}.")) if part),
        )
        for pair in compared.pairs
    ]
    lines = [f"### {escaped(compared.second)} against {escaped(compared.first)}", "", headline(compared), ""]
    lines += [*table(_HEADS, set(_HEADS[2:]), rows), "", _LEGEND]
    lines += ["", *(f"{number}. {escaped(why)}" for number, why in enumerate(reasons, start=1))] if reasons else []
    lines += ["", *(f"- `{mark.letter}` {escaped(mark.text)}" for mark in _marks(compared))]
    lines += [f"- {escaped(note)}" for note in (*_missing(compared), *compared.notes)]
    return "\n".join(lines).rstrip() + "\n"


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


def _verdict(pair: Comparison, look: Look) -> Words:
    sign = _SIGNS[pair.verdict][0 if look.unicode else 1]
    return Words(f"{sign} {pair.verdict.value}", _STYLES[pair.verdict])


def _why(pair: Comparison) -> str:
    """Return why there is no verdict at all, or that what was good is no longer so."""
    if pair.regressed:
        return f"it was {pair.first_outcome.value} and is {pair.second_outcome.value}"
    return pair.reason if pair.ratio is None else ""


def _reasons(compared: Comparisons) -> dict[str, list[str]]:
    """Return each reason once, with the pairs that it holds for, in the order in which the table refers to them."""
    told: dict[str, list[str]] = {}
    for pair in compared.pairs:
        if why := _why(pair):
            told.setdefault(why, []).append(pair.name)
    return told


def _number(pair: Comparison, reasons: Mapping[str, Sequence[str]], shape: str) -> str:
    why = _why(pair)
    return shape.format(list(reasons).index(why) + 1) if why else ""


def _reference(pair: Comparison, reasons: Mapping[str, Sequence[str]]) -> str:
    """Return where the reader finds more: the letters of what disturbed, the number of the reason."""
    return " ".join(part for part in (letters(pair.marks), _number(pair, reasons, "[{}]")) if part)


def _notes(reasons: Mapping[str, Sequence[str]], look: Look) -> list[str]:
    if not reasons:
        return []
    return [
        paragraph([Words("\nWhy", "bold")], look),
        *(
            paragraph([Words(f"[{number}] ", "bold"), Words(f"{clean(why)}\n"), named(names)], look, indent=2)
            for number, (why, names) in enumerate(reasons.items(), start=1)
        ),
    ]


def _marks(compared: Comparisons) -> tuple[MarkNote, ...]:
    """Return what disturbed the pairs; of two marks of one kind in a pair, the one with more processes under it."""
    return disturbed(
        (pair.name, tuple({mark.kind: mark for mark in sorted(pair.marks, key=_weight)}.values()))
        for pair in compared.pairs
    )


def _weight(mark: Mark) -> int:
    return mark.processes


def _missing(compared: Comparisons) -> list[str]:
    return [
        f"only in {where}: {', '.join(names)}"
        for where, names in ((compared.first, compared.only_first), (compared.second, compared.only_second))
        if names
    ]
