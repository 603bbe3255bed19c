"""Probes stand alone: what they share is the same text in each."""

import re
from pathlib import Path

import pytest

import envmgr.backends

PROBES = sorted((Path(envmgr.backends.__file__).parent / "probes").glob("*.py"))


@pytest.mark.parametrize("name", ["prologue", "operation"])
def test_shared_text_is_the_same_everywhere(name):
    pattern = re.compile(rf"^# \[shared: {name}\].*?^# \[end of shared: {name}\]$", re.DOTALL | re.MULTILINE)
    found = {path.name: pattern.findall(path.read_text()) for path in PROBES}
    texts = {text for sections in found.values() for text in sections}
    assert len(texts) == 1
    assert sum(map(len, found.values())) == {"prologue": 5, "operation": 4}[name]


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.stem)
def test_a_probe_imports_nothing_of_ours(path):
    assert not re.search(r"^(from|import) envmgr", path.read_text(), re.MULTILINE)
