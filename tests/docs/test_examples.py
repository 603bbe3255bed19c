"""Examples in docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import envmgr

ROOT = Path(envmgr.__file__).parent
WITH_EXAMPLES = sorted(
    path.relative_to(ROOT.parent).with_suffix("").as_posix().replace("/", ".")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8") and path.parent.name != "probes"
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_example_is_true(name):
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0, "an example that is not run, as it stands in no docstring"
    assert done.failed == 0


def test_there_are_examples():
    assert "envmgr.stats.parity" in WITH_EXAMPLES
