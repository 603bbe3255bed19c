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
    told = list(zip(*rows, strict=True)) or [()] * len(columns)
    widths = _fitted(columns, [_widest(*each) for each in zip(columns, told, strict=True)], look)
    separator = "  " if look.unicode else " |"
    heads = [
        _lines(Words(column.head, "bold"), column, width, look) for column, width in zip(columns, widths, strict=True)
    ]
    laid = [_laid(*each, look) for each in zip(columns, told, widths, strict=True)]
    lines = [line for pieces in zip(*laid, strict=True) for line in _joined(pieces, widths, separator)]
    rule = "─" * (sum(widths) + _GAP * (len(widths) - 1)) if look.unicode else "-+".join("-" * each for each in widths)
    return "".join(f"{line}\n" for line in (*_joined(heads, widths, separator), rule, *lines))


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


def _widest(column: Column, words: Sequence[Words]) -> int:
    return max(map(width_of, {column.head, *(text for text, _ in words)}))


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


def _laid(column: Column, words: Sequence[Words], width: int, look: Look) -> list[tuple[str, ...]]:
    """Return each text of a column in the lines that it takes, all of the column's width.

    Most columns have few different texts: each is laid out once.
    """
    known: dict[Words, tuple[str, ...]] = {}
    for each in words:
        if each not in known:
            known[each] = _lines(each, column, width, look)
    return [known[each] for each in words]


def _lines(words: Words, column: Column, width: int, look: Look) -> tuple[str, ...]:
    lines = []
    for piece in wrapped(words.text, width) if column.fold else [words.text]:
        blank = " " * (width - width_of(piece))
        text = painted(piece, words.style, look)
        lines.append(blank + text if column.right else text + blank)
    return tuple(lines)


def _joined(pieces: Sequence[tuple[str, ...]], widths: Sequence[int], separator: str) -> list[str]:
    """Return the lines of one row; where a text has fewer lines than another, blanks keep its place."""
    height = max(map(len, pieces))
    if height == 1:
        return [separator.join([line for (line,) in pieces]).rstrip()]
    filled = (each + (" " * width,) * (height - len(each)) for each, width in zip(pieces, widths, strict=True))
    return [separator.join(line).rstrip() for line in zip(*filled, strict=True)]
