"""A run with one cell of most kinds, judged and summed up, and the golden files that its reports are held against."""

from pathlib import Path

import pytest

from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Device, Env
from envmgr.model.host import Interpreter
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, JudgedCell, Output, Parity, Report, Run, RunnerCheck, RunRecord
from envmgr.model.summary import Summary

PARAMETERS = {"model": "tiny", "batch-size": 8, "batches": 3}
NOT_FINITE = "output 'probabilities' is not finite: 56 of 80 numbers (first at row 1)"
HOSTILE = "RuntimeError: \x1b]0;owned\x07[red]<b>|*x*\u202e`rm`"
INTERPRETER = Interpreter(executable="/pythons/3.11/bin/python3.11", version="3.11.7", arch="x86_64", system="linux")


def cell(ident, manifest, device=None, api="", runner="keras_inference", **fields):
    made = Device(id=device, api=api, physical="Xeon") if device else None
    parameters = fields.pop("parameters", PARAMETERS)
    return Cell(
        id=ident,
        manifest=manifest,
        runner=runner,
        device=made,
        host="box",
        parameters=parameters,
        **{"variant": "default", **fields},
    )


def measured(ident, *samples, outcome=Outcome.PASSED, reason="", metrics=None, first=1.25, **fields):
    report = Report(
        protocol=1,
        cell=ident,
        status="ok",
        first_call=first,
        samples=samples,
        items_per_sample=64,
        metrics=metrics or {},
        notes=("synthetic images",),
        outputs={"logits": Output(shape=(1,), values=("nan",))},
        checks=(RunnerCheck(name="x", passed=True, wanted=float("inf")),),
    )
    log = f"logs/{ident}-0.log"
    return CellResult(cell=ident, outcome=outcome, reason=reason, report=report, log=log, **fields)


def summary(*samples, first=1.25):
    middle = sorted(samples)[len(samples) // 2]
    total = tuple(sum(samples[: count + 1]) for count in range(len(samples)))
    return Summary(
        processes=1,
        samples=len(samples),
        first_call=first,
        median=middle,
        spread=middle / 50,
        minimum=min(samples),
        maximum=max(samples),
        throughput=8 / middle,
        cumulative=total,
        peak_memory=312_000_000,
    )


def disagreeing(reference):
    return Parity(reference=reference, max_abs="inf", max_rel=0.0123, share_off=0.25, verdict="disagrees", worst="off")


JUDGED = (
    JudgedCell(
        cell=cell("a1", "keras-jax", "cpu:0", "cpu", reference_rank=0),
        outcome=Outcome.PASSED,
        observed=Outcome.PASSED,
        results=(measured("a1", 0.004, 0.003, 0.005),),
        parity=Parity(reference="a1", max_abs=0, max_rel=0, share_off=0, verdict="not-compared"),
    ),
    JudgedCell(
        cell=cell("a2", "plaidml-0.7.0", "llvm_cpu.0", "llvm", variant="py3.8", python="3.8.18"),
        outcome=Outcome.PASSED,
        observed=Outcome.PASSED,
        results=(measured("a2", 0.02, 0.03, 0.016),),
        parity=Parity(reference="a1", max_abs=1e-6, max_rel=2.5e-6, share_off=0, verdict="agrees"),
    ),
    JudgedCell(
        cell=cell("a3", "plaidml-0.6.4", "llvm_cpu.0", "llvm"),
        outcome=Outcome.XFAIL,
        observed=Outcome.WRONG,
        expected=Outcome.WRONG,
        phase=Phase.CHECK,
        reason=NOT_FINITE,
        results=(measured("a3", 0.001, 0.001, 0.002, outcome=Outcome.WRONG, reason=NOT_FINITE),),
        parity=disagreeing("a1"),
    ),
    JudgedCell(
        cell=cell("a4", "keras-2.2.4-tensorflow-1.13", "CPU:0", "cpu"),
        outcome=Outcome.FAILED,
        observed=Outcome.FAILED,
        unexpected=True,
        phase=Phase.IMPORT,
        reason=HOSTILE,
        results=(CellResult(cell="a4", outcome=Outcome.FAILED, phase=Phase.IMPORT, reason=HOSTILE),),
    ),
    *(
        JudgedCell(
            cell=cell(ident, name, device_asked=asked),
            outcome=Outcome.UNAVAILABLE,
            observed=Outcome.UNAVAILABLE,
            phase=Phase.BACKEND,
            reason=f"{asked.upper()} needs macOS; this is linux",
        )
        for ident, name, asked in (
            ("a5", "keras-torch", "mps"),
            ("a6", "torch-cpu", "mps"),
            ("a7", "plaidml-0.7.0", "metal"),
        )
    ),
    JudgedCell(
        cell=cell("b1", "torch-cpu", "cpu", "cpu", "torch_mnist", parameters={"epochs": 2}),
        outcome=Outcome.PASSED,
        observed=Outcome.PASSED,
        results=(measured("b1", 1.0, 2.0, 3.0, first=4.0, metrics={"accuracy": 0.981, "loss": ("nan", 0.5)}),),
    ),
    JudgedCell(
        cell=cell("b2", "torch-cpu", "mps", "mps", "torch_mnist", parameters={"epochs": 2}),
        outcome=Outcome.PASSED,
        observed=Outcome.PASSED,
        results=(measured("b2", 0.25, 0.25, 0.25, first=0.25),),
    ),
    JudgedCell(
        cell=cell("b3", "torch-nightly", "cpu", "cpu", "torch_mnist", parameters={"epochs": 2}),
        outcome=Outcome.SKIPPED,
        observed=None,
        reason="not measured",
    ),
)


@pytest.fixture
def judged():
    return JUDGED


@pytest.fixture
def summaries():
    made = {one.cell.id: Summary(processes=0, samples=0) for one in JUDGED}
    for one in JUDGED:
        for result in one.results:
            if result.report:
                made[one.cell.id] = summary(*result.report.samples, first=result.report.first_call)
    return made


@pytest.fixture
def run():
    cells = tuple(one.cell for one in JUDGED)
    plan = Plan(matrix="quick", effort="quick", processes=1, host="box", cells=cells)
    env = Env(
        key="k",
        manifest="keras-jax",
        variant="default",
        path="/envs/k",
        python="/envs/k/bin/python",
        interpreter=INTERPRETER,
        lock_digest="d",
        resolved={"keras": "3.12.0"},
    )
    record = RunRecord(
        id="20260102T030405Z-abcdef",
        started_at="2026-01-02T03:04:05+00:00",
        command=("envmgr", "matrix", "run"),
        host="box",
        envmgr="0.1.0",
        plan=plan,
        envs={"keras-jax": env},
    )
    results = tuple(result for one in JUDGED for result in one.results)
    return Run(record=record, results=results, finished=False, damaged=("c9-0.json: damaged: no JSON",))


@pytest.fixture
def golden():
    """Hold a text against a golden file."""
    folder = Path(__file__).parent / "golden"

    def compare(name, text):
        assert text == (folder / name).read_text(encoding="utf-8")

    return compare
