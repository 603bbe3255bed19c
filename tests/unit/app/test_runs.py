"""Which run a user means, also when the latest is damaged."""

import pytest

from envmgr.app.matrix import load_run, logs_of
from envmgr.app.merging import runs_of
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.ports import Listener

OLD, NEW, NEWEST = "20260101T000000Z-a", "20260102T000000Z-b", "20260103T000000Z-c"


class Ear(Listener):
    def __init__(self):
        self.heard = []

    def on_event(self, event):
        self.heard.append(f"{event.stage} {event.subject} {event.detail}")


@pytest.fixture
def damaged(workplace, store_run):
    """Three runs, the heads of the two latest of which cannot be read."""
    for name in (OLD, NEW, NEWEST):
        store_run(name, {"alpha": 1.0}, processes=1)
    for name in (NEW, NEWEST):
        (workplace.project.runs / name / "run.json").write_text('{"schema": 1, "id"')
    return workplace


def test_a_damaged_latest_run_is_named_and_the_next_one_is_used(damaged, project):
    ear = Ear()
    assert stored_run(Workplace(project, ear)).record.id == OLD
    assert [line.split(": ")[0] for line in ear.heard] == [f"warning run {each} left out" for each in (NEWEST, NEW)]
    assert "damaged" in ear.heard[0]
    assert load_run(damaged, "latest").record.id == OLD
    assert logs_of(damaged, "alpha")[0].cell.startswith("alpha")
    shown = runs_of(damaged)
    assert shown.record.id == OLD
    assert [text.partition(":")[0] for text in shown.damaged] == [f"run {NEWEST}", f"run {NEW}"]


def test_a_damaged_run_that_is_named_is_an_error(damaged):
    with pytest.raises(StoreError, match=r"run\.json of a run cannot be read"):
        stored_run(damaged, NEWEST)


def test_where_no_run_can_be_read_the_latest_says_why(damaged):
    (damaged.project.runs / OLD / "run.json").write_text("")
    with pytest.raises(StoreError) as caught:
        stored_run(damaged)
    assert NEWEST in caught.value.hint


def test_what_a_bisection_has_measured_is_never_the_latest_but_can_be_named(workplace, store_run):
    store_run(OLD, {"alpha": 1.0}, processes=1)
    store_run(NEW, {"alpha": 1.0}, processes=1, purpose="bisect")
    assert stored_run(workplace).record.id == OLD
    assert runs_of(workplace).record.id == OLD
    assert stored_run(workplace, NEW).record.purpose == "bisect"


def test_where_only_bisections_have_run_there_is_no_latest(workplace, store_run):
    store_run(NEW, {"alpha": 1.0}, processes=1, purpose="bisect")
    with pytest.raises(StoreError, match="there is no run yet"):
        stored_run(workplace)


def test_where_there_is_no_run_that_is_said(workplace):
    with pytest.raises(StoreError, match="there is no run yet"):
        stored_run(workplace)
