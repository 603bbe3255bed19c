"""From a matrix and what is known of targets and devices to cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envmgr.cell.expect import expects_of, speaks_of
from envmgr.cell.identity import group_of, identity_of
from envmgr.cell.request import PlanRequest, Refusal, RunnerFacts, TargetFacts
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Device
from envmgr.model.host import Match
from envmgr.model.manifest import Manifest, Matrix, MatrixEntry
from envmgr.model.outcome import Outcome, Phase

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell would run: a device, or the name of one that is asked for, or neither; and why it cannot."""

    device: Device | None = None
    asked: str = ""
    refusal: Refusal | None = None


def plan(request: PlanRequest) -> Plan:
    """Return the cells of a matrix, each once, in the order of targets, entries, devices.

    A target gets a cell for every device found in its env, and for every device that its manifest, an `[[expect]]` or
    the matrix names. One that the host cannot have, or that could not be built, gets one refused cell a runner; a
    runner that needs no device gets one cell.

    `request.devices` keeps the cells on the devices so named (by id, api, physical device or as asked), and asks for
    those devices as the matrix does. It commutes with a selection of targets. Cells of a target that is refused as a
    whole have no device to select by, and stay.
    """
    cells: dict[str, Cell] = {}
    for target in request.targets:
        for entry in request.matrix.entry:
            if measures(entry, target):
                for place in _places(request, target, entry):
                    cell = _cell(request, target, entry, place)
                    cells.setdefault(cell.id, cell)
    return Plan(
        matrix=request.matrix.name,
        effort=request.effort,
        processes=request.processes,
        further=request.further,
        host=request.host,
        cells=tuple(cells.values()),
    )


def named_devices(matrix: Matrix, manifest: Manifest, devices: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return every device name that planning asks about for a manifest, each once.

    These are the names that `PlanRequest.matched` and `PlanRequest.absent` must know. `devices` is the user's filter.
    """
    own = (manifest.device, *(expect.device for expect in manifest.expect))
    asked = (*own, *matrix.devices, *(name for entry in matrix.entry for name in entry.devices), *devices)
    return tuple(dict.fromkeys(name for name in asked if name))


def refusal_of(match: Match) -> Refusal | None:
    """Return the refusal of a target that the host cannot have, None when it can."""
    return None if match.fits else Refusal(Outcome.UNAVAILABLE, Phase.INTERPRETER, match.reason, match.lacking)


def measures(entry: MatrixEntry, target: TargetFacts) -> bool:
    """Tell whether an entry of a matrix is meant for a target."""
    if entry.manifests:
        return bool({target.manifest.name, target.label} & set(entry.manifests))
    return entry.runner in target.manifest.runners


def _places(request: PlanRequest, target: TargetFacts, entry: MatrixEntry) -> Iterator[Place]:
    if target.refusal:
        yield Place(refusal=target.refusal)
        return
    if not request.runners.get(entry.runner, RunnerFacts()).needs_device:
        candidates = [Place()]
    elif target.listing and target.listing.error:
        # No device is known, but the runner itself shows best where the stack breaks.
        candidates = [Place(asked=target.manifest.device or "")]
    else:
        candidates = _on_devices(request, target, entry)
    for place in candidates:
        if not request.devices or any(_is_at(request, target, place, name) for name in request.devices):
            yield place


def _on_devices(request: PlanRequest, target: TargetFacts, entry: MatrixEntry) -> list[Place]:
    offered = target.listing.devices if target.listing else target.assumed
    places = [_on_offered(request, target, device) for device in offered]
    demanded = _demanded(target, entry)
    for name in dict.fromkeys((*demanded, *request.matrix.devices, *entry.devices, *request.devices)):
        if any(_is_at(request, target, place, name) for place in places):
            continue
        missing = _missing(request, target, name, required=name in demanded)
        if missing:
            places.append(missing)
    if places:
        return places
    if target.listing is None:
        return [Place(asked=target.manifest.device or "")]
    reason = f"{target.listing.backend} lists no device here"
    return [Place(refusal=Refusal(Outcome.UNAVAILABLE, Phase.BACKEND, reason))]


def _demanded(target: TargetFacts, entry: MatrixEntry) -> tuple[str, ...]:
    """Return the devices that the manifest itself speaks of: their absence is told whatever the backend knows."""
    told = (
        expect.device
        for expect in target.manifest.expect
        if speaks_of(expect, entry.runner, target.platform, target.python)
    )
    return tuple(name for name in (target.manifest.device, *told) if name)


def _on_offered(request: PlanRequest, target: TargetFacts, device: Device) -> Place:
    if device.valid:
        return Place(device)
    known = request.absent.get((target.label, device.id))
    detail = device.detail or "it gives no reason"
    outcome, reason = known or (
        Outcome.UNAVAILABLE,
        f"{target.manifest.backend or 'the backend'} knows {device.id} but will not open it: {detail}",
    )
    return Place(device, refusal=Refusal(outcome, Phase.BACKEND, reason))


def _missing(request: PlanRequest, target: TargetFacts, name: str, *, required: bool) -> Place | None:
    """Return the place for a named device that is not among those found; None if it means nothing to the backend."""
    device = request.matched.get((target.label, name))
    if device:
        return _on_offered(request, target, device)
    absent = request.absent.get((target.label, name))
    if absent:
        return Place(asked=name, refusal=Refusal(absent[0], Phase.BACKEND, absent[1]))
    if not required:
        return None
    if target.listing is None:
        return Place(asked=name)
    listed = ", ".join(device.id for device in target.listing.devices) or "none"
    reason = f"{target.listing.backend} does not list {name} here; it lists: {listed}"
    return Place(asked=name, refusal=Refusal(Outcome.NOT_OFFERED, Phase.BACKEND, reason))


def _is_at(request: PlanRequest, target: TargetFacts, place: Place, name: str) -> bool:
    if place.asked and place.asked == name:
        return True
    if place.device is None:
        return False
    matched = request.matched.get((target.label, name))
    if matched and matched.id == place.device.id:
        return True
    return name in {place.device.id, place.device.api, place.device.physical}


def _cell(request: PlanRequest, target: TargetFacts, entry: MatrixEntry, place: Place) -> Cell:
    runner = request.runners.get(entry.runner, RunnerFacts())
    parameters = {**runner.defaults, **entry.parameters}
    cell = Cell(
        id="",
        manifest=target.manifest.name,
        variant=target.variant,
        platform=target.platform,
        python=target.python,
        backend=target.manifest.backend,
        runner=entry.runner,
        device=place.device,
        device_asked=place.asked,
        parameters=parameters,
        host=request.host,
        timeout=request.matrix.timeout,
        memory=None if request.matrix.memory is None else round(request.matrix.memory * _GIB),
        tolerance=request.matrix.tolerance,
        group=group_of(entry.runner, parameters, runner.neutral),
        reference_rank=_reference_rank(request.matrix, target, place),
        refusal=place.refusal.outcome if place.refusal else None,
        phase=place.refusal.phase if place.refusal else None,
        reason=place.refusal.reason if place.refusal else "",
        lacking=place.refusal.lacking if place.refusal else None,
    )
    return cell.model_copy(update={"id": identity_of(cell), "expect": expects_of(cell, target.manifest.expect)})


def _reference_rank(matrix: Matrix, target: TargetFacts, place: Place) -> int | None:
    """Return how good a reference the cell would be: only plain processor cells of manifests that the matrix trusts.

    A cell without a device, as of a runner that needs none, is computed by the processor.
    """
    processor = place.device.api == "cpu" if place.device else not place.asked
    if not processor or place.refusal:
        return None
    for rank, name in enumerate(matrix.reference):
        if name in {target.manifest.name, target.label}:
            return rank
    return None
