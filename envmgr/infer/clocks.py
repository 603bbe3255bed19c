"""What tells the age of a script: words in its comments and strings, files beside it, its history."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator
from datetime import date

from envmgr.model.inference import Clock, ClockKind
from envmgr.model.syntax import parsed

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"\b(20[012]\d)[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])\b")
_MONTH_FIRST = re.compile(r"\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (?:\d\d:\d\d:\d\d )?(20[012]\d)\b")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)? ([A-Z][a-z]{2})[a-z]*\.?,? (20[012]\d)\b")
_COPYRIGHT = re.compile(r"(?:\(c\)|©|copyright)[^\n]{0,20}?\b(20[012]\d)\b", re.IGNORECASE)
_VERSION = re.compile(
    r"\b([A-Za-z][\w-]{1,30})[ \t]*(?:==|>=|<=|~=|[:=@]|-)?[ \t]*[vV]?(?:ersion[ \t]*)?(\d+\.\d+(?:\.\d+)*)\b"
)
_PIN = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*==\s*(\d[\w.+]*)")
_QUOTED_PIN = re.compile(r"^\s*[\"']?([A-Za-z][\w.-]*)[\"']?\s*=\s*[\"']==\s*(\d[\w.+]*)[\"']")  # as a Pipfile has it
_IMAGE = re.compile(r"^\s*FROM\s+(?:\S*/)?([\w.-]+):v?(\d+(?:\.\d+)+)", re.IGNORECASE | re.MULTILINE)
_INSTALL = re.compile(r"^[^\n]*\bpip3?\s+install\b[^\n]*", re.MULTILINE)
_PYTHON_WORDS = {"python", "py", "cpython", "ipython"}
_LONGEST = 400_000


def of_comments(code: str, where: str, known: Collection[str]) -> Iterator[Clock]:
    """Yield the days and the versions (of `known` names and of Python) that comments and plain strings tell."""
    for text in _words(code[:_LONGEST]):
        yield from _versions(text, where, known)
        for day in _days(text):
            yield Clock(kind="date", where=where, says=_short(text), day=day)


def of_pins(text: str, where: str, kind: ClockKind = "pin") -> Iterator[Clock]:
    """Yield the exact versions that requirement lines ask for."""
    for line in text.splitlines():
        bare = line.partition("#")[0]
        for match in (*_PIN.finditer(bare), *_QUOTED_PIN.finditer(bare)):
            yield Clock(kind=kind, where=where, says=_short(bare), name=match[1], version=match[2].rstrip("."))


def of_dockerfile(text: str, where: str, known: Collection[str]) -> Iterator[Clock]:
    """Yield what a Dockerfile's images and `pip install` lines tell."""
    for match in _IMAGE.finditer(text):
        name, version = match[1].lower(), match[2]
        if name == "python":
            yield Clock(kind="dockerfile", where=where, says=_short(match[0]), python=_minor(version))
        elif name in {one.lower() for one in known}:
            yield Clock(kind="dockerfile", where=where, says=_short(match[0]), name=name, version=version)
    for line in _INSTALL.findall(text.replace("\\\n", " ")):
        yield from of_pins(line, where, "dockerfile")


def _versions(text: str, where: str, known: Collection[str]) -> Iterator[Clock]:
    names = {one.lower() for one in known}
    for match in _VERSION.finditer(text):
        name = match[1].lower()
        if name in _PYTHON_WORDS:
            minor = _minor(match[2])
            if minor and not minor.startswith("2"):
                yield Clock(kind="version", where=where, says=_short(text), python=minor)
        elif name in names:
            yield Clock(kind="version", where=where, says=_short(text), name=name, version=match[2])


def _words(code: str) -> Iterator[str]:
    """Yield the comments, and the strings that stand alone, of any text whatever."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("#! ")
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    try:
        tree = parsed(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from node.value.value.splitlines()


def _days(text: str) -> Iterator[str]:
    for match in _ISO.finditer(text):
        yield from _day(match[1], int(match[2]), match[3])
    for match in _MONTH_FIRST.finditer(text):
        yield from _day(match[3], _month(match[1]), match[2])
    for match in _DAY_FIRST.finditer(text):
        yield from _day(match[3], _month(match[2]), match[1])
    for match in _COPYRIGHT.finditer(text):
        yield from _day(match[1], 12, "31")


def _month(word: str) -> int:
    return _MONTHS.index(word.lower()) + 1 if word.lower() in _MONTHS else 0


def _day(year: str, month: int, day: str) -> Iterator[str]:
    try:
        yield date(int(year), month, int(day)).isoformat()
    except ValueError:
        return


def _minor(version: str) -> str:
    parts = version.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 else ""


def _short(text: str) -> str:
    return " ".join(text.split())[:120]
