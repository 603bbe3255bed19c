from __future__ import annotations

import tomllib
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from envmgr.manifest.positions import Key, positions

SCALARS = st.one_of(st.integers(-5, 5), st.booleans(), st.text(max_size=8), st.dates())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)


def keys_of(value: Any, key: Key = ()) -> set[Key]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return {(*key, part) for part, _ in inner}.union(*(keys_of(item, (*key, part)) for part, item in inner))


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4))
def test_every_key_of_any_document_is_found_at_a_line_of_the_text(data: dict[str, Any]) -> None:
    text = tomlkit.dumps(data)
    found = positions(text)
    assert keys_of(tomllib.loads(text)) <= set(found)
    assert all(1 <= position.line <= text.count("\n") + 1 for position in found.values())
