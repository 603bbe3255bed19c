import pytest

from envmgr.cell.identity import group_of, identity_of
from envmgr.model.cell import Cell
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome

BASE = Cell(id="", manifest="m", variant="default", runner="r", parameters={"a": 1, "b": 2}, host="here")


@pytest.mark.parametrize(
    "change",
    [
        {"manifest": "n"},
        {"variant": "py3.8"},
        {"platform": "linux-x86_64"},
        {"runner": "s"},
        {"device": Device(id="cpu", api="cpu")},
        {"device_asked": "mps"},
        {"parameters": {"a": 1}},
        {"host": "there"},
    ],
)
def test_what_is_measured_and_where_makes_the_identity(change):
    assert identity_of(BASE.model_copy(update=change)) != identity_of(BASE)


def test_limits_expectations_and_the_order_of_parameters_do_not():
    same = BASE.model_copy(
        update={"timeout": 1.0, "refusal": Outcome.SKIPPED, "group": "g", "parameters": {"b": 2, "a": 1}}
    )
    assert identity_of(same) == identity_of(BASE)
    assert len(identity_of(BASE)) == 10


def test_a_group_leaves_out_neutral_parameters():
    assert group_of("r", {"seed": 0, "batches": 3}, frozenset({"batches"})) == group_of("r", {"seed": 0}, frozenset())
    assert group_of("r", {"seed": 0}, frozenset()) != group_of("s", {"seed": 0}, frozenset())
