"""Killed at any moment, envmgr recovers by itself and nothing is lost."""

import pytest

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.robustness)])
def test_nothing_is_lost_half_stale_or_left(script, tmp_path, kills):
    found = script("kill_anywhere").run(tmp_path, kills=kills, seed=5)
    assert found["faults"] == []
