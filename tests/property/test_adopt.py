"""Files that people have, bent out of shape: there is a draft or an error that says what is wrong, never a fault."""

import contextlib
import json
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from envmgr.errors import UsageError
from envmgr.manifest.adopt import adopt

FILES = Path(__file__).parents[1] / "unit" / "manifest" / "adopt" / "files"
ASV = {"project": "x", "pythons": ["3.8", "3.9"], "matrix": {"req": {"numpy": ["1.24.4", ""]}, "env": {"A": ["1"]}}}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from(["", "x", "numpy==1.0", ">=3", "*", "-e .", "a b"]),
    st.lists(st.one_of(st.integers(), st.just("x"), st.none()), max_size=2),
    st.dictionaries(st.sampled_from(["x", "version", "index", "python"]), st.integers(), max_size=2),
)


def toml_value(value):
    if value is None:
        return '""'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, default=str)


def toml_text(data):
    return "".join(f"{json.dumps(key)} = {toml_value(value)}\n" for key, value in data.items())


FORMS = {
    "pyproject.toml": (tomllib.loads, toml_text),
    "pylock.toml": (tomllib.loads, toml_text),
    "Pipfile": (tomllib.loads, toml_text),
    "Pipfile.lock": (json.loads, json.dumps),
    "asv.conf.json": (json.loads, json.dumps),
    "environment.yml": (yaml.safe_load, yaml.safe_dump),
}
SAMPLES = [
    ("asv.conf.json", ASV),
    *(
        (path.name, FORMS[path.name][0](path.read_text(encoding="utf-8")))
        for name in FORMS
        if name != "asv.conf.json"  # the sample there has comments
        for path in sorted(FILES.rglob(name))
    ),
]


@st.composite
def bent(draw, value, depth=0):
    """Return a value in which something on the way down has become something else."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 3 + depth)) == 0:
        return draw(ODD)
    if isinstance(value, list):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(bent(value[place], depth + 1)), *value[place + 1 :]]
    key = draw(st.sampled_from(sorted(value, key=str)))
    return {**value, key: draw(bent(value[key], depth + 1))}


def test_there_is_a_sample_of_each_form():
    assert {name for name, _ in SAMPLES} == set(FORMS)


@given(st.data())
def test_a_file_of_another_shape_is_read_or_refused(data):
    name, whole = data.draw(st.sampled_from(SAMPLES))
    changed = data.draw(bent(whole))
    text = FORMS[name][1](
        changed if isinstance(changed, dict) or not name.endswith((".toml", "file")) else {"x": changed}
    )
    with contextlib.suppress(UsageError):
        assert any(draft.requirements for draft in adopt(name, text, {}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "tool = 3\n"),
        ("pyproject.toml", '[project]\nname = "x"\n[tool.uv]\nindex = ["a"]\n'),
        ("asv.conf.json", '{"matrix": {"env": ["a"]}}'),
    ],
)
def test_what_is_of_another_kind_is_one_error(name, text):
    with pytest.raises(UsageError):
        adopt(name, text, {})
