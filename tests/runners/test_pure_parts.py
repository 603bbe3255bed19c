"""The parts of the runners that compute: in this process, without any library under test."""

import importlib.util
import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

RUNNERS = Path(__file__).resolve().parents[2] / "runners"


def load(name):
    spec = importlib.util.spec_from_file_location(name, RUNNERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


smoke = load("device_smoke")
mnist = load("torch_mnist")


def product(left, right):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)] for row in left
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 16])
def test_the_reference_of_the_product_is_the_product(size):
    left, right = smoke.small_integers(size, 3, 7), smoke.small_integers(size, 5, 2)
    assert smoke.wanted_sums(left, right) == smoke.weighted_sums(product(left, right))


@given(place=st.integers(0, 63), change=st.sampled_from([-1.0, 1.0, 1e-3, math.nan, math.inf]))
def test_one_wrong_number_shows_in_its_row(place, change):
    left, right = smoke.small_integers(8, 3, 7), smoke.small_integers(8, 5, 2)
    found = product(left, right)
    found[place // 8][place % 8] += change
    apart = [
        one != other for one, other in zip(smoke.weighted_sums(found), smoke.wanted_sums(left, right), strict=True)
    ]
    assert apart == [row == place // 8 for row in range(8)]


def test_numbers_swapped_in_a_row_show():
    left, right = smoke.small_integers(8, 3, 7), smoke.small_integers(8, 5, 2)
    found = product(left, right)
    found[2][0], found[2][1] = found[2][1], found[2][0]
    assert found[2][0] != found[2][1]
    assert smoke.weighted_sums(found)[2] != smoke.wanted_sums(left, right)[2]


def test_the_matrices_are_exact_in_small_floats_and_not_alike():
    matrix = smoke.small_integers(32, 3, 7)
    assert {value for row in matrix for value in row} == set(map(float, range(-5, 6)))
    assert matrix != smoke.small_integers(32, 5, 2)


@given(st.recursive(st.floats() | st.integers() | st.text() | st.none(), st.lists, max_leaves=8))
def test_every_report_is_strict_json(value):
    text = json.dumps(smoke.strict({"value": value}), allow_nan=False)
    assert json.loads(text) == smoke.strict({"value": value})


def test_numbers_that_are_not_finite_keep_their_names():
    assert smoke.strict((1.5, math.nan, math.inf, -math.inf)) == [1.5, "nan", "inf", "-inf"]


@pytest.mark.parametrize(
    ("wanted", "used", "same"),
    [
        ("cpu", "CPU:0", True),
        ("/device:GPU:0", "cuda:0", True),
        ("cuda", "gpu:0", True),
        ("mps", "mps", True),
        ("llvm_cpu.0", "llvm_cpu.0", True),
        ("cuda:1", "cuda:0", False),
        ("llvm_cpu.0", "llvm_cpu.1", False),
        ("mps", "cpu", False),
    ],
)
def test_one_device_has_several_spellings(wanted, used, same):
    assert smoke.same_device(wanted, used) is same


def test_another_device_than_asked_for_is_a_failure_of_the_backend():
    with pytest.raises(smoke.PhaseError) as caught:
        smoke.demand("device", "mps", "cpu", smoke.same_device)
    assert caught.value.phase_name == "backend"
    assert str(caught.value.cause) == "another device is active: wanted mps, found cpu"


def test_an_inner_phase_wins():
    with pytest.raises(smoke.PhaseError) as caught, smoke.phase("run"), smoke.phase("backend"):
        raise OSError("no card")
    assert caught.value.phase_name == "backend"


def test_variables_that_are_set_already_stay(monkeypatch):
    environment = {"PLAIDML_DEVICE_IDS": "llvm_cpu.0"}
    monkeypatch.setattr(smoke, "os", SimpleNamespace(environ=environment))
    smoke.ask_for_device("plaidml", "opencl_cpu.0")
    smoke.ask_for_device("jax", "cpu:0")
    assert environment == {"PLAIDML_DEVICE_IDS": "llvm_cpu.0", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}


@pytest.mark.parametrize(
    ("given_value", "message"),
    [
        ({"epochs": "two"}, "wanted the kind of 1"),
        ({"epochs": True}, "wanted the kind of 1"),
        ({"epoch": 2}, "unknown"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(given_value, message):
    with pytest.raises(ValueError, match=message):
        mnist.chosen_parameters(mnist.PARAMETERS, given_value)


def test_an_integer_does_for_a_float():
    assert mnist.chosen_parameters(mnist.PARAMETERS, {"learning-rate": 2})["learning-rate"] == 2


def test_every_digit_has_its_own_segments():
    lit = [frozenset(mnist.SEGMENTS) - set(unlit) for unlit in mnist.UNLIT.values()]
    assert len(set(lit)) == 10
    assert all(set(unlit) <= set(mnist.SEGMENTS) for unlit in mnist.UNLIT.values())


@pytest.mark.parametrize(
    ("seconds", "over"),
    [
        ([5.0], False),
        ([5.0, 1.0], False),
        ([5.0, 1.0, 1.0], False),
        ([5.0, 1.0, 1.0, 0.99], True),
        ([5.0, 1.0, 0.9, 0.8, 0.7], False),
        ([5.0, 1.0, 0.9, 0.9, 1.2], True),
        ([1.0 / (number + 1) for number in range(20)], False),
        ([1.0 / (number + 1) for number in range(21)], True),
    ],
)
def test_warm_up_ends_when_calls_in_a_row_bring_no_progress_or_patience_ends(seconds, over):
    assert smoke.is_warm(seconds, 2) is over


def test_without_warm_up_there_is_none():
    assert smoke.is_warm([5.0], 0)
    assert smoke.warm_up(lambda: pytest.fail("called"), 5.0, 0) == []


def test_warm_up_makes_as_many_calls_as_its_rule_asks_for():
    calls = []
    assert len(smoke.warm_up(lambda: calls.append(1), 1e6, 3)) == len(calls) >= 4


def test_peak_memory_is_that_of_this_process_alone():
    held = smoke.peak_memory()
    ballast = bytearray(64 * 1024**2)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert smoke.peak_memory() >= held
    assert smoke.peak_memory() > len(ballast)
