"""Diagnosis of a failure of another machine: its log and its facts instead of experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.diagnosing_index import Releases, default_index
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, Record
from envmgr.errors import UsageError
from envmgr.model.finding import Finding
from envmgr.ports import Files, Process, Web


def diagnose_log(
    log: Path, host: Path, requirements: tuple[str, ...], variables: Mapping[str, str], *, index: Releases, files: Files
) -> Finding:
    """Return what a log and the facts of its machine say; `confirmed` is never true, for nothing was tried."""
    text = _text_of(log, files)
    try:
        facts = Facts.model_validate(json.loads(_text_of(host, files)))
    except (ValueError, ValidationError) as error:
        raise UsageError(
            f"{host} holds no host facts", str(error).splitlines()[0], "gather them there: envmgr doctor --json"
        ) from None
    return judge(Record(text, facts, requirements, variables, index))


def index_of(uv: Path, process: Process, web: Web, environment: Mapping[str, str]) -> Releases:
    """Return the caller's index."""
    return Releases(web, default_index(uv, process, environment))


def _text_of(path: Path, files: Files) -> str:
    text = files.read(path)
    if text is None:
        raise UsageError(f"{path} cannot be read", "wanted a file", "look at its name")
    return text
