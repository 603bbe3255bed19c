"""Whatever stands in a manifest, a matrix, a report or a lock, it is read or told in one error that names its file."""

import json
import math

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envmgr.cell.check import parse_report
from envmgr.errors import ManifestError
from envmgr.manifest import check, read
from envmgr.model.cell import Cell
from envmgr.model.manifest import Manifest, Matrix
from envmgr.model.result import Report

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["", "*", "a==1", ">=3.8", "../x", "https://u:p@h/", "~/x", "llvm.0", "(", "["]
)
SCALARS = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.booleans() | st.dates()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
MANIFEST = {
    "schema": 1,
    "name": "bad",
    "python": ">=3.8",
    "requirements": ["a==1"],
    "runners": ["r"],
    "variants": {"python": ["3.8"]},
    "index": [{"name": "own", "url": "https://host/", "packages": ["a"]}],
    "expect": [{"outcome": "failed", "reason": "x"}],
}
MATRIX = {"schema": 1, "name": "bad", "manifests": ["*"], "entry": [{"runner": "r", "parameters": {"size": 1}}]}
REPORT = {
    "protocol": 1,
    "cell": "c1",
    "status": "ok",
    "samples": [0.1],
    "outputs": {"a": {"shape": [1], "values": [1]}},
}
CELL = Cell(id="c1", manifest="m", variant="default", runner="r")


def keys_of(shape):
    return sorted({field.alias or name for name, field in shape.model_fields.items()} | {"nonesuch"})


def changed(good, shape):
    """One to three keys of a good document with whatever value."""
    return st.dictionaries(st.sampled_from(keys_of(shape)), VALUES, min_size=1, max_size=3).map(
        lambda new: {**good, **new}
    )


def manifest_of(document):
    text = tomlkit.dumps(document)
    found = read.parse_manifest(text, "bad.toml")
    check.check_manifest(found, text=text, source="bad.toml", runners=("r",), backends=("plaidml",))


def matrix_of(document):
    read.parse_matrix(tomlkit.dumps(document), "bad.toml")


FUZZED = [
    pytest.param(100, id="some"),
    pytest.param(10_000, id="many", marks=pytest.mark.robustness),
]
SUBJECTS = [
    pytest.param(MANIFEST, Manifest, manifest_of, id="manifest"),
    pytest.param(MATRIX, Matrix, matrix_of, id="matrix"),
]


@pytest.mark.parametrize("examples", FUZZED)
@pytest.mark.parametrize(("good", "shape", "parse"), SUBJECTS)
def test_a_manifest_or_matrix_is_read_or_its_fault_is_told(good, shape, parse, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed(good, shape))
    def whatever(document):
        try:
            parse(document)
        except ManifestError as error:
            assert "bad.toml" in str(error)  # noqa: PT017 - most documents raise nothing

    whatever()


@pytest.mark.parametrize("examples", FUZZED)
def test_a_report_is_read_or_its_fault_is_told(examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changed(REPORT, Report))
    def whatever(document):
        found = parse_report(json.dumps(document, default=str), CELL)
        if isinstance(found, str):
            assert found.startswith("the report ")
        else:
            assert all(math.isfinite(seconds) for seconds in found.samples)

    whatever()
