"""What on this machine is nobody's business but its user's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from envmgr.app.hosting import true_settings
from envmgr.app.workplace import Workplace
from envmgr.model.host import HostFacts, InstallerSettings
from envmgr.report.private import OF_NOBODY, Private, shown_setting

_USERINFO = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<user>[^:/@\s]*)(?::(?P<password>[^@\s]*))?@")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_IN_NETRC = re.compile(r"\b(?:login|account|password)\s+(?:\"([^\"]+)\"|(\S+))")


def private_here(workplace: Workplace, facts: HostFacts) -> Private:
    """Return the words that stand for this user and this machine, and the secrets that installers are told here."""
    caller = workplace.caller
    names = [caller.environment.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
    words = {str(workplace.project.root): "<project>"} if workplace.project.root else {}
    words |= {str(caller.home): "~", facts.name: "<host>", caller.host: "<host>"}
    words |= {name: "<user>" for name in (*names, caller.home.name) if name and name.lower() not in OF_NOBODY}
    return Private(words, tuple(dict.fromkeys(_secrets(workplace))))


def _secrets(workplace: Workplace) -> Iterator[str]:
    settings = true_settings(workplace)
    for name, value in workplace.caller.environment.items():
        if shown_setting(name, value) == "(not shown)":
            yield value
        yield from _credentials(value)
    for text in _texts(settings):
        yield from _credentials(text)
    if settings.netrc:
        for quoted, plain in _IN_NETRC.findall(workplace.files.read(Path(settings.netrc)) or ""):
            yield quoted or plain


def _texts(settings: InstallerSettings) -> Iterator[str]:
    yield settings.index_url or ""
    yield from (*settings.extra_index_urls, *settings.find_links, *settings.constraints, *settings.proxies.values())


def _credentials(text: str) -> Iterator[str]:
    """Yield the users and passwords in addresses, as they are written and as they are meant."""
    for found in _USERINFO.finditer(text):
        for part in (found["user"], found["password"]):
            if part:
                yield part
                yield _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), part)
