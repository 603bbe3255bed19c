"""A finding as text for people."""

from __future__ import annotations

import json

from rich.console import Console

from envmgr.model.finding import Experiment, Finding
from envmgr.report.causes import told
from envmgr.report.text import clean

_MOST_EVIDENCE = 8


def show(finding: Finding | None, applied: str = "") -> None:
    """Print a finding, or that there is none, and what was done about it."""
    console = Console(highlight=False, soft_wrap=True)
    if finding is None:
        console.print("no finding: the check passes, and the environment is what was asked for")
        return
    for line in lines_of(finding):
        console.print(line, markup=False)
    if applied:
        console.print(f"applied    {clean(applied)}", markup=False)


def lines_of(finding: Finding) -> tuple[str, ...]:
    """Return the lines that tell a finding, the cause first."""
    found = [f"cause      {told(cause)}" for cause in finding.causes]
    found.append(f"phase      {finding.phase} ({finding.check})")
    if finding.fix is not None:
        fix = finding.fix.model_dump(mode="json", exclude_none=True)
        state = "seen to work" if finding.confirmed else "not tried here"
        found += [f"fix        {name}: {_told(value)}" for name, value in fix.items()]
        found.append(f"           ({state})")
    if finding.impossible:
        found.append(f"impossible {finding.impossible}")
    found += [f"evidence   {item.quote}  [{item.where}]" for item in finding.evidence[:_MOST_EVIDENCE]]
    found += [f"tried      {_tried(item)}" for item in finding.experiments]
    if finding.next:
        found.append(f"next       {finding.next}")
    return tuple(clean(line) for line in found)


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tried(experiment: Experiment) -> str:
    reason = f": {experiment.reason[:120]}" if experiment.reason else ""
    return f"{experiment.change} -> {experiment.outcome} ({experiment.seconds:.1f} s){reason}"
