"""Whatever stands somewhere, what is read from it names what is there, in the order in which it came."""

from hypothesis import given
from hypothesis import strategies as st

from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.requirement import key_of
from envmgr.diagnose.standing import Installed, Standing, history, worlds
from envmgr.diagnose.worlds import asked

NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta", "pip", "setuptools", "torch", "torchvision", "plaidml"])
REQUIRES = st.lists(
    st.builds(
        lambda name, rest: name + rest, NAMES, st.sampled_from(["", "<2", ">=2", "==1.0", "; extra == 'x'", " ?"])
    ),
    max_size=3,
)
FILES = st.frozensets(st.sampled_from(["a.py", "b.py", "c/__init__.py"]), max_size=2)
ONE = st.tuples(
    st.sampled_from(["1.0", "2.0", "2.0+cpu", "odd"]),
    st.floats(0, 9),
    REQUIRES,
    FILES,
    st.sampled_from(["uv", "pip", "conda", ""]),
    st.booleans(),
    st.sampled_from([(), ("py3-none-any",), ("py3-none-macosx_11_0_arm64",)]),
)


@st.composite
def standings(draw):
    found = draw(st.dictionaries(NAMES, ONE, max_size=6))
    installed, contents = [], []
    for name, (version, moment, requires, files, installer, requested, tags) in found.items():
        installed.append(Installed(name, version, installer, requested, moment, tags))
        contents.append(Distribution(name, version, tuple(requires), files=files))
    markers = {"python_version": "3.11", "sys_platform": "linux", "extra": ""}
    return Standing(tuple(installed), Contents(tuple(contents)), markers, ("manylinux_2_17_x86_64",))


@given(standings())
def test_a_history_asks_for_what_is_there_and_takes_away_what_is_not(standing):
    there = set(standing.by_name)
    steps = history(standing)
    for step in steps:
        assert {key_of(line) for line in step.install} <= there
        assert not set(step.uninstall) & there
    moments = [min(standing.by_name[key_of(line)].moment for line in step.install) for step in steps if step.install]
    assert moments == sorted(moments)


@given(standings())
def test_the_last_world_is_all_that_is_there_and_there_is_always_one(standing):
    last = worlds(standing, "3.11")[-1]
    pinned = {key_of(line) for line in asked(last)}
    there = set(standing.by_name) - {"pip"}
    assert pinned == there or (there == {"setuptools"} and not pinned)
