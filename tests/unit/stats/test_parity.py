import math

import pytest

from envmgr.model.cell import Cell
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report
from envmgr.stats.parity import compare, parities_of, reference_of, scale_of

REFERENCE = Cell(id="ref", manifest="keras-jax", variant="default", runner="r", reference_rank=0, group="g")


def outputs(*values, name="logits", shape=None):
    return {name: Output(shape=shape or (len(values),), values=values)}


def compared(found, wanted, tolerance=1e-3):
    return compare(found, wanted, REFERENCE, tolerance)


def test_float_noise_agrees():
    parity = compared(outputs(1.0, 2.0 + 1e-6), outputs(1.0, 2.0))
    assert (parity.verdict, parity.share_off, parity.worst) == ("agrees", 0.0, "")
    assert parity.max_abs == pytest.approx(1e-6)
    assert parity.max_rel == pytest.approx(1e-6 / math.sqrt(2.5))


def test_a_disagreement_names_tensor_row_number_and_both_values():
    wanted = outputs(*[1.0] * 8, shape=(4, 2))
    found = outputs(*[1.0] * 5, 1.012, 1.0, 1.1, shape=(4, 2))
    parity = compared(found, wanted)
    assert parity.verdict == "disagrees"
    assert parity.share_off == 0.25
    assert parity.worst == (
        "output 'logits' disagrees with keras-jax/r: largest relative error 1.0e-01 (tolerance 1e-03), "
        "25 % of numbers off, first at row 2, number 1: 1.012 instead of 1"
    )


def test_errors_are_measured_by_the_size_of_the_whole_tensor():
    # 1e-4 beside numbers of size 1 is noise, however large it is beside a number that happens to be 1e-5.
    assert compared(outputs(1.0, 1.1e-4), outputs(1.0, 1e-5)).verdict == "agrees"
    assert compared(outputs(1.1e-4), outputs(1e-5)).verdict == "disagrees"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_disagrees_even_with_itself(number):
    for found, wanted in ((number, 1.0), (1.0, number), (number, number)):
        parity = compared(outputs(1.0, found), outputs(1.0, wanted))
        assert (parity.verdict, parity.max_rel, parity.share_off) == ("disagrees", math.inf, 0.5)


def test_missing_outputs_and_other_shapes_disagree_and_what_the_reference_lacks_is_ignored():
    wanted = {**outputs(1.0, 2.0), **outputs(3.0, name="loss")}
    missing = compared(outputs(3.0, name="loss"), wanted)
    assert missing.worst == "output 'logits' disagrees with keras-jax/r: it is missing"
    assert missing.share_off == pytest.approx(2 / 3)
    other = compared({**wanted, **outputs(1.0, 2.0, shape=(2, 1))}, wanted)
    assert other.worst == "output 'logits' disagrees with keras-jax/r: it has shape 2 x 1 instead of 2"
    assert compared({**wanted, **outputs(9.0, name="extra")}, wanted).verdict == "agrees"


def test_a_tensor_of_zeros_is_compared_absolutely():
    assert scale_of([0.0, 0.0]) == 1.0
    assert compared(outputs(1e-4), outputs(0.0)).verdict == "agrees"
    assert compared(outputs(1e-2), outputs(0.0)).verdict == "disagrees"


def test_all_numbers_off_is_a_hundred_per_cent():
    assert "100 % of numbers off" in compared(outputs(2.0, 2.0), outputs(1.0, 1.0)).worst


def test_the_reference_is_the_one_of_the_lowest_rank_the_first_of_equals():
    cells = [
        REFERENCE.model_copy(update={"id": str(i), "reference_rank": rank}) for i, rank in enumerate([None, 2, 1, 1])
    ]
    assert reference_of(cells).id == "2"
    assert reference_of(cells[:1]) is None
    assert reference_of([]) is None


def cell(ident, rank=None, group="g"):
    return REFERENCE.model_copy(update={"id": ident, "reference_rank": rank, "group": group})


def result(ident, *values, outcome=Outcome.PASSED, round_number=0):
    report = Report(protocol=1, cell=ident, status="ok", outputs=outputs(*values) if values else {})
    return CellResult(cell=ident, round=round_number, outcome=outcome, report=report)


def verdicts(cells, results):
    return {ident: (parity.reference, parity.verdict) for ident, parity in parities_of(cells, results).items()}


def test_each_group_is_compared_with_its_best_passed_cell():
    cells = [cell("a", 1), cell("b", 0), cell("c"), cell("d"), cell("x", 0, "h"), cell("none")]
    results = [
        result("b", 5.0, outcome=Outcome.WRONG),
        result("a", 1.0),
        result("c", 1.0),
        result("d", 2.0),
        result("x", 9.0),
        CellResult(cell="none", outcome=Outcome.CRASHED),
    ]
    assert verdicts(cells, results) == {
        "a": ("a", "not-compared"),
        "b": ("a", "disagrees"),
        "c": ("a", "agrees"),
        "d": ("a", "disagrees"),
        "x": ("x", "not-compared"),
    }


def test_without_a_reference_nothing_is_compared():
    assert verdicts([cell("a"), cell("b")], [result("a", 1.0), result("b", 2.0)]) == {
        "a": ("", "not-compared"),
        "b": ("", "not-compared"),
    }


def test_the_process_that_differs_most_decides():
    results = [result("a", 1.0), result("b", 1.0), result("b", 1.5, round_number=1), result("b", 1.0, round_number=2)]
    assert parities_of([cell("a", 0), cell("b")], results)["b"].max_abs == 0.5


def test_a_cell_without_outputs_disagrees_where_the_reference_has_some_and_no_outputs_at_all_are_no_parity():
    assert verdicts([cell("a", 0), cell("b")], [result("a", 1.0), result("b")])["b"] == ("a", "disagrees")
    assert verdicts([cell("a", 0), cell("b")], [result("a"), result("b")]) == {}
