"""What was asked for, read from what is there."""

import pytest

from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.standing import (
    Installed,
    Standing,
    differing,
    foreign_platform,
    history,
    pinned_as_found,
    same_failure,
    worlds,
)
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

LINUX = ("manylinux_2_17_x86_64", "linux_x86_64")


def standing(*entries):
    """Make an environment of (name, version, moment, requirements, more) with the files and notes in `more`."""
    installed, contents = [], []
    for name, version, moment, requires, *rest in entries:
        more = rest[0] if rest else {}
        contents.append(Distribution(name, version, tuple(requires), files=frozenset(more.pop("files", ()))))
        installed.append(Installed(name, version, moment=moment, **{"installer": "uv", **more}))
    markers = {"python_version": "3.11", "sys_platform": "linux", "extra": ""}
    return Standing(tuple(installed), Contents(tuple(contents)), markers, LINUX)


def told(steps):
    return [(step.install, step.flags, step.uninstall) for step in steps]


def test_what_nothing_else_requires_was_asked_for_in_one_go():
    there = standing(("alpha", "1.0", 1, ["beta"]), ("beta", "2.0", 1, []), ("gamma", "3.0+cpu", 2, []))
    assert told(history(there)) == [(("alpha==1.0", "gamma==3.0"), (), ())]
    assert worlds(there, "3.11")[0] == World(python="3.11", requirements=("alpha==1.0", "gamma==3.0"))


def test_what_pip_noted_counts_and_what_uv_notes_of_everything_does_not():
    noted = {"requested": True}
    by_uv = standing(("alpha", "1", 1, ["beta"], noted), ("beta", "2", 1, [], dict(noted)))
    by_pip = standing(
        ("alpha", "1", 1, ["beta"], {"requested": True, "installer": "pip"}),
        ("beta", "2", 1, [], {"requested": True, "installer": "pip"}),
    )
    assert history(by_uv)[0].install == ("alpha==1",)
    assert history(by_pip)[0].install == ("alpha==1", "beta==2")


def test_a_later_install_that_broke_an_earlier_one_is_a_step_of_its_own():
    there = standing(("alpha", "1", 1, ["beta<2"]), ("beta", "2", 9, []))
    assert told(history(there)) == [(("alpha==1",), (), ()), (("beta==2",), (), ())]


def test_what_brought_the_breaking_version_is_what_was_installed_later():
    there = standing(("alpha", "1", 1, ["beta<2"]), ("beta", "2", 9, []), ("delta", "4", 9.1, ["beta>=2"]))
    assert told(history(there)) == [(("alpha==1",), (), ()), (("delta==4",), (), ())]


def test_what_came_later_than_what_it_cannot_do_with_came_without_its_dependencies():
    there = standing(("alpha", "1", 9, ["beta<2"]), ("beta", "2", 1, []))
    assert told(history(there)) == [(("beta==2",), (), ()), (("alpha==1",), ("--no-deps",), ())]


def test_a_dependency_that_never_came_was_kept_out_and_one_that_went_was_taken_away():
    kept_out = standing(("alpha", "1", 1, ["beta", "gamma"]), ("gamma", "2", 5, []))
    taken = standing(("alpha", "1", 5, ["beta", "gamma"]), ("gamma", "2", 4, []))
    assert told(history(kept_out)) == [(("alpha==1",), ("--no-deps",), ()), (("gamma==2",), (), ())]
    assert told(history(taken)) == [(("alpha==1",), (), ()), ((), (), ("beta",))]


def test_of_two_that_own_one_file_the_later_came_over_the_earlier():
    there = standing(("alpha", "1", 5, [], {"files": ["x.py"]}), ("beta", "1", 2, [], {"files": ["x.py"]}))
    assert told(history(there)) == [(("beta==1",), (), ()), (("alpha==1",), (), ())]


def test_a_wheel_of_another_system_is_asked_for_as_one():
    there = standing(("alpha", "1", 1, [], {"tags": ("py3-none-macosx_10_9_x86_64",)}))
    assert history(there)[0].flags[:2] == ("--python-platform", "x86_64-apple-darwin")


@pytest.mark.parametrize(
    ("tag", "platform"),
    [
        ("cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64", ""),
        ("py3-none-any", ""),
        ("py3-none-macosx_11_0_arm64", "aarch64-apple-darwin"),
        ("py3-none-win_amd64", "x86_64-pc-windows-msvc"),
        ("cp39-cp39-manylinux2014_aarch64", "aarch64-unknown-linux-gnu"),
    ],
)
def test_a_wheels_tags_tell_whether_it_fits_here(tag, platform):
    assert foreign_platform(Installed("alpha", "1", tags=(tag,)), LINUX) == platform


def test_a_family_at_one_version_is_pinned_whole_and_one_that_came_apart_is_not():
    together = standing(("plaidml", "0.7.0", 1, []), ("plaidml-keras", "0.7.0", 1, ["plaidml"]))
    apart = standing(("plaidml", "0.7.0", 1, []), ("plaidml-keras", "0.6.4", 1, ["plaidml"]))
    assert history(together)[0].install == ("plaidml==0.7.0", "plaidml-keras==0.7.0")
    assert history(apart)[0].install == ("plaidml-keras==0.6.4",)


def test_what_tells_pip_to_leave_dependencies_out_is_tried_before_a_flag_is_assumed():
    there = standing(("alpha", "1", 1, ["beta"], {"installer": "pip"}))
    first, second, *_ = worlds(there, "3.11", pip="pip==24.0")
    assert told(first.steps) == [(("alpha==1",), (), ())]
    assert first.steps[0].installer == "pip==24.0"
    assert second.steps[0].flags == ("--no-deps",)


def test_the_last_world_is_everything_as_it_is():
    there = standing(("alpha", "1.0+cpu", 1, []), ("pip", "24", 0, []), ("beta", "2", 0.5, []))
    assert worlds(there, "3.11")[-1].steps[0].install == ("beta==2", "alpha==1.0+cpu")


def test_other_versions_than_resolved_are_pinned_as_they_are():
    there = standing(("alpha", "1", 1, ["beta"]), ("beta", "2", 1, []))
    world = World(python="3.11", requirements=("alpha==1",))
    assert differing(there, {"alpha": "1", "beta": "3", "pip": "1"}) == ("beta",)
    assert pinned_as_found(world, there, {"alpha": "1", "beta": "3"}).requirements == ("alpha==1", "beta==2")
    assert pinned_as_found(world, there, there.resolved) == world


def test_failures_are_one_by_what_they_say_and_else_by_how_far_they_came():
    def failed(text, phase=Phase.RUN):
        return Observation(False, phase, text)

    assert same_failure(failed("ValueError: bad 1"), failed("ValueError: bad 2"))
    assert not same_failure(failed("ValueError: bad"), failed("KeyError: bad"))
    assert not same_failure(failed("ValueError: bad"), Observation(True, None, ""))
    assert same_failure(failed(""), failed(""))
    assert not same_failure(failed(""), failed("", Phase.BUILD))
