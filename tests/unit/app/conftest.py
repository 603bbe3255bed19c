"""A project with stored runs, made from a short description: no env is built and nothing is measured."""

import random

import pytest

from envmgr.app.workplace import Workplace
from envmgr.model.cell import Cell, Plan
from envmgr.model.conditions import Conditions
from envmgr.model.env import Device, Env
from envmgr.model.host import Interpreter
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report, RunRecord

RUNNER = """\
# /// script
# requires-python = ">=3.6"
#
# [tool.envmgr]
# needs-device = true
#
# [tool.envmgr.parameters]
# batches = 3
# ///
"""


def made_cell(name, host="box", outcome=None, device="cpu:0"):
    return Cell(
        id=f"{name}-{host}",
        manifest=name,
        variant="default",
        python="3.11.7",
        runner="speed",
        device=Device(id=device, api=device.split(":")[0], physical="Xeon"),
        parameters={"batches": 3},
        host=host,
        group="speed",
        reference_rank=0 if name == "alpha" else None,
        refusal=outcome,
        reason="it is not to be had here" if outcome else "",
    )


def made_result(cell, number, seconds, **fields):
    samples = tuple(seconds * (1 + place / 1000) for place in range(3))
    report = Report(
        protocol=1,
        cell=cell.id,
        status="ok",
        first_call=20 * seconds,
        samples=samples,
        items_per_sample=8,
        outputs={"logits": Output(shape=(2,), values=(1.0, fields.pop("answer", 2.0)))},
    )
    return CellResult(
        cell=cell.id, round=number, outcome=Outcome.PASSED, report=report, log=f"logs/{cell.id}-{number}.log", **fields
    )


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "manifests" / "matrices").mkdir(parents=True)
    (tmp_path / "runners").mkdir()
    (tmp_path / "runners" / "speed.py").write_text(RUNNER)
    monkeypatch.setenv("ENVMGR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ENVMGR_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def workplace(project):
    return Workplace(project)


@pytest.fixture
def store_run(workplace):
    """Store a run: `speeds` maps version sets to seconds (a number, or one a process); returns its id."""

    def store(name, speeds, *, host="box", processes=10, noise=0.005, matrix="quick", **fields):
        draw = random.Random(name)
        cells = {each: made_cell(each, host, fields.get("refused", {}).get(each)) for each in speeds}
        plan = Plan(matrix=matrix, effort="default", processes=processes, host=host, cells=tuple(cells.values()))
        interpreter = Interpreter(executable="/p/bin/python3.11", version="3.11.7", arch="x86_64", system="linux")
        envs = {
            each: Env(
                key="k",
                manifest=each,
                variant="default",
                path="/envs/k",
                python="/envs/k/bin/python",
                interpreter=interpreter,
                lock_digest="d",
                resolved={"keras": "3.12.0", "numpy": "2.1.0"},
            )
            for each in speeds
        }
        record = RunRecord(
            id=name,
            started_at="2026-01-02T03:04:05+00:00",
            purpose=fields.get("purpose", "matrix"),
            host=host,
            identities=fields.get("identities", {}),
            envmgr="0.1.0",
            plan=plan,
            envs=envs,
        )
        workplace.store.begin(record)
        for each, seconds in speeds.items():
            if cells[each].refusal:
                continue
            listed = seconds if isinstance(seconds, list) else [seconds] * processes
            for number, value in enumerate(listed):
                result = made_result(
                    cells[each],
                    number,
                    value * (1 + draw.gauss(0, noise)),
                    answer=fields.get("answers", {}).get(each, 2.0),
                    conditions=fields.get("conditions", {}).get(each, Conditions(cores=2, others=0.01)),
                )
                workplace.store.append(name, result)
        workplace.store.finish(name)
        return name

    return store
