"""What is confirmed, and what is not tried, in the account of experiments."""

import pytest

from envmgr.diagnose.observation import Observation
from envmgr.diagnose.search import Journal
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

BASE, FIXED = World(python="3.8"), World(python="3.9")
FAILED, PASSED = Observation(False, Phase.RUN, "ValueError: no"), Observation(True, None, "")
TOO_LARGE = Observation(False, Phase.DOWNLOAD, "", refused="not tried: it would download 3.4 GB")


@pytest.mark.parametrize(
    ("fresh", "flips"), [([FAILED, PASSED], True), ([FAILED, FAILED], False), ([PASSED, PASSED], False)]
)
def test_only_fresh_builds_confirm(fresh, flips):
    told = []
    journal = Journal(
        BASE, lambda worlds: [PASSED for _ in worlds], lambda: True, told.append, afresh=lambda worlds: fresh
    )
    assert journal.flips_again(FIXED) is flips
    assert [one.outcome for one in told] == ["passed" if one.passed else "failed" for one in fresh]


def test_what_is_too_large_is_told_as_not_run_and_never_counts_as_progress():
    journal = Journal(BASE, lambda worlds: [TOO_LARGE for _ in worlds], lambda: True, lambda _: None)
    journal.observe([FIXED])
    (experiment,) = journal.experiments
    assert (experiment.outcome, experiment.reason) == ("not-run", TOO_LARGE.refused)
    assert not TOO_LARGE.later_than(Observation(False, Phase.RESOLVE, "no"))
