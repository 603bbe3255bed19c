import pytest

from envmgr.cell.judge import exit_code, foreseen, judge
from envmgr.model.cell import Cell
from envmgr.model.manifest import Expect
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Parity

NOT_FINITE = "output 'probabilities' is not finite: 56 of 80 numbers (first at row 1)"


def cell(**fields):
    return Cell(**({"id": "c1", "manifest": "plaidml-0.6.4", "variant": "default", "runner": "r"} | fields))


def result(outcome=Outcome.PASSED, reason="", round_number=0, phase=None):
    return CellResult(cell="c1", round=round_number, outcome=outcome, reason=reason, phase=phase)


def verdict(a_cell, *results, parity=None):
    (judged,) = judge([a_cell], results, {"c1": parity} if parity else {})
    return judged


def expecting(outcome, reason):
    return cell(expect=(Expect(outcome=outcome, reason=reason),))


def test_a_good_cell_passes():
    judged = verdict(cell(), result())
    assert (judged.outcome, judged.observed, judged.expected, judged.unexpected) == (
        Outcome.PASSED,
        Outcome.PASSED,
        None,
        False,
    )
    assert exit_code([judged]) == 0


def test_the_worst_process_decides_and_reasons_are_kept():
    judged = verdict(
        cell(),
        result(Outcome.WRONG, "off", 2),
        result(Outcome.CRASHED, "killed by SIGSEGV", 1, Phase.RUN),
        result(Outcome.PASSED, "", 0),
        result(Outcome.CRASHED, "killed by SIGBUS", 3, Phase.RUN),
    )
    assert judged.outcome is Outcome.CRASHED
    assert judged.reason == "killed by SIGSEGV; killed by SIGBUS (in 2 of 4 processes)"
    assert judged.phase is Phase.RUN
    assert [one.round for one in judged.results] == [0, 1, 2, 3]
    assert exit_code([judged]) == 1


def test_numbers_that_disagree_make_a_passed_cell_wrong():
    parity = Parity(
        reference="c0", max_abs=1, max_rel=0.012, share_off=0.37, verdict="disagrees", worst="output 'logits' disagrees"
    )
    judged = verdict(cell(), result(), parity=parity)
    assert (judged.outcome, judged.phase, judged.reason) == (Outcome.WRONG, Phase.CHECK, "output 'logits' disagrees")
    assert judged.unexpected
    failed = verdict(cell(), result(Outcome.WRONG, NOT_FINITE, phase=Phase.CHECK), parity=parity)
    assert failed.reason == NOT_FINITE


def test_an_expected_failure_needs_outcome_and_reason():
    judged = verdict(expecting(Outcome.WRONG, "probabilities.*not finite"), result(Outcome.WRONG, NOT_FINITE))
    assert (judged.outcome, judged.observed, judged.expected, judged.unexpected) == (
        Outcome.XFAIL,
        Outcome.WRONG,
        Outcome.WRONG,
        False,
    )
    assert judged.reason == NOT_FINITE


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (result(Outcome.WRONG, "off by one"), "off by one; expected wrong with a reason like 'not finite'"),
        (result(Outcome.CRASHED, NOT_FINITE), f"{NOT_FINITE}; expected wrong with a reason like 'not finite'"),
    ],
)
def test_another_outcome_or_reason_than_expected_is_unexpected_and_both_are_told(seen, told):
    judged = verdict(expecting(Outcome.WRONG, "not finite"), seen)
    assert (judged.outcome, judged.unexpected, judged.reason) == (seen.outcome, True, told)


def test_a_pass_where_a_failure_was_expected_is_unexpected():
    judged = verdict(expecting(Outcome.WRONG, "not finite"), result())
    assert (judged.outcome, judged.unexpected) == (Outcome.XPASS, True)
    assert "it passed; expected wrong" in judged.reason


def test_an_expected_pass_passes():
    judged = verdict(expecting(Outcome.PASSED, "fixed upstream"), result())
    assert (judged.outcome, judged.unexpected) == (Outcome.PASSED, False)


@pytest.mark.parametrize("outcome", [Outcome.UNAVAILABLE, Outcome.NOT_OFFERED, Outcome.SKIPPED])
@pytest.mark.parametrize("expects", [(), (Expect(outcome=Outcome.WRONG, reason="x"),)])
def test_what_the_host_decides_is_never_unexpected(outcome, expects):
    judged = verdict(cell(refusal=outcome, reason="no such card", phase=Phase.BACKEND, expect=expects))
    assert (judged.outcome, judged.unexpected, judged.reason) == (outcome, False, "no such card")


def test_a_build_that_failed_is_unexpected_unless_expected():
    refused = {"refusal": Outcome.BUILD_FAILED, "phase": Phase.RESOLVE, "reason": "no numpy for Python 3.12"}
    assert verdict(cell(**refused)).unexpected
    expects = (
        Expect(outcome=Outcome.FAILED, reason="import"),
        Expect(outcome=Outcome.BUILD_FAILED, reason="numpy"),
    )
    judged = verdict(cell(**refused, expect=expects))
    assert (judged.outcome, judged.expected, judged.unexpected) == (Outcome.XFAIL, Outcome.BUILD_FAILED, False)


def test_a_cell_that_was_not_measured_is_skipped():
    judged = verdict(cell())
    assert (judged.outcome, judged.observed, judged.unexpected) == (Outcome.SKIPPED, None, False)


def test_only_a_failure_that_an_expectation_tells_is_foreseen():
    known = expecting(Outcome.WRONG, "is not finite")
    assert foreseen(known, result(Outcome.WRONG, NOT_FINITE))
    assert not foreseen(known, result(Outcome.WRONG, "off by one"))
    assert not foreseen(known, result(Outcome.CRASHED, NOT_FINITE))
    assert not foreseen(cell(), result(Outcome.WRONG, NOT_FINITE))
    assert not foreseen(expecting(Outcome.PASSED, "fine"), result())
