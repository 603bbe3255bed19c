"""What holds of plans and classification whatever comes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from envmgr.cell.classify import Evidence, classify
from envmgr.cell.plan import plan
from envmgr.cell.request import PlanRequest, RunnerFacts, TargetFacts
from envmgr.model.cell import Cell
from envmgr.model.env import Device, DeviceListing
from envmgr.model.manifest import Manifest, Matrix, MatrixEntry
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult
from envmgr.ports import Completed

APIS = ("cpu", "cuda", "llvm", "metal")
RUNNERS = ("r1", "r2", "probe")
DEVICES = st.builds(
    lambda api, number, valid: Device(id=f"{api}:{number}", api=api, valid=valid),
    st.sampled_from(APIS),
    st.integers(0, 1),
    st.booleans(),
)
LISTINGS = st.one_of(
    st.none(),
    st.builds(
        lambda devices, error: DeviceListing(backend="b", devices=tuple(devices), error=error),
        st.lists(DEVICES, unique_by=lambda device: device.id, max_size=4),
        st.sampled_from(["", "", "", "broken"]),
    ),
)
TARGETS = st.lists(
    st.builds(
        lambda name, runners, device, listing: TargetFacts(
            Manifest(schema=1, name=name, python=">=3.7", runners=tuple(runners), device=device), listing=listing
        ),
        st.sampled_from("abcd"),
        st.sets(st.sampled_from(RUNNERS)).map(sorted),
        st.one_of(st.none(), st.sampled_from([*APIS, "cuda:1"])),
        LISTINGS,
    ),
    unique_by=lambda target: target.label,
    max_size=4,
)
ENTRIES = st.lists(
    st.builds(
        lambda runner, parameters: MatrixEntry(runner=runner, parameters=parameters),
        st.sampled_from(RUNNERS),
        st.dictionaries(st.sampled_from("xy"), st.integers(0, 2)),
    ),
    min_size=1,
    max_size=4,
)


@st.composite
def requests(draw):
    named = tuple(draw(st.lists(st.sampled_from([*APIS, "cpu:1"]), unique=True, max_size=3)))
    targets = tuple(draw(TARGETS))
    pairs = st.tuples(st.sampled_from([target.label for target in targets] or ["a"]), st.sampled_from(APIS))
    return PlanRequest(
        matrix=Matrix(schema=1, name="m", manifests=("*",), devices=named, entry=tuple(draw(ENTRIES))),
        targets=targets,
        host="here",
        effort="quick",
        runners={"probe": RunnerFacts(needs_device=False)},
        absent=dict.fromkeys(draw(st.sets(pairs)), (Outcome.UNAVAILABLE, "not here")),
    )


def changed(request, **fields):
    values = {name: getattr(request, name) for name in request.__dataclass_fields__}
    return PlanRequest(**{**values, **fields})


@given(requests())
def test_a_plan_is_deterministic_without_duplicates_and_leaves_no_target_out(request):
    made = plan(request)
    assert made == plan(request)
    idents = [cell.id for cell in made.cells]
    assert len(set(idents)) == len(idents)
    for target in request.targets:
        for entry in request.matrix.entry:
            if entry.runner in target.manifest.runners:
                assert any((cell.label, cell.runner) == (target.label, entry.runner) for cell in made.cells)
    assert all(cell.reason for cell in made.cells if cell.refusal)


@given(requests(), st.sets(st.sampled_from("abcd")))
def test_selecting_targets_selects_cells(request, names):
    some = tuple(target for target in request.targets if target.label in names)
    assert plan(changed(request, targets=some)).cells == tuple(
        cell for cell in plan(request).cells if cell.label in names
    )


@given(requests(), st.data())
def test_a_filter_by_devices_that_the_matrix_names_selects_cells(request, data):
    named = request.matrix.devices
    wanted = tuple(data.draw(st.lists(st.sampled_from(named), min_size=1, unique=True))) if named else ("cpu",)
    if not named:
        request = changed(request, matrix=request.matrix.model_copy(update={"devices": wanted}))
    kept = [
        cell.id
        for cell in plan(request).cells
        if {cell.device_asked, *((cell.device.id, cell.device.api) if cell.device else ())} & set(wanted)
    ]
    assert [cell.id for cell in plan(changed(request, devices=wanted)).cells] == kept


COMPLETED = st.builds(
    lambda code, signal, timed_out, started: Completed(("x",), code, signal, timed_out, started),
    st.one_of(st.none(), st.integers(0, 255)),
    st.one_of(st.none(), st.integers(1, 70)),
    st.booleans(),
    st.booleans(),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@given(COMPLETED, st.one_of(st.none(), st.text(), JSON.map(json.dumps)), st.text(), st.text())
def test_whatever_a_process_leaves_behind_there_is_an_outcome_that_can_be_stored(completed, text, log, problem):
    cell = Cell(id="c1", manifest="m", variant="default", runner="r")
    result = classify(Evidence(completed, text, problem, log), cell)
    assert result.outcome is not Outcome.PASSED
    assert "\n" not in result.reason
    assert CellResult.model_validate_json(result.model_dump_json(by_alias=True)) == result


FIELDS = ("status", "error", "backend", "device", "samples", "outputs", "metrics", "checks", "first_call", "versions")


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_a_report_of_any_content_gives_an_outcome(fields):
    text = json.dumps({"protocol": 1, "cell": "c1", "status": "ok", **fields})
    cell = Cell(id="c1", manifest="m", variant="default", runner="r")
    assert classify(Evidence(Completed(("x",), 0), text), cell).outcome in Outcome
