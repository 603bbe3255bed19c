"""How shells ask what can follow, and how they want it told: as what `--install-completion` gives them does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from envmgr.cli.completing import Offer, offers

_BREAKS = frozenset("@=:")
"""What parts words for bash, as it is set up, and for nobody else; an `@` belongs to the part that it begins."""
_SPECIAL = re.compile(r"([\s\\'\"`$&|;<>()\[\]{}*?!])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


class Line(NamedTuple):
    """A line that is being typed: its words, the last being typed, which in the shell's eyes begins `part` later."""

    words: tuple[str, ...]
    incomplete: str
    part: str = ""
    quoted: bool = False


def answer(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return what to print for a shell, and the exit code; None if it asks for something else."""
    reading = _READERS.get(environment.get("_ENVMGR_COMPLETE", ""))
    if reading is None:
        return None
    read, told = reading
    line = read(environment)
    found = [each for each in offers(line.words, line.incomplete) if not _UNPRINTABLE.search(each.word)]
    if environment.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if found else 1
    return told(line, found), 0


def _of_bash(environment: Mapping[str, str]) -> Line:
    """Read bash's words, one a line, put together again where it takes them apart."""
    text, number = environment.get("COMP_WORDS", ""), int(environment.get("COMP_CWORD", "0"))
    pieces = text.split("\n") if "\n" in text else text.split(" ")
    pieces = pieces[: number + 1]
    words: list[str] = []
    joins, part = False, ""
    for piece in pieces:
        is_break = bool(piece) and set(piece) <= _BREAKS
        if words and (is_break or joins):
            if is_break:
                part = words[-1] + piece.removesuffix("@")
            words[-1] += piece
        else:
            words.append(piece)
            part = ""
        joins = is_break
    last = words.pop() if len(pieces) > number and words else ""
    said = tuple(_bare(word) for word in words if word)
    return Line(_own(said), _bare(last), _bare(part), last[:1] in {"'", '"'})


def _told_to_bash(line: Line, found: Sequence[Offer]) -> str:
    words = [each.word.removeprefix(line.part) for each in found]
    return "\n".join(words if line.quoted else [_SPECIAL.sub(r"\\\1", word) for word in words])


def _of_text(environment: Mapping[str, str]) -> Line:
    """Read the line as zsh and fish tell it: up to where one types."""
    text = environment.get("_TYPER_COMPLETE_ARGS", "")
    words = _split(text)
    last = "" if not words or text[-1:].isspace() else words.pop()
    return Line(_own(words), last)


def _of_powershell(environment: Mapping[str, str]) -> Line:
    words = _split(environment.get("_TYPER_COMPLETE_ARGS", ""))
    incomplete = environment.get("_TYPER_COMPLETE_WORD_TO_COMPLETE", "")
    return Line(_own(words[:-1] if incomplete else words), incomplete)


def _told_to_zsh(_line: Line, found: Sequence[Offer]) -> str:
    """Return code that zsh evaluates: nothing in a name can be taken for code."""
    if not found:
        return "_files"
    if not any(each.about for each in found):
        return "compadd -- " + " ".join(shlex.quote(each.word) for each in found)
    rows = (
        each.word.replace("\\", r"\\").replace(":", r"\:") + (f":{each.about}" if each.about else "") for each in found
    )
    return f"local -a offered; offered=({' '.join(map(shlex.quote, rows))}); _describe -V word offered"


def _told_to_fish(_line: Line, found: Sequence[Offer]) -> str:
    return "\n".join(f"{each.word}\t{each.about}" if each.about else each.word for each in found)


def _told_to_powershell(_line: Line, found: Sequence[Offer]) -> str:
    return "\n".join(f"{each.word}:::{each.about or ' '}" for each in found)


def _own(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words after the program's name, without options that stand anywhere."""
    return tuple(word for word in words[1:] if word not in {"--timings", "--quiet"})


def _split(text: str) -> list[str]:
    """Return the words of a line; a quote that is open still is closed."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:
        words.append(lexer.token or "")
    return words


def _bare(word: str) -> str:
    """Return a word without the quotes and backslashes that the shell would take away."""
    return "".join(_split(word)) if set(word) & set("\\'\"") else word


_READERS: dict[str, tuple[Callable[[Mapping[str, str]], Line], Callable[[Line, Sequence[Offer]], str]]] = {
    "complete_bash": (_of_bash, _told_to_bash),
    "complete_zsh": (_of_text, _told_to_zsh),
    "complete_fish": (_of_text, _told_to_fish),
    "complete_powershell": (_of_powershell, _told_to_powershell),
    "complete_pwsh": (_of_powershell, _told_to_powershell),
}
