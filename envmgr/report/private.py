"""Takes out of a text what is nobody's business but the user's."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from envmgr.model.redaction import shown_value

_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s'\"`<>]*@")
_QUERY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://[^?\s'\"`<>]*)\?[^\s'\"`<>]+")
_SECRET = re.compile(
    r"(?i)(?P<name>(?:token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key|credential|authorization)"
    r"[\w-]{0,100}['\"]?\s*[=:]\s*)(?:(?:bearer|basic|token|digest)\s+)?(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s'\"]+)"
)
_BEARER = re.compile(r"(?i)\b(?P<name>bearer|basic)\s+[A-Za-z0-9+/_.~=-]{8,}")
_USER_OPTION = re.compile(r"(?<!\S)(?P<name>(?:-u|--user|--proxy-user)[ =]\s*)['\"]?[^\s:'\"]+:[^\s'\"]+")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_\w{16,}|pypi-[\w-]{16,}|npm_\w{8,}"
    r"|xox[a-z]-[\w-]{10,}|sk-[\w-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]+\.[\w-]+\.[\w-]+)"
)
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?:^[A-Za-z0-9+/=]{16,}\n)+-----END [A-Z ]*PRIVATE KEY-----",
    re.DOTALL | re.MULTILINE,
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b")
_USER_AT_HOST = re.compile(r"(?<![\w.+@/-])[A-Za-z][\w.+-]*@(?!py\d)[A-Za-z][\w.-]*\b(?!@)")
_REMOTE = re.compile(r"(?:\bgit\+)?\bssh://[^\s'\"`<>]+|(?<![\w.+-])[\w.+-]+@[\w.-]+:(?!/)[\w./~-]+")
_HOME = re.compile(
    r"(?i)(?P<before>(?:(?<![\w.])/(?:home|Users)/|\b[A-Z]:[\\/]+Users[\\/]+))(?P<user>[^\s/\\:'\"`<>]+)"
)
_ADDRESS = re.compile(
    r"(?<![<>~!=]=)(?<![\w.-])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}"
    r"|169\.254(?:\.\d{1,3}){2}|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])(?:\.\d{1,3}){2})(?![\w-]|\.\d)"
    r"|(?i:(?<![\w:.])f(?:[cd][0-9a-f]{2}|e[89ab][0-9a-f])(?::{1,2}[0-9a-f]{1,4}){1,7}(?:%\w+)?)"
)
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{8,}={0,2}")
OF_NOBODY = frozenset({"root", "user", "admin", "runner", "home", "jovyan", "shared", "public", "default", "vscode"})
"""Names of users, in lower case, that tell nothing of anybody."""
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
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
    text = _KEY_BLOCK.sub("<private key>", text)
    for secret in sorted({spelt for each in private.secrets for spelt in _spellings(each)}, key=len, reverse=True):
        if len(secret) >= _LONG:
            text = text.replace(secret, "***")
        elif len(secret) > _SHORT:
            text = re.sub(rf"(?<![\w.-]){re.escape(secret)}(?![\w-])", "***", text)
    text = _ENCODED.sub(lambda found: "***" if _hides(found[0], private.secrets) else found[0], text)
    shown = {spelt: private.words[word] for word in private.words for spelt in _spellings(word)}
    for word in sorted(shown, key=len, reverse=True):
        if len(word) > 1:
            instead = shown[word].replace("\\", r"\\")
            text = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", instead, text)
    return _without_shapes(text)


def _without_shapes(text: str) -> str:
    """Return a text without what is known for private by its look alone."""
    text = _QUERY.sub(r"\1?***", _REMOTE.sub("<remote>", text))
    text = _SECRET.sub(r"\g<name>***", _URL_CREDENTIALS.sub("***@", text))
    text = _USER_OPTION.sub(r"\g<name>***", _BEARER.sub(r"\g<name> ***", text))
    text = _MAIL.sub("<mail>", _TOKEN.sub("***", text))
    text = _ADDRESS.sub("<private address>", _USER_AT_HOST.sub("<mail>", text))
    return _HOME.sub(lambda found: found[0] if found["user"].lower() in OF_NOBODY else f"{found['before']}<user>", text)


def _spellings(text: str) -> tuple[str, ...]:
    """Return a text as it is and as it may stand in an address or in JSON.

    >>> _spellings("a b/c")
    ('a b/c', 'a%20b%2Fc', 'a%20b/c', 'a%20b%2fc', 'a+b%2Fc')
    """
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
    lower = re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    forms = (text, quoted, quoted.replace("%2F", "/"), lower, quoted.replace("%20", "+"), escaped)
    return tuple(dict.fromkeys(forms))


def _hides(word: str, secrets: Sequence[str]) -> bool:
    """Tell whether a word holds a secret in base64, as headers and files of settings have it."""
    try:
        told = base64.b64decode(
            word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4), altchars=b"-_" if {"-", "_"} & set(word) else None
        )
    except ValueError:
        return False
    return any(len(secret) > _SHORT and secret.encode() in told for secret in secrets)


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
