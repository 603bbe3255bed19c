"""Diagnosis of a failure of another machine: its log and its facts instead of experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.diagnosing_index import Releases
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, PythonFacts, Record
from envmgr.errors import UsageError
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts, Interpreter
from envmgr.ports import Files

_SYSTEMS = {"linux": "Linux", "macos": "Darwin", "windows": "Windows"}


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


def facts_of_host(
    host: HostFacts, interpreter: Interpreter | None = None, installed: Mapping[str, str] | None = None
) -> Facts:
    """Return what envmgr gathered of a host in the form in which recorded failures are judged."""
    libc, _, version = host.libc.partition(" ")
    python = PythonFacts()
    if interpreter is not None:
        python = PythonFacts(
            implementation=interpreter.implementation,
            version=interpreter.version,
            arch=interpreter.arch,
            translated=interpreter.translated,
        )
    return Facts.model_validate(
        {
            "system": _SYSTEMS[host.system],
            "os_version": host.os_version,
            "machine": host.machine,
            "libc": {"name": libc, "version": version},
            "cpu_features": host.cpu_features or None,
            "python": python,
            "gpus": [
                {"name": one.name, "vendor": one.vendor, "api": one.apis}
                for one in host.accelerators
                if one.kind == "gpu"
            ],
            "drivers": {driver.name: driver.version for driver in host.drivers if driver.usable},
            "installed": dict(installed or {}),
        }
    )


def _text_of(path: Path, files: Files) -> str:
    text = files.read(path)
    if text is None:
        raise UsageError(f"{path} cannot be read", "wanted a file", "look at its name")
    return text
