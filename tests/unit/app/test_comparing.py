"""Runs and cells side by side."""

import re

import pytest

from envmgr.app.comparing import CompareWishes, compare, slower_than
from envmgr.cli.compare import share
from envmgr.errors import NothingSelectedError, UsageError
from envmgr.model.comparison import Verdict
from envmgr.model.conditions import Conditions
from envmgr.model.outcome import Outcome
from envmgr.report import comparison
from envmgr.report.look import Look

ONE, TWO, OTHER = "20260101T000000Z-a", "20260102T000000Z-b", "20260103T000000Z-c"


@pytest.fixture
def two(store_run):
    store_run(ONE, {"alpha": 1.0, "beta": 2.0, "gamma": 3.0})
    store_run(TWO, {"alpha": 1.0, "beta": 2.4, "delta": 3.0})


def verdicts(compared):
    return {pair.name.partition("/")[0]: pair.verdict for pair in compared.pairs}


def test_a_run_is_compared_with_the_one_before_it(workplace, two):
    found = compare(workplace, CompareWishes())
    assert (found.first, found.second) == (ONE, TWO)
    assert verdicts(found) == {"alpha": Verdict.SAME, "beta": Verdict.SLOWER}
    assert found.only_first == ("gamma/speed/cpu:0",)
    assert found.only_second == ("delta/speed/cpu:0",)
    assert not any(pair.paired for pair in found.pairs)


def test_two_runs_the_other_way_round(workplace, two):
    found = compare(workplace, CompareWishes((TWO, ONE), cells=("beta",)))
    assert verdicts(found) == {"beta": Verdict.FASTER}
    assert compare(workplace, CompareWishes((ONE,), baseline=TWO)).second == ONE


def test_a_limit_counts_what_is_slower_beyond_doubt_and_by_more(workplace, two):
    found = compare(workplace, CompareWishes())
    assert [pair.name for pair in slower_than(found, 0.10)] == ["beta/speed/cpu:0"]
    assert slower_than(found, 0.30) == ()


def test_cells_of_one_run_are_compared_round_by_round(workplace, store_run):
    drift = [1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5, 1.5]
    store_run(ONE, {"alpha": drift, "beta": drift, "gamma": [1.2 * value for value in drift]})
    found = compare(workplace, CompareWishes(baseline="alpha"))
    assert [pair.verdict for pair in found.pairs] == [Verdict.SAME, Verdict.SLOWER]
    assert all(pair.paired for pair in found.pairs)
    named = compare(workplace, CompareWishes(cells=("gamma", "alpha")))
    assert [(pair.name, pair.verdict) for pair in named.pairs] == [("alpha/speed/cpu:0", Verdict.FASTER)]


def test_cells_of_two_runs_by_reference(workplace, two):
    found = compare(workplace, CompareWishes((f"{ONE}#alpha", f"{TWO}#beta")))
    assert [pair.verdict for pair in found.pairs] == [Verdict.SLOWER]
    with pytest.raises(UsageError, match="in pairs"):
        compare(workplace, CompareWishes((f"{ONE}#alpha", TWO)))


def test_a_run_is_not_compared_with_itself(workplace, two):
    for wishes in (CompareWishes(baseline="latest"), CompareWishes((TWO, "latest"))):
        with pytest.raises(UsageError, match="with itself"):
            compare(workplace, wishes)


def test_a_wrong_answer_has_no_speed_and_has_regressed(workplace, store_run):
    store_run(ONE, {"alpha": 1.0, "beta": 2.0})
    store_run(TWO, {"alpha": 1.0, "beta": 0.1}, answers={"beta": 2.01})
    pair = compare(workplace, CompareWishes()).pairs[1]
    assert (pair.verdict, pair.ratio, pair.second_outcome) == (Verdict.CANNOT_TELL, None, Outcome.WRONG)
    assert pair.regressed
    assert "a wrong answer has no speed" in pair.reason


def test_quick_runs_cannot_tell(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, processes=1)
    store_run(TWO, {"alpha": 2.0}, processes=1)
    pair = compare(workplace, CompareWishes()).pairs[0]
    assert pair.verdict is Verdict.CANNOT_TELL
    assert "--effort default" in pair.reason


def test_disturbed_cells_are_told(workplace, store_run):
    busy = Conditions(cores=2, others=0.9, neighbours={"stress": 0.9})
    store_run(ONE, {"alpha": 1.0, "beta": 1.0}, conditions={"beta": busy})
    pair = compare(workplace, CompareWishes(baseline="alpha")).pairs[0]
    told = "other programs kept 0.90 of 2 cores busy (stress 0.90)"
    assert [(mark.kind, mark.text) for mark in pair.marks] == [("busy", told)]


def test_a_run_under_load_is_not_called_slower_than_one_before_it(workplace, store_run):
    busy = Conditions(cores=2, others=1.7, load_before=7.0, load_after=8.0)
    store_run(ONE, {"alpha": 1.0, "beta": 1.0}, conditions={"beta": Conditions(cores=2, others=0.05, load_after=1.0)})
    store_run(TWO, {"alpha": 1.5, "beta": 1.5}, conditions={"beta": busy})
    pairs = {pair.name.partition("/")[0]: pair for pair in compare(workplace, CompareWishes((ONE, TWO))).pairs}
    assert pairs["alpha"].verdict is Verdict.SLOWER
    assert pairs["beta"].verdict is Verdict.CANNOT_TELL
    assert pairs["beta"].smallest_change >= 3
    assert "other programs alone" in pairs["beta"].reason


def test_what_many_pairs_share_is_told_once_below_the_table(workplace, store_run):
    busy = Conditions(cores=2, others=0.9, neighbours={"stress": 0.9})
    store_run(ONE, {"alpha": 1.0, "beta": 1.0, "gamma": 1.0}, processes=1, conditions={"beta": busy, "gamma": busy})
    found = compare(workplace, CompareWishes(baseline="alpha"))
    text = comparison.text(found, Look(80))
    assert re.search(r"^beta/speed/cpu:0 +\? can't tell +b \[1\]$", text, re.MULTILINE)
    assert text.count("wanted at least 3 processes") == 1
    assert text.count("kept 0.90 of 2 cores busy (stress 0.90); 2 cells") == 1
    markdown = comparison.markdown(found)
    assert "| gamma/speed/cpu:0 | ? can't tell |  |  |  | b 1. |" in markdown
    assert "- `b` other programs kept 0.90 of 2 cores busy" in markdown


def test_speeds_of_cells_whose_numbers_nobody_checked_are_noted(workplace, store_run):
    store_run(ONE, {"beta": 1.0, "gamma": 1.0})
    found = compare(workplace, CompareWishes(baseline="beta"))
    assert found.notes == ("their numbers were compared with nothing: beta/speed/cpu:0, gamma/speed/cpu:0",)


def test_other_hosts_and_common_shifts_are_noted(workplace, store_run):
    names = ("alpha", "beta", "gamma", "delta")
    store_run(ONE, dict.fromkeys(names, 1.0))
    store_run(TWO, dict.fromkeys(names, 1.2), host="mac")
    found = compare(workplace, CompareWishes((ONE, TWO)))
    assert found.notes[0] == "measured on different hosts: box and mac"
    assert "the machine rather than the version sets" in found.notes[1]


def test_nothing_to_compare_is_an_error_with_a_way_out(workplace, store_run):
    store_run(ONE, {"alpha": 1.0})
    with pytest.raises(NothingSelectedError, match="nothing to be compared with"):
        compare(workplace, CompareWishes())
    with pytest.raises(NothingSelectedError, match="can be compared with alpha"):
        compare(workplace, CompareWishes(baseline="alpha"))
    store_run(TWO, {"beta": 1.0})
    with pytest.raises(NothingSelectedError, match="no cell in common"):
        compare(workplace, CompareWishes())


def test_the_text_tells_the_same_in_eighty_columns(workplace, two):
    found = compare(workplace, CompareWishes())
    text = comparison.text(found, Look(80))
    assert max(map(len, text.splitlines())) <= 80
    assert "▼ slower" in text
    assert text.rstrip().endswith("1 slower, 1 same")
    markdown = comparison.markdown(found)
    assert len({line.count("|") for line in markdown.splitlines() if line.startswith("|")}) == 1
    assert comparison.text(found, Look(80, unicode=False)).isascii()


@pytest.mark.parametrize("text", ["", "ten", "-5%", "10%%", "nan"])
def test_shares_that_are_none(text):
    with pytest.raises(UsageError, match="is no share"):
        share(text)
