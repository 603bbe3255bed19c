"""What every store keeps: the store on disk, and the one in memory that tests of other rooms use."""

import pytest

from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report, Run, RunRecord
from envmgr.store.results import FileStore
from envmgr.system.files import RealFiles


class MemoryStore:
    def __init__(self, folder):
        self._folder = folder
        self._runs = {}

    def begin(self, record):
        if record.id in self._runs:
            raise StoreError(f"run {record.id} exists already")
        self._runs[record.id] = Run(record=record, results=())

    def append(self, run, result):
        known = self.load(run)
        if any((one.cell, one.round) == (result.cell, result.round) for one in known.results):
            raise StoreError("there is such a result already")
        results = tuple(sorted((*known.results, result), key=lambda one: (one.cell, one.round)))
        self._runs[run] = known.model_copy(update={"results": results})

    def finish(self, run):
        self._runs[run] = self.load(run).model_copy(update={"finished": True})

    def names(self):
        return tuple(sorted(self._runs))

    def load(self, run):
        if run not in self._runs:
            raise StoreError(f"there is no run {run}")
        return self._runs[run]

    def head(self, run):
        return self.load(run).record

    def log_path(self, run, cell, round_number):
        return self._folder / run / "logs" / f"{cell}-{round_number}.log"


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    folder = tmp_path / "runs"
    return FileStore(folder, RealFiles(tmp_path / "scratch")) if request.param == "disk" else MemoryStore(folder)


def record(name="20260101T000000Z-aaaaaa"):
    cell = Cell(id="c1", manifest="m", variant="default", runner="r")
    plan = Plan(matrix="quick", effort="quick", processes=1, host="here", cells=(cell,))
    return RunRecord(id=name, started_at="2026-01-01T00:00:00+00:00", host="here", envmgr="0.1.0", plan=plan)


def result(cell="c1", round_number=0):
    report = Report(
        protocol=1,
        cell=cell,
        status="ok",
        samples=(0.5, 0.25),
        outputs={"y": Output(shape=(3,), values=("nan", "-inf", 0.1))},
    )
    return CellResult(cell=cell, round=round_number, outcome=Outcome.WRONG, reason="é\u2028\x1b[31m", report=report)


def test_what_is_appended_is_read_back_in_the_order_of_cells_and_rounds(store):
    head = record()
    store.begin(head)
    for one in (result("c2"), result("c1", 1), result("c1")):
        store.append(head.id, one)
    run = store.load(head.id)
    assert run.record == head
    assert [(one.cell, one.round) for one in run.results] == [("c1", 0), ("c1", 1), ("c2", 0)]
    assert run.results[0].model_dump_json() == result().model_dump_json()
    assert not run.finished
    assert run.damaged == ()
    store.finish(head.id)
    assert store.load(head.id).finished


def test_nothing_is_overwritten(store):
    head = record()
    store.begin(head)
    store.append(head.id, result())
    with pytest.raises(StoreError, match="already"):
        store.append(head.id, result())
    with pytest.raises(StoreError, match="already"):
        store.begin(head)


def test_names_are_sorted(store):
    for name in ("20260102T000000Z-a", "20260101T000000Z-b"):
        store.begin(record(name))
    assert store.names() == ("20260101T000000Z-b", "20260102T000000Z-a")


def test_an_unknown_run_is_an_error(store):
    assert store.names() == ()
    for act in (store.load, store.finish, lambda run: store.append(run, result())):
        with pytest.raises(StoreError, match="no run"):
            act("20260101T000000Z-a")


def test_a_log_has_a_place_of_its_own_in_the_run(store):
    places = {store.log_path("r1", "c1", number) for number in range(3)}
    assert len(places) == 3
    assert all(place.parent.parent.name == "r1" for place in places)


def test_a_head_is_what_the_run_began_with(store):
    store.begin(record())
    store.append(record().id, result())
    assert store.head(record().id) == record()
    with pytest.raises(StoreError):
        store.head("20990101T000000Z-none")


def test_a_damaged_result_is_put_aside_when_its_cell_is_measured_again(tmp_path):
    store, head = FileStore(tmp_path / "runs", RealFiles(tmp_path / "scratch")), record()
    store.begin(head)
    store.append(head.id, result())
    place = tmp_path / "runs" / head.id / "results" / "c1-0.json"
    place.write_text('{"x')
    store.append(head.id, result())
    assert store.load(head.id).results == (result(),)
    assert place.with_name("c1-0.json.damaged").read_text() == '{"x'
    place.write_text('{"schema": 99}')
    with pytest.raises(StoreError, match="already"):
        store.append(head.id, result())
