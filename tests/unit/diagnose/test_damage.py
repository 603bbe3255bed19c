"""Files that are not as they were installed."""

from collections import Counter

from envmgr.diagnose.damage import Owned, as_cause, damages
from envmgr.diagnose.reading import read

RECORDED = Counter({"alpha": 4, "beta": 10})


def found(text="", lost=(), altered=(), foreign=()):
    return damages(
        [Owned(path, owner) for path, owner in lost],
        [Owned(path, owner) for path, owner in altered],
        [Owned(path) for path in foreign],
        RECORDED,
        read(text),
    )


def test_a_distribution_that_lost_most_of_its_files_is_to_blame_itself():
    (one,) = found(lost=[("alpha/__init__.py", "alpha"), ("alpha/core.py", "alpha")])
    assert one.gutted
    assert (as_cause(one).kind, as_cause(one).name) == ("package", "alpha")


def test_single_files_are_a_state_of_the_environment():
    altered, lost = found(lost=[("beta/a.py", "beta")], altered=[("beta/b.py", "beta")])
    assert {as_cause(altered).name, as_cause(lost).name} == {"beta/a.py", "beta/b.py"}
    assert as_cause(lost).kind == as_cause(altered).kind == "env-state"


def test_what_the_failure_speaks_of_comes_first():
    text = 'Traceback:\n  File "/e/lib/python3.11/site-packages/beta/b.py", line 2, in <module>\nValueError: no\n'
    first, *_ = found(text, lost=[("alpha/x.py", "alpha")], altered=[("beta/b.py", "beta")], foreign=["json.py"])
    assert first.paths == ("beta/b.py",)
    first, *_ = found("ModuleNotFoundError: No module named 'alpha'", lost=[("alpha/x.py", "alpha")], foreign=["z.py"])
    assert first.paths == ("alpha/x.py",)


def test_files_of_nobody_are_one_suspect_for_each_top_level_name():
    assert [one.paths for one in found(foreign=["odd/a.py", "odd/b.py", "start.pth"])] == [
        ("start.pth",),
        ("odd/a.py", "odd/b.py"),
    ]


def test_metadata_and_what_environments_bring_along_is_no_damage():
    assert not found(foreign=["_virtualenv.py", "_virtualenv.pth", "gone-1.dist-info/direct_url.json"])
