"""What a diagnosis of several cells answers."""

from __future__ import annotations

from envmgr.app.diagnosing.runs import Diagnosed
from envmgr.cli.session import Answer
from envmgr.report.findings import show


def answer_of_cells(found: Diagnosed) -> Answer:
    """Return the findings as an answer: for programs the first one and all, for people each with its cells."""
    told = [
        {"cells": one.probes, "finding": one.finding.model_dump(mode="json", exclude_none=True)} for one in found.traced
    ]
    data = {
        "finding": told[0]["finding"] if told else None,
        "findings": told,
        "unexplained": dict(found.unexplained),
        "builds": found.builds,
        "changes": found.changes,
    }
    summary = "" if not found.builds else f"{found.changes} changes searched with {found.builds} environments built"
    pairs = [(one.probes, one.finding) for one in found.traced]
    return Answer(data, lambda: show(pairs, found.unexplained, summary), exit_code=1 if told else 0)
