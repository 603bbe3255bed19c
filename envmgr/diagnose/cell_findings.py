"""Findings on the cells of a run, from evidence alone: nothing is tried, so nothing is confirmed."""

from __future__ import annotations

import hashlib
import re

from envmgr.diagnose.requirement import key_of
from envmgr.model.cell import Cell
from envmgr.model.finding import Cause, CauseKind, Evidence, Finding, Fix, HostAdvice
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import Parity


def of_refusal(cell: Cell, found: Finding | None = None) -> Finding:
    """Return the finding for a cell that could not run: what the host lacks, or why it could not be built.

    `found` is what the text of a failed build says.
    """
    outcome, phase = cell.refusal or Outcome.UNAVAILABLE, cell.phase or Phase.BUILD
    evidence = (Evidence(quote=cell.reason, where="the host's facts" if outcome in _OF_HOST else "the build"),)
    said = re.sub(re.escape(cell.label), "it", cell.reason)
    if found is not None:
        return completed(_accused(found, cell), phase, "the build", evidence, said)
    cause, fix, lacking = _lacking(cell, outcome, phase)
    return Finding(
        id=_identity(phase.value, cause.kind, cause.name, said),
        phase=phase,
        cause=cause,
        causes=(cause,),
        check="what the host can have" if outcome in _OF_HOST else "the build",
        evidence=evidence,
        fix=fix,
        impossible=lacking,
    )


_OF_HOST = frozenset({Outcome.UNAVAILABLE, Outcome.NOT_OFFERED, Outcome.SKIPPED})


def _accused(found: Finding, cell: Cell) -> Finding:
    """Return what the text of a failed build says, or what is named as not to be had."""
    if found.cause.kind != "unknown":
        return found
    cause = Cause(kind="unknown", name="", why=cell.reason)
    if cell.lacking is not None:
        name, wanted = key_of(cell.lacking.name), cell.lacking.name
        cause = Cause(kind="package", name=name, why=f"{wanted} cannot be had")
    return found.model_copy(update={"cause": cause, "causes": (cause,)})


def _lacking(cell: Cell, outcome: Outcome, phase: Phase) -> tuple[Cause, Fix | None, str]:
    """Return what is lacking as a cause, what would help, and that it is impossible here, if it is."""
    reason, lacking = cell.reason, cell.lacking
    if outcome is Outcome.GONE:
        return Cause(kind="index", name=lacking.name if lacking else "", why=reason), None, ""
    if phase is Phase.INTERPRETER and lacking is not None and lacking.kind == "platform":
        advice = Fix(host=(HostAdvice(need="hardware", name=lacking.name),))
        return Cause(kind="platform", name=lacking.name, why=reason), advice, reason
    if phase is Phase.INTERPRETER:
        name = lacking.name if lacking else ".".join(cell.python.split(".")[:2])
        exact = Fix(python=name) if re.fullmatch(r"[\d.]+", name) else None
        return Cause(kind="python", name=name, why=reason), exact, "" if lacking and lacking.obtainable else reason
    device = cell.device_name or cell.api or "device"
    fix = Fix(host=(HostAdvice(need="hardware", name=device),)) if outcome is Outcome.UNAVAILABLE else None
    return Cause(kind="hardware", name=device, why=reason), fix, reason


def of_parity(cell: Cell, parity: Parity, reason: str) -> Finding:
    """Return the finding for a cell whose numbers disagree with the reference's."""
    cause = numbers_cause(cell, reason)
    finding = Finding(phase=Phase.CHECK, cause=cause, causes=(cause,))
    evidence = (Evidence(quote=parity.worst or reason, where=f"parity with cell {parity.reference}"),)
    telling = f"{cell.label} {cell.device_name} {cell.group}"
    return completed(finding, Phase.CHECK, "parity with the reference", evidence, telling)


def numbers_cause(cell: Cell, why: str) -> Cause:
    """Return what is to blame for wrong numbers: the library that computed them."""
    kind: CauseKind = "package" if cell.backend else "unknown"
    return Cause(kind=kind, name=cell.backend or "", why=why)


def completed(finding: Finding, phase: Phase, check: str, evidence: tuple[Evidence, ...], telling: str) -> Finding:
    """Return a finding with where it was seen; `telling` and the causes decide which others are the same."""
    blamed = [f"{cause.kind} {cause.name}" for cause in finding.causes]
    return finding.model_copy(
        update={
            "id": _identity(phase.value, *blamed, telling),
            "phase": phase,
            "check": check,
            "evidence": tuple(dict.fromkeys(evidence)),
            "next": "",
        }
    )


def _identity(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
