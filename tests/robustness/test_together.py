"""Many at once: one build each, results apart, nobody stopped by one that is killed."""

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.robustness]


def test_many_processes_build_each_env_once_and_keep_out_of_each_others_way(script, tmp_path):
    found = script("together").run(tmp_path, same=16, others=8)
    assert found["faults"] == []
