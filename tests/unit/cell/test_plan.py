import pytest

from envmgr.cell.plan import named_devices, plan, refusal_of
from envmgr.cell.request import PlanRequest, Refusal, RunnerFacts, TargetFacts
from envmgr.model.env import Device, DeviceListing
from envmgr.model.host import Match
from envmgr.model.manifest import Expect, Manifest, Matrix, MatrixEntry
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.platform import Platform

LLVM = Device(id="llvm_cpu.0", api="llvm")
OPENCL = Device(id="opencl_cpu.0", api="opencl", experimental=True)
CPU = Device(id="CPU:0", api="cpu")


def manifest(name="plaidml-0.7.0", **fields):
    defaults = {"schema": 1, "python": ">=3.7", "backend": "plaidml", "runners": ("keras_inference",)}
    return Manifest(name=name, **(defaults | fields))


def target(*devices, name="plaidml-0.7.0", error="", variant="default", refusal=None, **fields):
    made = manifest(name, **fields)
    listing = None if refusal else DeviceListing(backend=made.backend or "", devices=devices, error=error)
    return TargetFacts(made, variant, "3.8.18", Platform.LINUX_X86_64, refusal, listing)


def request(*targets, entry=None, devices=(), matched=None, absent=None, runners=None, **matrix):
    fields = {"schema": 1, "name": "quick", "manifests": ("*",)}
    entries = entry or (MatrixEntry(runner="keras_inference", parameters={"model": "tiny"}),)
    return PlanRequest(
        matrix=Matrix(entry=entries, **(fields | matrix)),
        targets=targets,
        host="here",
        effort="quick",
        devices=devices,
        matched=matched or {},
        absent=absent or {},
        runners=runners or {},
    )


def shape(made):
    return [(cell.label, cell.runner, cell.device_name, cell.refusal) for cell in made.cells]


def test_every_device_of_the_env_gets_a_cell():
    made = plan(request(target(LLVM, OPENCL)))
    assert shape(made) == [
        ("plaidml-0.7.0", "keras_inference", "llvm_cpu.0", None),
        ("plaidml-0.7.0", "keras_inference", "opencl_cpu.0", None),
    ]
    assert made.cells[0].device == LLVM
    assert made.host == "here"
    assert len({cell.id for cell in made.cells}) == 2


def test_a_matrix_names_devices_for_the_backends_that_know_them():
    absent = {("keras-torch", "mps"): (Outcome.UNAVAILABLE, "MPS needs macOS; this is Linux")}
    asked = PlanRequest(
        matrix=Matrix(
            schema=1, name="m", manifests=("*",), devices=("mps",), entry=(MatrixEntry(runner="keras_inference"),)
        ),
        targets=(target(CPU, name="keras-torch"), target(LLVM)),
        host="here",
        effort="quick",
        absent=absent,
    )
    made = plan(asked)
    assert shape(made) == [
        ("keras-torch", "keras_inference", "CPU:0", None),
        ("keras-torch", "keras_inference", "mps", Outcome.UNAVAILABLE),
        ("plaidml-0.7.0", "keras_inference", "llvm_cpu.0", None),
    ]
    assert made.cells[1].reason == "MPS needs macOS; this is Linux"
    assert made.cells[1].phase is Phase.BACKEND
    assert made.cells[1].device is None


def test_a_name_by_api_asks_for_nothing_new_when_a_device_of_that_api_is_there():
    assert shape(plan(request(target(LLVM, device="llvm")))) == [
        ("plaidml-0.7.0", "keras_inference", "llvm_cpu.0", None)
    ]


def test_a_matched_device_that_is_not_listed_gets_a_cell_of_its_own():
    made = plan(request(target(LLVM, device="opencl"), matched={("plaidml-0.7.0", "opencl"): OPENCL}))
    assert [cell.device for cell in made.cells] == [LLVM, OPENCL]


def test_a_device_that_the_manifest_names_is_told_as_not_offered_even_if_nothing_is_known_of_it():
    metal = "metal_amd_radeon_pro_5300m.0"
    made = plan(request(target(LLVM, device=metal)))
    assert made.cells[1].refusal is Outcome.NOT_OFFERED
    assert made.cells[1].reason == f"plaidml does not list {metal} here; it lists: llvm_cpu.0"


def test_an_expectation_names_its_device_for_its_runner_platform_and_python_alone():
    expects = tuple(
        Expect(device=device, outcome=Outcome.WRONG, reason=".", **narrow)
        for device, narrow in [
            ("opencl_cpu.0", {}),
            ("a.0", {"runner": "other"}),
            ("b.0", {"platform": "macos-arm64"}),
            ("c.0", {"python": "3.9"}),
            ("d.0", {"python": "3.8", "platform": "linux-x86_64", "runner": "keras_inference"}),
        ]
    )
    made = plan(request(target(LLVM, expect=expects)))
    assert [cell.device_name for cell in made.cells] == ["llvm_cpu.0", "opencl_cpu.0", "d.0"]
    assert [len(cell.expect) for cell in made.cells] == [0, 1, 1]


def test_a_device_that_the_backend_will_not_open_is_refused_in_its_words():
    broken = Device(id="metal_x.0", api="metal", valid=False, detail="no such queue")
    cell = plan(request(target(broken))).cells[0]
    assert cell.refusal is Outcome.UNAVAILABLE
    assert cell.reason == "plaidml knows metal_x.0 but will not open it: no such queue"


def test_a_host_that_cannot_have_a_target_gives_one_refused_cell_a_runner():
    refusal = refusal_of(Match(reason="wanted an x86-64 interpreter, found arm64 only"))
    entries = (MatrixEntry(runner="keras_inference"), MatrixEntry(runner="device_smoke"))
    made = plan(request(target(refusal=refusal, runners=("keras_inference", "device_smoke")), entry=entries))
    assert [(cell.runner, cell.refusal, cell.phase) for cell in made.cells] == [
        ("keras_inference", Outcome.UNAVAILABLE, Phase.INTERPRETER),
        ("device_smoke", Outcome.UNAVAILABLE, Phase.INTERPRETER),
    ]
    assert refusal_of(Match()) is None


def test_cells_of_a_target_that_failed_to_build_survive_a_filter_by_device():
    broken = target(refusal=Refusal(Outcome.BUILD_FAILED, Phase.INSTALL, "no space left"))
    made = plan(request(broken, target(LLVM, name="other"), devices=("mps",)))
    assert shape(made) == [("plaidml-0.7.0", "keras_inference", "", Outcome.BUILD_FAILED)]


def test_a_runner_that_needs_no_device_gets_one_cell():
    made = plan(
        request(
            target(LLVM, OPENCL, runners=("import_probe",)),
            entry=(MatrixEntry(runner="import_probe"),),
            runners={"import_probe": RunnerFacts(needs_device=False)},
        )
    )
    assert shape(made) == [("plaidml-0.7.0", "import_probe", "", None)]


def test_an_env_whose_probe_failed_is_measured_so_that_the_runner_shows_where_it_breaks():
    made = plan(request(target(error="ModuleNotFoundError: no module named collections.Iterable")))
    assert shape(made) == [("plaidml-0.7.0", "keras_inference", "", None)]


def test_an_env_without_any_device_is_told():
    cell = plan(request(target())).cells[0]
    assert (cell.refusal, cell.reason) == (Outcome.UNAVAILABLE, "plaidml lists no device here")


def test_without_a_listing_the_devices_that_host_facts_promise_are_planned():
    facts = TargetFacts(manifest(), "py3.8", "3.8", Platform.MACOS_X86_64, assumed=(LLVM,))
    metal = ("plaidml-0.7.0@py3.8", "metal")
    made = plan(
        request(facts, devices=("metal", "llvm"), absent={metal: (Outcome.NOT_OFFERED, "reached through OpenCL")})
    )
    assert shape(made) == [
        ("plaidml-0.7.0@py3.8", "keras_inference", "llvm_cpu.0", None),
        ("plaidml-0.7.0@py3.8", "keras_inference", "metal", Outcome.NOT_OFFERED),
    ]
    unknown = TargetFacts(manifest(device="x.0"))
    assert shape(plan(request(unknown))) == [("plaidml-0.7.0", "keras_inference", "x.0", None)]
    assert shape(plan(request(TargetFacts(manifest(backend=None))))) == [("plaidml-0.7.0", "keras_inference", "", None)]


def test_a_filter_asks_for_its_devices_and_keeps_cells_on_them_alone():
    absent = {("plaidml-0.7.0", "cuda"): (Outcome.UNAVAILABLE, "no NVIDIA card")}
    both = plan(request(target(LLVM, OPENCL), devices=("opencl", "cuda"), absent=absent))
    assert [cell.device_name for cell in both.cells] == ["opencl_cpu.0", "cuda"]


@pytest.mark.parametrize(
    ("manifests", "planned"),
    [((), True), (("plaidml-0.7.0",), True), (("plaidml-0.7.0@py3.8",), True), (("x",), False)],
)
def test_an_entry_is_measured_in_the_manifests_it_names(manifests, planned):
    entry = MatrixEntry(runner="keras_inference", manifests=manifests)
    assert bool(plan(request(target(LLVM, variant="py3.8"), entry=(entry,))).cells) is planned


def test_an_entry_that_names_no_manifest_is_measured_where_the_runner_is_listed():
    assert plan(request(target(LLVM, runners=("device_smoke",)))).cells == ()


def test_processor_cells_of_trusted_manifests_are_references_in_the_order_of_the_matrix():
    made = plan(
        request(
            target(CPU, name="a", backend="jax"),
            target(CPU, Device(id="cuda:0", api="cuda"), name="b", backend="jax"),
            target(LLVM, name="c"),
            reference=("b", "a", "c"),
        )
    )
    assert [cell.reference_rank for cell in made.cells] == [1, 0, None, None]


def test_a_cell_that_needs_no_device_can_be_the_reference():
    entry, runners = (MatrixEntry(runner="import_probe"),), {"import_probe": RunnerFacts(needs_device=False)}
    targets = [target(LLVM, name=name, runners=("import_probe",)) for name in ("a", "b")]
    made = plan(request(*targets, entry=entry, runners=runners, reference=("b",)))
    assert [cell.reference_rank for cell in made.cells] == [None, 0]


def test_a_device_that_is_only_asked_for_is_no_reference():
    assert (
        plan(request(target(error="no module", device="x.0"), reference=("plaidml-0.7.0",))).cells[0].reference_rank
        is None
    )


def test_parameters_are_complete_and_the_group_leaves_out_the_neutral_ones():
    runners = {"keras_inference": RunnerFacts(defaults={"seed": 0, "batches": 10}, neutral=frozenset({"batches"}))}
    entries = tuple(
        MatrixEntry(runner="keras_inference", parameters=given)
        for given in ({"batches": 10}, {"batches": 2}, {"seed": 1}, {})
    )
    cells = plan(request(target(LLVM), entry=entries, runners=runners)).cells
    assert [cell.parameters for cell in cells] == [
        {"seed": 0, "batches": 10},
        {"seed": 0, "batches": 2},
        {"seed": 1, "batches": 10},
    ]
    assert cells[0].group == cells[1].group != cells[2].group


def test_named_devices_are_all_that_planning_asks_about():
    made = manifest(device="a", expect=(Expect(device="b", outcome=Outcome.WRONG, reason="."),))
    matrix = Matrix(
        schema=1, name="m", manifests=("*",), devices=("c", "a"), entry=(MatrixEntry(runner="r", devices=("d",)),)
    )
    assert named_devices(matrix, made, ("e",)) == ("a", "b", "c", "d", "e")
