"""Diagnosis of a failure of another machine: its log and its facts instead of experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.releases_of_index import Releases
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.host_facts import facts_of_host
from envmgr.diagnose.records.record import Facts, Record
from envmgr.errors import UsageError
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts
from envmgr.ports import Files


def diagnose_log(
    log: Path, host: Path, requirements: tuple[str, ...], variables: Mapping[str, str], *, index: Releases, files: Files
) -> Finding:
    """Return what a log and the facts of its machine say; `confirmed` is never true, for nothing was tried."""
    text = _text_of(log, files)
    try:
        facts = read_facts(_text_of(host, files))
    except (ValueError, ValidationError) as error:
        raise UsageError(
            f"{host} holds no host facts", str(error).splitlines()[0], "gather them there: envmgr doctor --json"
        ) from None
    return judge(Record(text, facts, requirements, variables, index))


def read_facts(text: str) -> Facts:
    """Return facts from JSON: as recorded failures have them, or as envmgr gathers them; raises ValueError."""
    data = json.loads(text)
    for key in ("data", "facts"):
        data = data.get(key, data) if isinstance(data, dict) else data
    if isinstance(data, dict) and "interpreters" in data:
        return facts_of_host(HostFacts.model_validate(data))
    return Facts.model_validate(data)


def _text_of(path: Path, files: Files) -> str:
    text = files.read(path)
    if text is None:
        raise UsageError(f"{path} cannot be read", "wanted a file", "look at its name")
    return text
