from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest

from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Extension, RunRecord
from envmgr.store.results import FileStore, new_run_id
from envmgr.system.files import RealFiles
from envmgr.system.owned import owned_name

RUN = "20260101T000000Z-aaaaaa"


def record():
    cells = (Cell(id="c1", manifest="m", variant="default", runner="r"),)
    plan = Plan(matrix="quick", effort="quick", processes=1, host="here", cells=cells)
    return RunRecord(id=RUN, started_at="2026-01-01T00:00:00+00:00", host="here", envmgr="0.1.0", plan=plan)


def result(cell):
    return CellResult(cell=cell, outcome=Outcome.PASSED)


@pytest.fixture
def store(tmp_path):
    made = FileStore(tmp_path / "runs", RealFiles(tmp_path / "scratch"))
    made.begin(record())
    made.append(RUN, result("c1"))
    made.append(RUN, result("c2"))
    return made


@pytest.fixture
def place(tmp_path):
    return tmp_path / "runs" / RUN


def test_run_ids_sort_by_time_and_differ_within_a_second():
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    one, other = new_run_id(now), new_run_id(now)
    assert one.startswith("20260102T010405Z-")
    assert one != other
    assert new_run_id(datetime(2025, 12, 31, tzinfo=UTC)) < one


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "\x00\xff", '{"schema": 1}', '{"schema": 1, "cell": "c1", "outcome": "x"}']
)
def test_a_damaged_result_is_named_and_the_rest_is_shown(store, place, text):
    (place / "results" / "c1-0.json").write_text(text, encoding="utf-8")
    run = store.load(RUN)
    assert [one.cell for one in run.results] == ["c2"]
    assert len(run.damaged) == 1
    assert run.damaged[0].startswith("c1-0.json: damaged: ")


def test_half_a_result_is_damaged(store, place):
    file = place / "results" / "c1-0.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: len(text) // 2], encoding="utf-8")
    assert store.load(RUN).damaged[0].startswith("c1-0.json: damaged: Invalid JSON")


def test_a_result_of_a_newer_envmgr_is_left_out_with_the_reason(store, place):
    (place / "results" / "c1-0.json").write_text('{"schema": 2, "anything": 1}', encoding="utf-8")
    assert store.load(RUN).damaged == ("c1-0.json: wanted schema 1 or older, found 2",)


def test_a_run_of_a_newer_envmgr_is_an_error_with_a_hint(store, place):
    (place / "run.json").write_text('{"schema": 2}', encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        store.load(RUN)
    assert caught.value.why == "wanted schema 1 or older, found 2"
    assert "update" in caught.value.hint


def test_a_damaged_head_is_an_error_that_names_the_file(store, place):
    (place / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        store.load(RUN)
    assert str(place / "run.json") in caught.value.hint


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\x00b", "x" * 300])
def test_a_name_does_not_lead_out_of_the_store(store, name):
    for act in (store.load, lambda text: store.log_path(RUN, text, 0), lambda text: store.append(RUN, result(text))):
        with pytest.raises(StoreError):
            act(name)


def test_what_is_no_run_is_not_listed(store, place):
    (place.parent / "notes.txt").write_text("mine", encoding="utf-8")
    (place.parent / "empty").mkdir()
    assert store.names() == (RUN,)


def test_of_two_who_append_the_same_result_one_is_refused(store):
    def append(_):
        try:
            store.append(RUN, result("c9"))
        except StoreError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(append, range(8))) == 1


def test_the_next_run_sweeps_what_killed_writers_left_in_earlier_ones_and_nothing_of_living_ones(
    store, place, tmp_path
):
    dead = ".finished.{host}.999999999.0123abcd.part"
    host = owned_name("x").split(".")[1]
    left = [place / dead.format(host=host), place / "results" / dead.format(host=host)]
    living = place / owned_name(".finished", ".part")
    elsewhere = place / dead.format(host="another-box")
    for path in (*left, living, elsewhere):
        path.write_text("half")
    later = FileStore(tmp_path / "runs", RealFiles(tmp_path / "scratch"))
    later.begin(record().model_copy(update={"id": "20260102T000000Z-bbbbbb"}))
    assert [path.exists() for path in (*left, living, elsewhere)] == [False, False, True, True]


def test_hosts_that_join_later_add_to_the_head_and_what_they_answer_is_no_longer_refused(store, place):
    def cell(name, host):
        return Cell(id=name, manifest="m", variant="default", runner="r", host=host)

    store.extend(RUN, Extension(host="mac", identity="3f2a", cells=(cell("c3", "mac"),), answered=("c1",)))
    store.extend(RUN, Extension(host="rack", cells=(cell("c4", "rack"),), answered=("c3",)))
    for head in (store.head(RUN), store.load(RUN).record):
        assert [each.id for each in head.plan.cells] == ["c4"]
        assert (head.host, head.plan.host) == ("here, mac, rack", "here, mac, rack")
        assert head.identities == {"mac": "3f2a", "rack": ""}
    (place / "extensions" / "0001.json").write_text("{")
    run = store.load(RUN)
    assert [each.id for each in run.record.plan.cells] == ["c3"]
    assert run.damaged[0].startswith("0001.json: damaged")
