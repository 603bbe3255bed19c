"""Diagnosis of what a run has measured, and of anything against a good end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envmgr.app.diagnosing.cases import Asked, backend_among, place_here, world_asked
from envmgr.app.diagnosing.cells import (
    asked_world,
    cells_named,
    named,
    names_a_run,
    pinned_world,
    place_of_cells,
    probe_of,
)
from envmgr.app.diagnosing.diagnose import Question, diagnose
from envmgr.app.diagnosing.ends import good_end
from envmgr.app.diagnosing.good_end import search_difference
from envmgr.app.diagnosing.origin import own_at
from envmgr.app.finding_cells import distinct_findings, with_findings
from envmgr.app.hosting import facts_here
from envmgr.app.judging import judged_cells
from envmgr.app.resolving_now import drifted
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.backends import api_of, backend_for, names
from envmgr.diagnose.changes import Change
from envmgr.diagnose.hunt import Ends, Probe, Searched, Traced
from envmgr.diagnose.worlds import asked as lines_of
from envmgr.errors import EnvmgrError, UsageError
from envmgr.model.env import Device
from envmgr.model.finding import Finding, World
from envmgr.model.host import HostFacts
from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import JudgedCell, Run
from envmgr.ports import Event
from envmgr.store.query import LATEST

_LEAST = 60.0


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Findings with the cells that each explains, cells that none explains (and why), and how many envs were built."""

    traced: tuple[Traced, ...] = ()
    unexplained: Mapping[str, str] = field(default_factory=dict)
    builds: int | None = None
    changes: int | None = None


@dataclass(frozen=True, slots=True)
class _Work:
    """One diagnosis of a run: what is asked of which run on which host, and a folder to work in."""

    workplace: Workplace
    asked: Asked
    run: Run
    facts: HostFacts
    room: Path
    device: str | None = None


def diagnose_runs(workplace: Workplace, asked: Asked, good: str | None, device: str | None) -> Diagnosed | None:
    """Diagnose cells of a run, or anything against a good end; None where neither is asked for."""
    if asked.command or asked.probe is not None or not names_a_run(workplace, asked.name):
        return _against(workplace, asked, good) if good else None
    facts = facts_here(workplace)
    run, judged = cells_named(workplace, asked.name or LATEST)
    judged = with_findings(run, judged)
    with workplace.files.scratch("cells") as room:
        work = _Work(workplace, asked, run, facts, room, device)
        return _regressed(work, judged, good) if good else _proven(work, judged)


def with_device(workplace: Workplace, asked: Asked, device: str | None) -> Asked:
    """Return what is asked with the variables that choose a device, of the backend that is asked for."""
    if device is None:
        return asked
    backend = backend_of(workplace, asked)
    if backend is None:
        raise UsageError(f"--device {device} of which backend?", f"wanted one of {', '.join(names())}", "--env K=V")
    chosen = backend_for(backend)
    variables = {**chosen.base_environment(), **chosen.select(Device(id=device, api=api_of(device)))}
    return replace(asked, variables={**variables, **asked.variables})


def backend_of(workplace: Workplace, asked: Asked) -> str | None:
    """Return the backend that is asked for: the manifest's, that among the requirements, or the one installed."""
    own = own_at(workplace, asked.source)
    if own is not None:
        return backend_among(own.standing.resolved)
    world = world_asked(workplace, asked, facts_here(workplace))
    named = workplace.shelf[asked.name.partition("@")[0]].backend if asked.name else None
    return named or backend_among(lines_of(world))


def prove_run(workplace: Workplace, run: Run, budget: float) -> Run:
    """Diagnose by experiment each distinct finding on cells that failed unexpectedly, and keep in the run what comes.

    `budget` is in seconds, for all of them. What cannot be diagnosed keeps the finding that it has.
    """
    facts = facts_here(workplace)
    judged = with_findings(run, judged_cells(run))
    groups = distinct_findings([each for each in judged if each.unexpected])
    begun = workplace.clock.monotonic()
    for number, (ident, cells) in enumerate(groups.items()):
        left = budget - (workplace.clock.monotonic() - begun)
        if left <= 0:
            workplace.listener.on_event(Event("warning", run.record.id, "the budget for experiments is spent"))
            break
        asked = Asked(budget=left / (len(groups) - number))
        try:
            with workplace.files.scratch("cells") as room:
                finding = _by_experiment(_Work(workplace, asked, run, facts, room), cells[0])
        except EnvmgrError as error:
            workplace.listener.on_event(Event("warning", cells[0].cell.name, f"not diagnosed: {error.what}"))
            continue
        if finding is not None:
            workplace.store.prove(run.record.id, finding.model_copy(update={"id": ident}))
    return workplace.store.load(run.record.id)


def _proven(work: _Work, judged: Sequence[JudgedCell]) -> Diagnosed:
    """Diagnose one cell of each distinct finding by experiment."""
    groups = distinct_findings(judged) or {each.cell.id: (each,) for each in judged}
    budget = work.asked.budget
    share = replace(work.asked, budget=max(budget / max(len(groups), 1), min(budget, _LEAST)))
    traced: list[Traced] = []
    unexplained: dict[str, str] = {}
    for cells in groups.values():
        finding = _by_experiment(replace(work, asked=share, room=work.room / cells[0].cell.id), cells[0])
        told = named(judged, [each.cell.id for each in cells])
        if finding is None:
            unexplained |= dict.fromkeys(told, "it passes here")
        else:
            traced.append(Traced(told, finding))
    return Diagnosed(tuple(traced), unexplained)


def _by_experiment(work: _Work, judged: JudgedCell) -> Finding | None:
    """Return the finding of a cell: by experiment in the world of the run, from evidence where the host decides."""
    if judged.observed in NEUTRAL and work.device is None:
        return judged.finding
    asked = work.asked
    place = place_of_cells(work.workplace, work.facts, work.room, asked.jobs)
    probe = probe_of(work.workplace, work.run, judged, work.room, work.device)
    question = Question(
        _as_then(work, judged),
        probe.command,
        probe.source,
        {**probe.given, **asked.variables},
        asked.budget,
        asked.most,
        asked.blind,
        most_bytes=asked.most_bytes,
    )
    finding = diagnose(question, place)
    if finding is None:
        return None
    check = "the runner" if finding.check == "the probe" else finding.check
    return finding.model_copy(update={"id": judged.finding.id if judged.finding else "", "check": check})


def _as_then(work: _Work, judged: JudgedCell) -> World:
    """Return what the manifest asks for, with what has other versions today pinned to those of the run."""
    pinned = pinned_world(work.workplace, work.run, judged.cell, work.facts)
    if pinned is None:
        return asked_world(work.workplace, work.run, judged.cell)
    asked = asked_world(work.workplace, work.run, judged.cell, pinned.python)
    return drifted(work.workplace, asked, pinned, work.facts)


def _against(workplace: Workplace, asked: Asked, good: str) -> Diagnosed:
    """Diagnose a manifest or a set given by options against a good end."""
    if (asked.probe is None) == (not asked.command):
        raise UsageError("nothing to try", "wanted --probe CODE, or -- CMD and not both", "envmgr diagnose --help")
    facts = facts_here(workplace)
    base = world_asked(workplace, asked, facts)
    green, loose = good_end(workplace, good, base, facts)
    command = ("-c", asked.probe) if asked.probe is not None else asked.command
    probe = Probe("the probe", command, asked.probe or "", asked.variables)
    ends = Ends(green, base, base, green_is_loose=loose, red_is_loose=True)
    return _told(search_difference(ends, [probe], place_here(workplace, facts), asked.budget))


def _regressed(work: _Work, judged: Sequence[JudgedCell], good: str) -> Diagnosed:
    """Search what differs from a good end for the cells that have failed since, env by env, in one budget for all."""
    by_env: dict[str, list[JudgedCell]] = {}
    for each in judged:
        by_env.setdefault(work.run.env_name(each.cell), []).append(each)
    unexplained = {
        each.cell.id: "its environment could not be built: diagnose it without --good" for each in by_env.pop("", [])
    }
    found = Diagnosed(unexplained=unexplained, builds=0, changes=0)
    suspects: list[tuple[Change, ...]] = []
    clock, begun = work.workplace.clock, work.workplace.clock.monotonic()
    for name, cells in by_env.items():
        held, others = _held(work, cells, good)
        found = _joined(found, Diagnosed(unexplained=others))
        if not held:
            continue
        asked = replace(work.asked, budget=max(0.0, work.asked.budget - (clock.monotonic() - begun)))
        share = replace(work, asked=asked, room=work.room / (name.replace("/", "-")))
        searched = _search(share, held, good, suspects)
        suspects += searched.culprits
        found = _joined(found, _told(searched))
    traced = tuple(replace(one, probes=named(judged, one.probes)) for one in found.traced)
    names_of = {ident: named(judged, [ident])[0] for ident in found.unexplained}
    return replace(found, traced=traced, unexplained={names_of[one]: why for one, why in found.unexplained.items()})


def _search(work: _Work, cells: Sequence[JudgedCell], good: str, suspects: Sequence[tuple[Change, ...]]) -> Searched:
    """Search the difference for the cells of one env."""
    workplace, cell = work.workplace, cells[0].cell
    red = pinned_world(workplace, work.run, cell, work.facts)
    if red is None:
        return Searched((), {each.cell.id: "its environment could not be built" for each in cells}, 0, 0)
    base = asked_world(workplace, work.run, cell, red.python)
    run = _run_named(workplace, good)
    end = f"{run.record.id}#{cell.id}" if run is not None and "#" not in good else good
    green, loose = good_end(workplace, end, base, work.facts)
    place = place_of_cells(workplace, work.facts, work.room)
    probes = [probe_of(workplace, work.run, each, work.room, work.device) for each in cells]
    return search_difference(Ends(green, red, base, green_is_loose=loose), probes, place, work.asked.budget, suspects)


def _held(work: _Work, cells: Sequence[JudgedCell], good: str) -> tuple[list[JudgedCell], dict[str, str]]:
    """Return the cells that passed in the good run, and of the others why they are left out."""
    run = _run_named(work.workplace, good)
    if run is None or "#" in good:
        return list(cells), {}
    before = {each.cell.id: each for each in judged_cells(run)}
    held = [each for each in cells if each.cell.id in before and before[each.cell.id].observed is Outcome.PASSED]
    left_out = {
        each.cell.id: f"it was {before[each.cell.id].observed} in run {run.record.id}"
        if each.cell.id in before
        else f"run {run.record.id} has no such cell"
        for each in cells
        if each not in held
    }
    return held, left_out


def _run_named(workplace: Workplace, good: str) -> Run | None:
    """Return the run that a good end names, None for a lock, a file, a folder or a date."""
    name = good.partition("#")[0]
    return stored_run(workplace, name or LATEST) if names_a_run(workplace, good) else None


def _told(searched: Searched) -> Diagnosed:
    return Diagnosed(searched.traced, searched.unexplained, searched.builds, searched.changes)


def _joined(first: Diagnosed, then: Diagnosed) -> Diagnosed:
    """Return two as one; findings with the same causes come together."""
    traced = {one.finding.causes: one for one in first.traced}
    for one in then.traced:
        before = traced.get(one.finding.causes)
        traced[one.finding.causes] = replace(before, probes=(*before.probes, *one.probes)) if before else one
    builds = (first.builds or 0) + (then.builds or 0)
    changes = max(first.changes or 0, then.changes or 0)
    return Diagnosed(tuple(traced.values()), {**first.unexplained, **then.unexplained}, builds, changes)
