"""What the text of a failed run says: the last exception of its chain, the frames, the names that were not there.

Every function here takes any text whatever and never raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_FRAME = re.compile(
    r'^[^\S\n]*File "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,9})(?:, in (?P<function>[^\n]{1,200}))?', re.MULTILINE
)
_RAISED = re.compile(
    r"^(?:[^\S\n]*\S*?\d{4}-\d\d-\d\d[^\n]{0,80}?\s)?(?P<type>(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception|Interrupt|Warning|NotFound|Exit|Failed|Failure"
    r"|Missing|Conflict|Unsupported|Unavailable|Invalid|Problem)|AssertionError|SystemExit|PackageNotFoundError)"
    r"(?:: (?P<message>[^\n]*))?$",
    re.MULTILINE,
)
_MISSING_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_MISSING_DISTRIBUTION = re.compile(
    r"No package metadata was found for '?([A-Za-z0-9][\w.-]*)|PackageNotFoundError: '?([A-Za-z0-9][\w.-]*)'?$"
    r"|The '([A-Za-z0-9][\w.-]{0,100})[^'\n]{0,200}' distribution was not found",
    re.MULTILINE,
)
_NAME_FROM = re.compile(r"cannot import name '?(\w+)'? from (?:partially initialized module )?'?([\w.]+)'?")
_NAME_ONLY = re.compile(r"cannot import name '?(\w+)'?(?! from)(?:\s|$|\()")
_ATTRIBUTE = re.compile(r"module '?([\w.]+)'? has no attribute '?(\w+)'?")
_LIBRARY = re.compile(
    r"((?<![\w+.-])[\w+.-]{0,100}lib[\w+-]{1,100}\.(?:so(?:\.\d+)*|dylib)|(?<![\w-])[\w-]{1,100}\.dll)", re.IGNORECASE
)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bLC_ALL\b|\bPYTHON[A-Z]+\b")
_SITE = re.compile(r"(?:site|dist)-packages[/\\]([^\n\"']+)")
_TELLING = re.compile(
    r"error|cannot|could not|no module|not found|failed|unsatisfiable|because|hint:|undefined", re.IGNORECASE
)
_LIMIT = 400_000
_BELOW = 400


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback."""

    file: str
    line: int
    function: str = ""

    @property
    def module(self) -> str:
        """The dotted name below site-packages that the frame stands in, or empty."""
        match = _SITE.search(self.file)
        if not match:
            return ""
        parts = re.split(r"[/\\]", match[1])
        parts[-1] = parts[-1].split(".")[0]
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    @property
    def top(self) -> str:
        """The top-level name below site-packages that the frame stands in, or empty."""
        return self.module.split(".")[0]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text says; every field is empty where it says nothing of the kind.

    `raised` are (type, message) in the order of the chain, `frames` those of the last traceback, outermost first.
    `names` are (module, name) pairs that were looked for in vain, `distributions` those whose metadata were.
    """

    text: str = ""
    raised: tuple[tuple[str, str], ...] = ()
    frames: tuple[Frame, ...] = ()
    modules: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    distributions: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    variables: frozenset[str] = field(default=frozenset())

    @property
    def exception(self) -> str:
        """The type of the last exception, without its module."""
        return self.raised[-1][0].rsplit(".", 1)[-1] if self.raised else ""

    @property
    def message(self) -> str:
        """The message of the last exception, else the last line of the text."""
        if self.raised and self.raised[-1][1]:
            return self.raised[-1][1]
        lines = [line for line in self.text.splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    @property
    def missing(self) -> str:
        """The module that the last failed import looked for, or empty."""
        return self.modules[-1] if self.modules else ""

    @property
    def signature(self) -> str:
        """A form in which two texts of one failure are equal: numbers, paths and addresses taken out."""
        last = without_chance(f"{self.exception}: {self.message}")
        where = self.frames[-1] if self.frames else None
        return f"{last} @ {where.file.rsplit('/', 1)[-1]}:{where.line}" if where else last

    def says(self, word: str) -> bool:
        """Tell whether the text names something, as a word of its own."""
        return bool(word) and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", self.text, re.IGNORECASE) is not None


def without_chance(text: str) -> str:
    """Return what a failure says in a form that is equal for failures of one kind: no paths, addresses or numbers.

    >>> without_chance("no /tmp/x1/libacme.so at 0x7f00, tried 3 times")
    'no / at #, tried # times'
    """
    return re.sub(r"0x[0-9a-fA-F]+|\d+", "#", re.sub(r"(?:/[^\s'\":,]+)+", "/", text))


def read(text: str | bytes) -> Reading:
    """Return what a text says."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = text if len(text) <= _LIMIT else text[: _LIMIT // 2] + "\n" + text[-_LIMIT // 2 :]
    raised = tuple((match["type"], _message(text, match)) for match in _RAISED.finditer(text))
    names = [(match[2], match[1]) for match in _NAME_FROM.finditer(text)]
    names += [("", match[1]) for match in _NAME_ONLY.finditer(text)]
    names += [(match[1], match[2]) for match in _ATTRIBUTE.finditer(text)]
    return Reading(
        text=text,
        raised=raised,
        frames=_last_frames(text),
        modules=tuple(match[1].rstrip(".") for match in _MISSING_MODULE.finditer(text)),
        names=tuple(dict.fromkeys(names)),
        distributions=tuple(
            dict.fromkeys(match[match.lastindex or 0] for match in _MISSING_DISTRIBUTION.finditer(text))
        ),
        libraries=tuple(dict.fromkeys(match[1] for match in _LIBRARY.finditer(text))),
        variables=frozenset(_VARIABLE.findall(text)),
    )


def _message(text: str, raised: re.Match[str]) -> str:
    """Return the message of an exception; one that begins with an empty line is told by its first full one."""
    message = raised["message"]
    if message is None or message.strip():
        return (message or "").strip()
    below = text[raised.end() : raised.end() + _BELOW].strip().partition("\n")[0].strip()
    return "" if _RAISED.fullmatch(below) or below.startswith(("Traceback", "During", "The above")) else below


def _last_frames(text: str) -> tuple[Frame, ...]:
    start = text.rfind("Traceback (most recent call last)")
    body = text[start:] if start >= 0 else text
    return tuple(
        Frame(match["file"], int(match["line"]), (match["function"] or "").strip()) for match in _FRAME.finditer(body)
    )


def telling_lines(text: str, limit: int = 6) -> tuple[str, ...]:
    """Return the lines that tell most of a failure, shortened: exceptions, errors, the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if _TELLING.search(line)][-limit:]
    if lines and lines[-1] not in found:
        found = [*found[-limit + 1 :], lines[-1]]
    return tuple(line[:300] for line in found)
