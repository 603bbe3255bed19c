"""Takes out of a text what is nobody's business but the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from envmgr.model.redaction import shown_value

_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET = re.compile(
    r"(?i)(?P<name>(?:token|secret|passw(?:or)?d|api[_-]?key|credential|authorization)[\w-]{0,100}['\"]?\s*[=:]\s*)"
    r"(?:(?:bearer|basic)\s+)?['\"]?[^\s'\"]+"
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b")
_KEY_IN_PATH = re.compile(r"(?<=/)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}(?=[/?#\s]|$)")
_LONG = 8
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Private:
    """Words that stand for persons and machines, with what is shown instead, and secrets, which are never shown."""

    words: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


def without_private(text: str, private: Private) -> str:
    """Return a text without secrets, credentials, addresses of mail and private words.

    >>> without_private("HF_TOKEN=abc /home/ann/x on annbox", Private({"/home/ann": "~", "annbox": "<host>"}))
    'HF_TOKEN=*** ~/x on <host>'
    >>> without_private("it said opensesame", Private(secrets=("opensesame",)))
    'it said ***'
    """
    for secret in sorted(private.secrets, key=len, reverse=True):
        if len(secret) >= _LONG:
            text = text.replace(secret, "***")
        elif len(secret) > _SHORT:
            text = re.sub(rf"(?<![\w.-]){re.escape(secret)}(?![\w-])", "***", text)
    for word in sorted(private.words, key=len, reverse=True):
        if len(word) > 1:
            shown = private.words[word].replace("\\", r"\\")
            text = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", shown, text)
    text = _SECRET.sub(r"\g<name>***", _URL_CREDENTIALS.sub("***@", text))
    return _MAIL.sub("<mail>", text)


def shown_setting(name: str, value: str) -> str:
    """Return the value of a setting or a variable without anything that lets one in somewhere.

    >>> shown_setting("UV_INDEX_OWN_USERNAME", "ann"), shown_setting("index", "https://ann:pw@example.org/simple")
    ('(not shown)', 'https://example.org/simple')
    >>> shown_setting("PIP_INDEX_URL", "https://example.org/3f9Kd02LmQxV77aZ/simple")
    'https://example.org/***/simple'
    """
    bare = shown_value(name, value)
    if name.upper().endswith(("USERNAME", "_USER")) or ("://" in bare and "@" in bare):
        return "(not shown)"
    return _KEY_IN_PATH.sub("***", bare) if "://" in bare else bare
