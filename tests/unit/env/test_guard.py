"""What counts as a change of an env, and what is only bytecode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.env.guard import bytecode_of, changes_between

BEFORE = {"lib": "folder", "lib/demo.py": "1", "lib/base.py": "2"}


def test_no_change_is_told_as_nothing():
    assert changes_between(BEFORE, dict(BEFORE)).sentence == ""


def test_changes_are_told_by_kind_and_name():
    after = {"lib": "folder", "lib/demo.py": "9", "lib/evil.py": "3"}
    changes = changes_between(BEFORE, after)
    assert changes.sentence == "1 added (lib/evil.py); 1 removed (lib/base.py); 1 altered (lib/demo.py)"


def test_many_changes_are_told_in_short():
    after = BEFORE | {f"lib/{number}.py": "x" for number in range(9)}
    assert changes_between(BEFORE, after).sentence == "9 added (lib/0.py, lib/1.py, lib/2.py, ...)"


def test_only_bytecode_of_sources_that_were_there_is_bytecode():
    added = {
        "lib/__pycache__/demo.cpython-311.pyc": "x",
        "lib/__pycache__/demo.cpython-311.opt-1.pyc": "x",
        "lib/__pycache__/demo.cpython-311.pyc.140487187772352": "x",
        "lib/__pycache__/evil.cpython-311.pyc": "x",
        "lib/__pycache__/evil.cpython-311.pyc.140487187772352": "x",
        "lib/__pycache__/demo.cpython-311.so": "x",
        "lib/demo.pyc": "x",
        "other/__pycache__/demo.cpython-311.pyc": "x",
    }
    changes = changes_between(BEFORE, BEFORE | added)
    assert bytecode_of(changes, BEFORE) == (
        "lib/__pycache__/demo.cpython-311.opt-1.pyc",
        "lib/__pycache__/demo.cpython-311.pyc",
        "lib/__pycache__/demo.cpython-311.pyc.140487187772352",
    )


ALONE, LINKED = "100644 12 1600000000 {} 42", "100644 12 1600000000 - 42"


@pytest.mark.parametrize(
    ("before", "after", "altered"),
    [
        (LINKED, LINKED, False),
        (LINKED, ALONE.format(1600000009), False),
        (ALONE.format(1600000001), ALONE.format(1600000009), True),
        (ALONE.format(1600000001), LINKED, True),
        (LINKED, LINKED.replace("42", "43"), True),
        (LINKED, ALONE.format(1600000009).replace("12", "13"), True),
    ],
)
def test_a_file_may_lose_its_other_names_and_not_get_one(before, after, altered):
    """Who links a file hides when its inode changed last, and with it a write that keeps size and time."""
    assert bool(changes_between({"lib/demo.py": before}, {"lib/demo.py": after}).sentence) is altered


snapshots = st.dictionaries(st.text(min_size=1), st.sampled_from("123"), max_size=8)


@given(snapshots, snapshots)
def test_a_difference_is_never_overlooked(before, after):
    changes = changes_between(before, after)
    rebuilt = {path: facts for path, facts in before.items() if path not in changes.removed}
    rebuilt |= {path: after[path] for path in (*changes.added, *changes.altered)}
    assert rebuilt == after
    assert bool(changes.sentence) == (before != after)
