import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.app.diagnosing.apply import applied
from envmgr.manifest.read import parse_manifest
from envmgr.model.finding import FileChanges, Fix, Variables
from envmgr.model.manifest import Step

TEXT = """# why this set exists
schema = 1
name = "x"   # the stem
python = ">=3.7,<3.11"
requirements = ["a==1", "b"]
exclude-newer = 2026-11-01

[variants]
python = ["3.10", "3.9"]

[env]
KEEP = "1"
"""


def test_comments_and_what_is_not_touched_stay():
    text = applied(TEXT, Fix(requirements=("a==1", "b<2")))
    assert "# why this set exists" in text
    assert 'name = "x"   # the stem' in text
    assert tomllib.loads(text)["requirements"] == ["a==1", "b<2"]


@pytest.mark.parametrize(
    ("fix", "key", "value"),
    [
        (Fix(python="3.9"), "python", "==3.9.*"),
        (Fix(build_constraints=("cython<3",)), "build_constraints", ("cython<3",)),
        (Fix(overrides=("c",)), "overrides", ("c",)),
        (Fix(exclude_newer=""), "exclude_newer", None),
        (Fix(build_requires={"b": ("pip",)}), "build_requires", {"b": ("pip",)}),
        (Fix(env=Variables(set={"A": "1"})), "env", {"KEEP": "1", "A": "1"}),
        (Fix(env=Variables(unset=("A",))), "unset", ("A",)),
        (
            Fix(steps=(Step(install=("a",), installer="pip==24.0"),)),
            "step",
            (Step(install=("a",), installer="pip==24.0"),),
        ),
    ],
)
def test_every_part_of_a_fix_that_a_manifest_can_hold_is_read_back(fix, key, value):
    assert getattr(parse_manifest(applied(TEXT, fix), "manifests/x.toml"), key) == value


def test_a_history_gives_way_to_requirements():
    history = 'schema = 1\nname = "x"\npython = ">=3.8"\n[[step]]\ninstall = ["a"]\n'
    manifest = parse_manifest(applied(history, Fix(requirements=("a",))), "manifests/x.toml")
    assert manifest.requirements == ("a",)
    assert manifest.step == ()


def test_files_and_advice_are_passed_over():
    assert applied(TEXT, Fix(files=FileChanges(remove=("cwd/a.py",)), program="x")) == TEXT


WORDS = st.from_regex(r"[A-Z][A-Z0-9_]{0,8}", fullmatch=True)


@given(st.dictionaries(WORDS, st.text(max_size=12), max_size=4), st.lists(WORDS, unique=True, max_size=3))
def test_variables_of_any_value_are_read_back(values, unset):
    fix = Fix(env=Variables(set=values, unset=tuple(unset)))
    manifest = parse_manifest(applied(TEXT, fix), "manifests/x.toml")
    assert values.items() <= manifest.env.items()
    assert set(unset) <= set(manifest.unset)


def test_a_variable_of_the_manifests_own_is_taken_out_and_the_others_keep_their_lines():
    text = applied(TEXT.replace('KEEP = "1"', 'KEEP = "1"  # yes\nGO = "2"'), Fix(env=Variables(unset=("GO",))))
    manifest = parse_manifest(text, "manifests/x.toml")
    assert (manifest.env, manifest.unset) == ({"KEEP": "1"}, ("GO",))
    assert "# yes" in text


def test_a_new_key_stands_with_the_others_and_a_tables_comment_with_its_table():
    text = applied(TEXT.replace("[env]", "# of cells\n[env]"), Fix(env=Variables(unset=("GO",))))
    assert text.index("unset") < text.index("[variants]")
    assert re.search(r"# of cells\n+\[env\]", text)
    bare = 'schema = 1\nname = "x"\nrequirements = ["a"]  # ours\n\n# of cells\n[env]\nA = "1"\n'
    text = applied(bare, Fix(env=Variables(unset=("GO",))))
    assert text.startswith('schema = 1\nname = "x"\nrequirements = ["a"]  # ours\nunset = ["GO"]\n')
    assert re.search(r"# of cells\n+\[env\]", text)
