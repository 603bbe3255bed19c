"""The search behind `diagnose RUN --good RUN`, held against planted nights (the same as in benchmarks/)."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PLACE = Path(__file__).resolve().parents[2] / "benchmarks" / "overnight_red.py"


@pytest.fixture(scope="module")
def overnight():
    spec = importlib.util.spec_from_file_location("overnight_red", PLACE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["one", "pair", "interpreter", "three"]), st.integers(0, 10**6))
def test_the_exact_culprits_of_any_night_are_found_within_the_bound(overnight, kind, seed):
    trial = overnight.simulated(overnight.Night(seed, kind, ("3.11", "3.12")))
    assert set(trial.found) == trial.night.planted
    assert trial.builds <= trial.night.bound
    assert trial.confirmed
