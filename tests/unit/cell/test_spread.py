"""Plans of several hosts as one."""

from collections import Counter

import pytest

from envmgr.cell.identity import identity_of
from envmgr.cell.spread import Homes, answering, key_of, spread
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome


def cell(host, manifest="one", *, device=None, asked="", refusal=None, reason="", **parameters):
    made = Cell(
        id="",
        manifest=manifest,
        variant="default",
        runner="answer",
        host=host,
        device=Device(id=device, api=device.partition(":")[0]) if device else None,
        device_asked=asked,
        parameters=parameters,
        group=f"answer {sorted(parameters.items())}",
        refusal=refusal,
        reason=reason,
    )
    return made.model_copy(update={"id": identity_of(made)})


def plan(host, *cells):
    return Plan(matrix="quick", effort="quick", processes=1, host=host, cells=cells)


def no(host, manifest="one", asked="", outcome=Outcome.UNAVAILABLE):
    return cell(host, manifest, asked=asked, refusal=outcome, reason=f"not on {host}")


def test_a_cell_is_measured_once_and_its_hosts_are_known():
    found = spread([plan("a", cell("a")), plan("b", cell("b"))])
    (only,) = found.plan.cells
    assert only.host in {"a", "b"}
    assert found.fits[key_of(only)] == {"a", "b"}
    assert found.plan.host == "a, b"


def test_work_is_shared_out_evenly_and_what_is_compared_stays_together():
    names = ("x", "y")
    plans = [plan(host, *(cell(host, name, n=n) for n in range(10) for name in names)) for host in ("a", "b")]
    cells = spread(plans).plan.cells
    assert Counter(each.host for each in cells) == {"a": 10, "b": 10}
    for n in range(10):
        assert len({each.host for each in cells if each.parameters == {"n": n}}) == 1


def test_what_one_host_refuses_and_another_runs_is_no_refusal():
    found = spread(
        [
            plan("m1", cell("m1", device="mps:0"), no("m1", "two")),
            plan("pc", no("pc", asked="mps"), cell("pc", "two", device="cpu")),
        ]
    )
    assert [(each.name, each.host) for each in found.plan.cells] == [
        ("one/answer/mps:0", "m1"),
        ("two/answer/cpu", "pc"),
    ]


def test_what_every_host_refuses_is_refused_once_with_all_their_words():
    (only,) = spread([plan("a", no("a")), plan("b", no("b"))]).plan.cells
    assert only.refusal is Outcome.UNAVAILABLE
    assert only.host == ""
    assert only.reason == "no host of the fleet can have it: a: not on a; b: not on b"


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.BUILD_FAILED])
def test_a_failure_outweighs_what_hosts_merely_lack(outcome):
    (only,) = spread([plan("a", no("a")), plan("b", no("b", outcome=outcome))]).plan.cells
    assert only.refusal is outcome


def test_the_cells_of_a_spread_have_ids_of_their_own():
    cells = spread([plan("a", cell("a", n=1), no("a", "two")), plan("b", cell("b", n=2), no("b", "two"))]).plan.cells
    assert len({each.id for each in cells}) == len(cells) == 3


def test_a_further_host_answers_what_all_others_refuse_and_nothing_else():
    refused = [no("a", "two"), no("a", "three", asked="mps")]
    known = plan("a", cell("a"), *refused)
    further = plan("c", cell("c"), cell("c", "two"), cell("c", "three", device="mps:0"), no("c", "three", asked="cuda"))
    cells, answered = answering([further], known)
    assert [(each.manifest, each.host) for each in cells] == [("two", "c"), ("three", "c")]
    assert set(answered) == {each.id for each in refused}
    assert answering([plan("c", cell("c"))], known) == ((), ())


def test_a_cell_is_taken_over_by_one_host_and_all_its_processes_are_measured_there():
    homes, one = Homes(), cell("a")
    able = frozenset("abc")
    assert homes.of(one, set("abc"), able) == {"a"}
    assert homes.of(one, set("bc"), able) == {"b", "c"}
    homes.send(one, "c")
    assert homes.of(one, set("bc"), able) == {"c"}
    assert homes.of(one, set("b"), able) == {"b"}
    homes.keep(one, "c")
    assert homes.of(one, set("abc"), able) == {"c"}
    assert homes.of(one, set("ab"), able) == set()


def test_a_cell_of_an_earlier_part_of_a_run_stays_where_it_was_measured():
    homes, one = Homes({cell("a").id: "b"}), cell("a")
    assert homes.has_results(one)
    assert not homes.has_results(cell("a", "two"))
    assert homes.of(one, set("ab"), frozenset("ab")) == {"b"}
