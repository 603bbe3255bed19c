"""One Markdown file that a maintainer can act on, with nothing private in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from envmgr.model.env import Check, Env
from envmgr.model.finding import Finding
from envmgr.model.host import HostFacts, InstallerSettings
from envmgr.report.private import Private, shown_setting, without_private
from envmgr.report.settings import told_settings
from envmgr.report.text import clean


@dataclass(frozen=True, slots=True)
class FailedCell:
    """One cell of the latest run that holds the manifest, with the end of its log."""

    name: str
    outcome: str
    reason: str
    log: tuple[str, ...] = ()
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class BugFacts:
    """Everything that the report tells; `tools` are what envmgr itself is and runs on."""

    label: str
    tools: Mapping[str, str]
    manifest: str
    lock: str
    host: HostFacts
    env: Env | None = None
    checks: Sequence[Check] = ()
    failure: str = ""
    cells: Sequence[FailedCell] = ()
    commands: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    private: Private = field(default_factory=Private)


def bug_report(facts: BugFacts) -> str:
    """Return the report, with homes, names of persons and machines, addresses of mail and credentials taken out."""
    parts = [
        f"# {facts.label}: bug report",
        _section("To see it again", _code("console", [f"$ {command}" for command in facts.commands])),
        _section("Versions", _table(_versions(facts))),
        _section("Host", _table(_host(facts.host))),
        _section("Settings of pip and uv that take part", _settings(facts.host.settings)),
        _section("Variables", _table({name: shown_setting(name, value) for name, value in facts.variables.items()})),
        _section("Manifest", _code("toml", facts.manifest.splitlines())),
        _section("Installed", _installed(facts)),
        _section("Checks", _checks(facts)),
        _section("Latest run", "\n\n".join(_cell(cell) for cell in facts.cells) or "It was not measured here."),
    ]
    return without_private("\n\n".join(part for part in parts if part), facts.private) + "\n"


def _versions(facts: BugFacts) -> dict[str, str]:
    found = {**facts.tools, "lock": facts.lock}
    if facts.env:
        base = facts.env.interpreter
        found["Python"] = f"{base.implementation} {base.version} {base.arch} ({base.source})"
        found["built"] = base.build
        if base.translated:
            found["translated"] = "yes"
    return found


def _host(host: HostFacts) -> dict[str, str]:
    cards = [f"{card.name} ({', '.join(card.apis) or 'no API'})" for card in host.accelerators]
    drivers = [f"{each.api}: {each.name} {each.version}".strip() for each in host.drivers]
    return {
        "system": f"{host.os_version or host.system}, {host.machine}, {host.libc}".rstrip(", "),
        "processor": f"{host.processor}, {host.cores} cores, {host.memory / 2**30:.0f} GiB",
        "accelerators": "; ".join(cards) or "none",
        "drivers": "; ".join(drivers) or "none",
        "lacks": "; ".join(f"{lack.name}: {lack.why}" for lack in host.lacks) or "nothing known",
    }


def _settings(settings: InstallerSettings) -> str:
    rows = {}
    for name, value, origin in told_settings(settings):
        shown = ", ".join(shown_setting("", line) for line in value.splitlines())
        rows[name] = f"{shown} (from {origin})" if origin else shown
    return _table(rows) or "None: the default index alone."


def _installed(facts: BugFacts) -> str:
    if facts.env is None:
        return facts.failure or "It is not built here."
    pins = [f"{name}=={version}" for name, version in sorted(facts.env.resolved.items())]
    steps = [f"step {step.number}: {step.asked} (exit {step.exit_code})" for step in facts.env.steps]
    return "\n\n".join(filter(None, [_code("text", pins), _code("text", steps) if steps else ""]))


def _checks(facts: BugFacts) -> str:
    failed = [check for check in facts.checks if not check.passed]
    if not facts.checks:
        return ""
    if not failed:
        return f"All {len(facts.checks)} checks of `envmgr verify` passed."
    return "\n".join(f"- {each.name} {each.subject}: wanted {each.wanted}; found {each.found}" for each in failed)


def _cell(cell: FailedCell) -> str:
    lines = [f"### {cell.name}: {cell.outcome}"]
    lines += [clean(cell.reason)] if cell.reason else []
    lines += [_code("text", [clean(line) for line in cell.log])] if cell.log else []
    if cell.finding:
        lines.append(_code("json", cell.finding.model_dump_json(indent=1, exclude_none=True).splitlines()))
    return "\n\n".join(lines)


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _table(rows: Mapping[str, str]) -> str:
    in_one_line = {name: " ".join(value.split()).replace("|", r"\|") for name, value in rows.items() if value}
    lines = [f"| {name} | {value} |" for name, value in in_one_line.items()]
    return "\n".join(["| | |", "|---|---|", *lines]) if lines else ""


def _code(language: str, lines: Iterable[str]) -> str:
    """Return a fence that nothing in the lines can close."""
    body = list(lines)
    longest = max((len(run) for line in body for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *body, fence])
