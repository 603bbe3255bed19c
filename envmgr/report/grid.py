"""Tables and paragraphs of many thousand lines, laid out in a fraction of a second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from envmgr.report.look import Look

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
_GAP = 2
_NARROWEST = 8
_MARKS = "-@/_,"


class Words(NamedTuple):
    """A text and the style that it is shown in (names of `_CODES`, separated by blanks)."""

    text: str
    style: str = ""


class Column(NamedTuple):
    """The head of a column; `right` sets it to the right, `fold` lets it wrap where the width asks for it."""

    head: str
    right: bool = False
    fold: bool = False


def grid(columns: Sequence[Column], rows: Sequence[Sequence[Words]], look: Look) -> str:
    """Return a table, every line ended; folding columns share what the width leaves to them."""
    widths = _fitted(columns, _widths(columns, rows), look)
    gap = "  " if look.unicode else " |"
    lines = _lines([Words(column.head, "bold") for column in columns], columns, widths, look)
    rule = "─" * (sum(widths) + _GAP * (len(widths) - 1)) if look.unicode else " +".join("-" * each for each in widths)
    lines.append(rule if look.unicode else rule.replace(" +", "-+"))
    for row in rows:
        lines += _lines(row, columns, widths, look, gap)
    return "".join(f"{line}\n" for line in lines)


def paragraph(parts: Iterable[Words], look: Look, indent: int = 0) -> str:
    """Return texts one after the other, wrapped at blanks, every line indented; a line break in a text is kept."""
    margin, lines = " " * indent, [""]
    room = look.width - indent
    used = 0
    for text, style in parts:
        for number, line in enumerate(text.split("\n")):
            if number:
                lines.append("")
                used = 0
            pieces = wrapped(line, room, used)
            for place, piece in enumerate(pieces):
                if place:
                    lines.append("")
                    used = 0
                lines[-1] += painted(piece, style, look)
                used += width_of(piece)
    return "".join(f"{margin}{line}".rstrip() + "\n" for line in lines)


def painted(text: str, style: str, look: Look) -> str:
    """Return a text in its style, where colours are welcome."""
    if not style or not look.color or not text:
        return text
    codes = ";".join(_CODES[name] for name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def wrapped(text: str, width: int, used: int = 0) -> list[str]:
    """Return a text as lines of at most `width` columns, broken at blanks, else anywhere.

    The first line has `used` columns less.
    """
    if width_of(text) <= width - used:
        return [text]
    lead = text[: len(text) - len(text.lstrip(" "))] if used else ""
    lines, line, room = [], lead[: width - used], width - used
    for word in text[len(lead) :].split(" "):
        candidate = f"{line} {word}" if line.strip() else line + word
        if width_of(candidate) <= room:
            line = candidate
            continue
        if line or used:
            lines.append(line)
            used = 0
        pieces = _chopped(word, width) if width_of(word) > width else [word]
        lines += pieces[:-1]
        line, room = pieces[-1], width
    return [*lines, line]


def _chopped(word: str, width: int) -> list[str]:
    """Return a word in pieces of at most `width` columns, broken behind a mark where there is one late enough."""
    pieces = []
    while width_of(word) > width:
        piece = chop_cells(word, width)[0]
        mark = max(piece.rfind(sign) for sign in _MARKS) + 1
        cut = mark if 2 * mark > len(piece) else len(piece)
        pieces.append(word[:cut])
        word = word[cut:]
    return [*pieces, word]


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Words]]) -> list[int]:
    widths = [width_of(column.head) for column in columns]
    for place in range(len(columns)):
        widest = max({row[place].text for row in rows}, key=width_of, default="")
        widths[place] = max(widths[place], width_of(widest))
    return widths


def _fitted(columns: Sequence[Column], widths: list[int], look: Look) -> list[int]:
    """Return widths that fit the line: the widest folding column gives way first."""
    excess = sum(widths) + _GAP * (len(widths) - 1) - look.width
    folding = [place for place, column in enumerate(columns) if column.fold]
    while excess > 0 and not look.wide and folding:
        widest = max(folding, key=lambda place: widths[place])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _lines(
    row: Sequence[Words], columns: Sequence[Column], widths: Sequence[int], look: Look, gap: str | None = None
) -> list[str]:
    separator = gap or ("  " if look.unicode else " |")
    cut = [
        wrapped(words.text, width) if column.fold else [words.text]
        for words, width, column in zip(row, widths, columns, strict=True)
    ]
    height = max(map(len, cut))
    lines = []
    for level in range(height):
        shown = []
        for words, pieces, width, column in zip(row, cut, widths, columns, strict=True):
            piece = pieces[level] if level < len(pieces) else ""
            blank = " " * (width - width_of(piece))
            text = painted(piece, words.style, look)
            shown.append(blank + text if column.right else text + blank)
        lines.append(separator.join(shown).rstrip())
    return lines
