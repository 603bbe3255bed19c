"""Which Pythons can read a source: told by its syntax alone, and where it is Python 2, by which line."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass

import vermin  # type: ignore[import-untyped]

from envmgr.model.syntax import parsed

_SIGNS = (
    (re.compile(r"^\s*print\s+[^\s(=.,)\[]"), "a print statement"),
    (re.compile(r"^\s*print\s*$"), "a print statement"),
    (re.compile(r"\bprint\s*>>"), "a print statement"),
    (re.compile(r"[;:]\s*print\s+['\"\w]"), "a print statement"),
    (re.compile(r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:"), "`except X, e`"),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,\s*\S"), "`raise X, message`"),
    (re.compile(r"^\s*exec\s+['\"\w]"), "an exec statement"),
    (re.compile(r"<>"), "`<>`"),
    (re.compile(r"(?<![\w.])0[0-7]+(?![\w.])"), "an octal number of the old form"),
    (re.compile(r"(?<![\w.])\d+L\b"), "a long number"),
    (re.compile(r"(?<!\w)[uU][rR]['\"]"), "a raw unicode string"),
    (re.compile(r"`[^`\n]+`"), "backticks"),
    (re.compile(r"\bdef\s+\w+\s*\([^)]*\([^)]*\)\s*[,)]"), "a tuple as a parameter"),
    (re.compile(r"\blambda\s*\("), "a tuple as a parameter"),
)
_HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
_LONGEST_LOOKED_INTO = 300_000
_LAST_WITH_ASYNC_AS_NAME = (3, 6)


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a parser says: the tree, or why there is none; `python2` names the sign that it is Python 2.

    `lowest` and `highest` are minors (`3.8`), empty where the source sets no limit.
    """

    tree: ast.Module | None
    lowest: str = ""
    highest: str = ""
    python2: str = ""
    fault: str = ""


def parse(code: str) -> Syntax:
    """Return what the parser says of any text whatever; never raises."""
    tree, fault, line = _tree(code, None)
    if tree is not None:
        return Syntax(tree, lowest=_lowest(code))
    old, _, _ = _tree(code, _LAST_WITH_ASYNC_AS_NAME)
    if old is not None:
        return Syntax(old, highest="3.6")
    return Syntax(None, python2=_sign(code, fault, line), fault=fault)


def _tree(code: str, version: tuple[int, int] | None) -> tuple[ast.Module | None, str, int]:
    try:
        return parsed(code, feature_version=version), "", 0
    except SyntaxError as error:
        return None, f"line {error.lineno}: {error.msg} (to Python {_HERE})", error.lineno or 0
    except (ValueError, RecursionError, MemoryError) as error:
        return None, f"{type(error).__name__}: {error}", 0


def _lowest(code: str) -> str:
    """Return the first Python 3 that reads the source, by its features and by what it uses of the standard library.

    A very long one is tables of data for the most part, and says too little for the minutes that it would take.
    """
    if len(code) > _LONGEST_LOOKED_INTO:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            visitor = vermin.visit(code)
        versions = visitor.minimum_versions() if isinstance(visitor, vermin.SourceVisitor) else []
    except (vermin.InvalidVersionException, SyntaxError, ValueError, RecursionError):
        return ""
    third = versions[1] if len(versions) > 1 else None
    return f"{third[0]}.{third[1]}" if third and third[0] == 3 and third[1] else ""  # noqa: PLR2004 - Python 3


def _sign(code: str, fault: str, line: int) -> str:
    """Return the sign of Python 2 nearest to where the parser stopped, empty without one."""
    if re.search(r"tabs and spaces|inconsistent", fault):
        return f"line {line}: tabs and spaces mixed"
    found = [
        (abs(number - line), f"line {number}: {what}")
        for number, text in enumerate(code.splitlines(), 1)
        for pattern, what in _SIGNS
        if pattern.search(text.partition("#")[0])
    ]
    return min(found)[1] if found else ""
