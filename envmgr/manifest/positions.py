"""Finds where each key of a TOML text stands, which tomllib does not tell."""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from typing import NamedTuple, TypeAlias

Key: TypeAlias = tuple[str | int, ...]
"""The way to a value: `("index", 0, "url")` is the key `url` of the first `[[index]]`."""


class Position(NamedTuple):
    """A place in a text; both numbers count from 1."""

    line: int
    column: int


def positions(text: str) -> dict[Key, Position]:
    """Return the position of every table, key and list item of a text that tomllib accepts."""
    return _Scanner(text).scan()


def place(found: dict[Key, Position], key: Key) -> Position:
    """Return where the key stands, or the innermost table or list around it, the start of the text at last."""
    for length in range(len(key), 0, -1):
        if key[:length] in found:
            return found[key[:length]]
    return Position(1, 1)


class _Scanner:
    """Walks valid TOML once from start to end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]
        self._found: dict[Key, Position] = {}
        self._lengths: dict[Key, int] = {}

    def scan(self) -> dict[Key, Position]:
        table: Key = ()
        while self._skip():
            if self._peek("["):
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _peek(self, token: str) -> bool:
        return self._text.startswith(token, self._at)

    def _mark(self, key: Key, at: int | None = None) -> None:
        offset = self._at if at is None else at
        line = bisect_right(self._starts, offset)
        self._found.setdefault(key, Position(line, offset - self._starts[line - 1] + 1))

    def _skip(self) -> bool:
        """Go past spaces, line ends and comments; tell whether anything is left."""
        while self._at < len(self._text):
            if self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif self._text[self._at].isspace():
                self._at += 1
            else:
                return True
        return False

    def _header(self) -> Key:
        start = self._at
        brackets = 2 if self._peek("[[") else 1
        self._at += brackets
        names = self._names()
        self._skip()
        self._at += brackets
        key: Key = ()
        for number, name in enumerate(names, start=1):
            key = (*key, name)
            if brackets > 1 and number == len(names):
                self._lengths[key] = self._lengths.get(key, 0) + 1
            self._mark(key, start)
            if key in self._lengths:
                key = (*key, self._lengths[key] - 1)
                self._mark(key, start)
        return key

    def _names(self) -> list[str]:
        names = []
        while True:
            self._skip()
            names.append(self._name())
            self._skip()
            if not self._peek("."):
                return names
            self._at += 1

    def _name(self) -> str:
        start = self._at
        if self._text[start] in "\"'":
            self._string()
            return next(iter(tomllib.loads(f"{self._text[start : self._at]} = 0")))
        while self._text[self._at].isalnum() or self._text[self._at] in "_-":
            self._at += 1
        return self._text[start : self._at]

    def _pair(self, table: Key) -> None:
        start = self._at
        key = table
        for name in self._names():
            key = (*key, name)
            self._mark(key, start)
        self._at += 1
        self._skip()
        self._value(key)

    def _value(self, key: Key) -> None:
        opening = self._text[self._at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._list(key)
        elif opening == "{":
            self._inline(key)
        else:
            while self._at < len(self._text) and self._text[self._at] not in ",]}#\n":
                self._at += 1

    def _list(self, key: Key) -> None:
        self._at += 1
        number = 0
        while self._skip() and not self._peek("]"):
            self._mark((*key, number))
            self._value((*key, number))
            number += 1
            self._skip()
            if self._peek(","):
                self._at += 1
        self._at += 1

    def _inline(self, key: Key) -> None:
        self._at += 1
        while self._skip() and not self._peek("}"):
            self._pair(key)
            self._skip()
            if self._peek(","):
                self._at += 1
        self._at += 1

    def _string(self) -> None:
        quote = self._text[self._at]
        mark = quote * 3 if self._peek(quote * 3) else quote
        self._at += len(mark)
        while not self._peek(mark):
            self._at += 2 if quote == '"' and self._peek("\\") else 1
        self._at += len(mark)
        while len(mark) > 1 and self._peek(quote):
            self._at += 1
