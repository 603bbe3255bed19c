"""Readers of scripts take any text whatever and never fail."""

import bisect
import fnmatch
import json
import keyword
import shlex
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from envmgr.infer.clocks import of_comments, of_dockerfile, of_pins
from envmgr.infer.eras import next_era
from envmgr.infer.probe import make_probe, read_proof
from envmgr.infer.saved import of_saved
from envmgr.infer.source import read_source
from envmgr.infer.surface import surface_of
from envmgr.infer.syntax import parse

WORDS = st.sampled_from(
    [
        "import ", "from ", "a.b", " as x", "try:\n", "except ImportError:\n", "    ", "\n", "def f(a=1):\n", "x.y.z", "(",
        "[", "# keras 2.0.1\n", "2017-01-31", "lambda ", "`", "print ", "0777", "'''", "\x00", "\ud800", "\\", "async ",
        "with x as y:\n", "if hasattr(x, 'y'):\n", "class A:\n", "global x\n", "*", "..", "%%bash\n", "!pip install x==1\n",
    ]
)  # fmt: skip
SOURCES = [
    Path(module.__file__).read_text(encoding="utf-8")[:6000] for module in (bisect, fnmatch, json, keyword, shlex)
]
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map("".join))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "cell_type", "metadata", "kernelspec", "language_info", "worksheets", "input"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(TEXTS)
@settings(max_examples=300)
def test_any_text_can_be_read(text):
    for name in ("a.py", "a.ipynb"):
        source = read_source(name, text)
        syntax = parse(source.code)
        list(of_comments(source.code, name, {"keras"}))
        if syntax.tree is not None:
            surface = surface_of(syntax.tree, name)
            compile(make_probe([surface], ()).code, "probe", "exec")
        else:
            assert syntax.fault


@st.composite
def broken_python(draw):
    """A real source with pieces cut out, doubled, or put elsewhere."""
    text = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        to = draw(st.integers(0, len(text)))
        piece = text[start:end]
        kind = draw(st.sampled_from(["cut", "double", "move", "noise"]))
        if kind == "cut":
            text = text[:start] + text[end:]
        elif kind == "double":
            text = text[:to] + piece + text[to:]
        elif kind == "move":
            text = text[:start] + text[end:]
            text = text[:to] + piece + text[to:]
        else:
            text = text[:to] + draw(WORDS) + text[to:]
    return text


@given(broken_python())
@settings(max_examples=60, deadline=None)
def test_real_python_that_was_broken_anywhere_can_be_read(text):
    syntax = parse(read_source("a.py", text).code)
    list(of_comments(text, "a.py", {"json", "numpy"}))
    if syntax.tree is None:
        assert syntax.fault
    else:
        compile(make_probe([surface_of(syntax.tree, "a.py")], ()).code, "probe", "exec")


@given(JSON)
def test_any_json_can_be_a_notebook(value):
    parse(read_source("a.ipynb", json.dumps(value)).code)


@given(TEXTS)
def test_any_text_can_lie_beside_a_script(text):
    list(of_pins(text, "requirements.txt"))
    list(of_dockerfile(text, "Dockerfile", {"keras"}))
    for name in ("m.h5", "m.pkl"):
        list(of_saved(name, text))
    list(of_saved("m.h5", "keras_version" + text))


@given(TEXTS)
def test_any_output_of_a_probe_can_be_read(text):
    read_proof(text, passed=True)
    read_proof("@@surface " + text, passed=False)


@given(JSON)
def test_any_json_can_be_what_a_probe_tells(value):
    read_proof("@@surface " + json.dumps(value), passed=False)


@given(st.integers(1, 12), st.data())
def test_the_search_along_time_ends_and_never_asks_twice(count, data):
    tried = {}
    starts = data.draw(st.lists(st.integers(0, count - 1), max_size=3))
    foreseen = data.draw(st.dictionaries(st.integers(0, count - 1), st.frozensets(st.sampled_from("abc"))))
    for _ in range(count):
        at = next_era(count, tried, starts, foreseen)
        assert at is not None
        assert at not in tried
        tried[at] = data.draw(st.none() | st.frozensets(st.sampled_from("abc")))
    assert next_era(count, tried, starts, foreseen) is None
