"""Judging a failure of another machine by its log and that machine's facts; nothing is tried, so nothing is confirmed.

Each rule is a mechanism: it reads what the text asks for and what the facts say, and where both disagree, facts win.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from envmgr.diagnose.causes import distinct
from envmgr.diagnose.reading import telling_lines
from envmgr.diagnose.records import architecture, devices, installs, libraries, software
from envmgr.diagnose.records.record import Judgement, Record
from envmgr.model.finding import Cause, Evidence, Finding
from envmgr.model.outcome import Phase

Rule = Callable[[Record], Iterator[Judgement]]

RULES: tuple[Rule, ...] = (
    architecture.judge,
    libraries.judge,
    devices.judge,
    installs.judge,
    software.judge,
)


def judge(record: Record) -> Finding:
    """Return the finding for a recorded failure; `unknown` where neither text nor facts accuse anything."""
    judgements = sorted((j for rule in RULES for j in rule(record)), key=lambda judgement: -judgement.weight)
    evidence = tuple(Evidence(quote=line, where="the log") for line in telling_lines(record.text, 8))
    if not judgements:
        unknown = Cause(kind="unknown", name="", why="neither the log nor the facts accuse anything")
        return Finding(
            phase=Phase.RUN, cause=unknown, causes=(unknown,), check="the log", evidence=evidence, next=_next(record)
        )
    best = judgements[0]
    causes = distinct(judgement.cause for judgement in judgements)
    facts = tuple(Evidence(quote=quote, where="host facts") for quote in best.facts)
    return Finding(
        phase=best.phase,
        cause=best.cause,
        causes=causes,
        check="the log",
        evidence=(*evidence, *facts),
        fix=best.fix,
        impossible=best.impossible,
        next=_next(record),
    )


def _next(record: Record) -> str:
    requires = " ".join(f"--require {line}" for line in record.requirements)
    return f"envmgr diagnose --python {record.python_minor or '3.11'} {requires} --probe 'import …'".replace("  ", " ")
