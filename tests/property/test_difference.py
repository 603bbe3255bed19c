"""A difference with oneself is empty, and the other way round it is the mirror."""

from hypothesis import example, given
from hypothesis import strategies as st

from envmgr.diagnose.difference import compare
from envmgr.model.difference import Portrait

NAMES = st.sampled_from(
    ["numpy", "keras", "plaidml", "plaidml-keras", "torch", "KERAS_BACKEND", "HOME", "version", "minor"]
)
VERSIONS = st.sampled_from(["", "1.0", "1.0+cpu", "1.1", "1.0.1", "2.0", "any", "3.8"])
VALUES = st.none() | st.dictionaries(NAMES, VERSIONS, max_size=6)


@st.composite
def portraits(draw):
    words = {
        part: draw(VALUES) for part in ("interpreter", "distributions", "contents", "variables", "devices", "host")
    }
    hashes = draw(st.none() | st.dictionaries(NAMES, st.tuples(st.sampled_from(["sha256:a", "sha256:b"])), max_size=3))
    return Portrait(kind="env", label=draw(st.sampled_from("AB")), artefacts=hashes, asked=("numpy",), **words)


@given(portraits())
def test_nothing_differs_from_itself(one):
    assert compare(one, one).differences == ()


def apart(core, bridge):
    return Portrait(kind="env", label="A", asked=("numpy",), distributions={"plaidml": core, "plaidml-keras": bridge})


@example(apart("0.6.4", "0.7.0"), apart("0.7.0", "0.6.4"))
@given(portraits(), portraits())
def test_the_other_way_round_is_the_mirror(one, other):
    there, back = compare(one, other), compare(other, one)
    mirrored = tuple(each.model_copy(update={"first": each.second, "second": each.first}) for each in back.differences)
    assert there.differences == mirrored
    assert set(there.compared) == set(back.compared)


@given(portraits(), portraits())
def test_every_version_that_is_not_the_same_is_told_and_what_matters_stands_first(one, other):
    found = compare(one, other)
    told = {each.name for each in found.differences if each.kind == "distribution"}
    if one.distributions is not None and other.distributions is not None:
        names = one.distributions.keys() | other.distributions.keys()
        assert told == {name for name in names if one.distributions.get(name, "") != other.distributions.get(name, "")}
    else:
        assert not told
    assert [each.telling for each in found.differences] == sorted((e.telling for e in found.differences), reverse=True)
