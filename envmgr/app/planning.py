"""What is to be measured: manifests, devices and runners joined into a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envmgr.app.hosting import facts_of
from envmgr.app.locking import read_lock
from envmgr.app.runners import runner_facts
from envmgr.app.workplace import Workplace
from envmgr.backends import api_of, backend_for
from envmgr.cell.plan import measures, named_devices, plan, refusal_of
from envmgr.cell.request import PlanRequest, TargetFacts
from envmgr.errors import NothingSelectedError
from envmgr.host.devices import device_reason
from envmgr.host.match import match
from envmgr.manifest.expand import select, variants
from envmgr.manifest.expand import target as target_of
from envmgr.model.cell import Further, Plan
from envmgr.model.env import Device, DeviceListing
from envmgr.model.host import HostFacts, Interpreter, Match
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest, Matrix
from envmgr.model.outcome import Outcome

_LONGEST = 120.0
EFFORTS: Mapping[str, tuple[int, Further | None]] = {
    "quick": (1, None),
    "default": (10, Further(processes=30, shows=0.04, seconds=_LONGEST)),
    "long": (20, Further(processes=60, shows=0.03, seconds=_LONGEST)),
}
"""In how many processes a cell is measured, by effort, and how far beyond if its values scatter.

Where a change of 4 % shows four times out of five, 5 % nearly always does, and equal cells mostly prove the same.
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a matrix the user wants: all of it, or some version sets and devices, with more or less effort."""

    matrix: str = "quick"
    names: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """One selected variant and whether the host can have it."""

    manifest: Manifest
    variant: str
    match: Match

    @property
    def label(self) -> str:
        """The version set as a user types it."""
        return self.manifest.name if self.variant == "default" else f"{self.manifest.name}@{self.variant}"


def choose(
    workplace: Workplace, selection: Selection, facts: HostFacts, python: str | None = None
) -> tuple[Matrix, tuple[Chosen, ...]]:
    """Return the matrix and its selected variants, matched with the host; raises NothingSelectedError for none."""
    matrix = workplace.shelf.matrix(selection.matrix)
    picked = select(selection.names or matrix.manifests, workplace.shelf)
    pairs = dict.fromkeys((manifest.name, variant or variants(manifest)[0]) for manifest, variant in picked)
    chosen = tuple(
        Chosen(workplace.shelf[name], variant, match(workplace.shelf[name], variant, facts, python))
        for name, variant in pairs
    )
    if not chosen:
        raise NothingSelectedError("nothing is selected", "the selection names no manifest", "envmgr list")
    return matrix, chosen


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one selected variant: for planning, and besides its interpreter and versions as far as known.

    `download` are the bytes that its lock says it takes.
    """

    target: TargetFacts
    interpreter: Interpreter | None = None
    resolved: Mapping[str, str] = field(default_factory=dict)
    download: int = 0


def known_before_build(workplace: Workplace, chosen: Chosen, facts: HostFacts) -> Known:
    """Return what is known of a variant before anything is built: devices are those that the host facts promise."""
    interpreter = chosen.match.interpreter
    lock = _lock_of(workplace, chosen)
    resolved = {each.name: each.version for each in lock.distributions} if lock else {}
    target = TargetFacts(
        manifest=chosen.manifest,
        variant=chosen.variant,
        python=interpreter.version if interpreter else "",
        platform=chosen.match.platform,
        refusal=refusal_of(chosen.match),
        assumed=_assumed(chosen, facts, resolved),
    )
    return Known(target, interpreter, resolved, lock.download if lock else 0)


def _lock_of(workplace: Workplace, chosen: Chosen) -> Lock | None:
    """Return the variant's lock, stale or not; None where there is none."""
    if chosen.match.platform is None:
        return None
    found = read_lock(workplace, target_of(chosen.manifest, chosen.variant, chosen.match.platform))
    return found.lock if found else None


def make_plan(
    workplace: Workplace, selection: Selection, matrix: Matrix, variants_known: Iterable[Known], facts: HostFacts
) -> Plan:
    """Return the plan over targets; raises NothingSelectedError when no cell comes out."""
    effort = selection.effort or matrix.effort
    processes, further = EFFORTS[effort]
    known = tuple(variants_known)
    matched: dict[tuple[str, str], Device] = {}
    absent: dict[tuple[str, str], tuple[Outcome, str]] = {}
    for each in known:
        for asked in named_devices(matrix, each.target.manifest, selection.devices):
            _look_up(each, asked, facts, matched, absent)
    made = plan(
        PlanRequest(
            matrix=matrix,
            targets=tuple(each.target for each in known),
            host=facts.name,
            effort=effort,
            processes=processes,
            further=further,
            runners=runner_facts(workplace),
            devices=selection.devices,
            matched=matched,
            absent=absent,
        )
    )
    if not made.cells:
        raise NothingSelectedError(
            "the selection holds no cell",
            f"matrix {matrix.name!r} measures nothing of it"
            + (f" on {', '.join(selection.devices)}" if selection.devices else "")
            + _without_runners(matrix, [each.target for each in known]),
            f"envmgr matrix plan {matrix.name}",
        )
    return made


def _without_runners(matrix: Matrix, targets: Sequence[TargetFacts]) -> str:
    """Say which manifests list none of the matrix's runners, as that alone leaves them without a cell."""
    runners = ", ".join(dict.fromkeys(entry.runner for entry in matrix.entry))
    idle = [each.manifest.name for each in targets if not any(measures(entry, each) for entry in matrix.entry)]
    return f"; of its runners ({runners}) none is listed by {', '.join(dict.fromkeys(idle))}" if idle else ""


def _look_up(
    known: Known,
    asked: str,
    facts: HostFacts,
    matched: dict[tuple[str, str], Device],
    absent: dict[tuple[str, str], tuple[Outcome, str]],
) -> None:
    """Find out which device of a target is meant by a name, or why it has none; other backends' names mean nothing."""
    target = known.target
    if target.manifest.backend is None or target.refusal is not None:
        return
    backend = backend_for(target.manifest.backend)
    listing = target.listing or DeviceListing(backend=backend.name, devices=target.assumed)
    found = next((device for device in listing.devices if device.valid and backend.matches(asked, device)), None)
    if found is not None:
        matched[target.label, asked] = found
    elif api_of(asked) in backend.apis:
        reason = device_reason(api_of(asked), facts, known.interpreter, known.resolved)
        absent[target.label, asked] = backend.absent(asked, listing, facts, reason)


def plan_only(workplace: Workplace, selection: Selection, host: Path | None, python: str | None) -> Plan:
    """Return the plan for this host, or another one from its facts, with nothing built or asked.

    Devices are those that the facts promise; only `run` asks the backends themselves.
    """
    facts = facts_of(workplace, host, python)
    matrix, chosen = choose(workplace, selection, facts, python)
    known = (known_before_build(workplace, each, facts) for each in chosen)
    return make_plan(workplace, selection, matrix, known, facts)


def _assumed(chosen: Chosen, facts: HostFacts, resolved: Mapping[str, str]) -> tuple[Device, ...]:
    if chosen.manifest.backend is None or chosen.match.platform is None or not chosen.match.fits:
        return ()
    promised = backend_for(chosen.manifest.backend).predict(facts, chosen.match.platform, resolved)
    interpreter = chosen.match.interpreter
    return tuple(each for each in promised if not device_reason(each.api, facts, interpreter, resolved))
