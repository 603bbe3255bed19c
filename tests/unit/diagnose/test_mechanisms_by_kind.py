"""Mechanisms that know no names: what they propose for kinds of trouble."""

from dataclasses import replace

import pytest

from envmgr.diagnose.impossible import impossible_here
from envmgr.diagnose.mechanisms import builds, era, extras, history, names, repair, surroundings
from envmgr.diagnose.mechanisms.surroundings import values_listed
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.worlds import asked
from envmgr.model.finding import World
from envmgr.model.manifest import Step
from envmgr.model.outcome import Phase


def situation_of(planted, text, world):
    planted.rule = lambda _: text
    return planted.situation(world)


def best(mechanism, situation):
    return max(mechanism(situation), key=lambda hypothesis: hypothesis.likelihood)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("ImportError: this needs more: pip install alpha[fast]", 0.9),
        ("ModuleNotFoundError: No module named 'gamma'", 0.85),
        ("RuntimeError: fast work is not there", 0.45),
    ],
)
def test_an_extra_that_the_failure_speaks_of_is_asked_for(planted, world, distribution, text, weight):
    planted.installed = (
        distribution("alpha", "1.0", ("gamma; extra == 'fast'", "delta; extra == 'slow'"), ("fast", "slow")),
    )
    found = best(extras.hypotheses, situation_of(planted, text, world))
    assert asked(found.world) == ("alpha[fast]==1.0",)
    assert (found.cause.kind, found.cause.name, found.likelihood) == ("missing", "gamma", weight)


def test_an_extra_brings_what_is_required_for_it_alone(planted, world, distribution):
    needs = ("beta; python_version >= '3'", "gamma; extra == 'fast'")
    planted.installed = (distribution("alpha", "1.0", needs, ("fast",)),)
    situation = situation_of(planted, "ModuleNotFoundError: No module named 'gamma'", world)
    assert best(extras.hypotheses, situation).cause.name == "gamma"


def test_extras_that_nothing_points_to_are_left_alone(planted, world, distribution):
    planted.installed = (distribution("alpha", "1.0", ("gamma; extra == 'fast'",), ("fast",)),)
    assert list(extras.hypotheses(situation_of(planted, "ValueError: no", world))) == []


def test_what_is_required_elsewhere_only_names_the_distribution_of_a_module(planted, world, distribution):
    planted.installed = (distribution("alpha", "1.0", ("py-gamma; sys_platform == 'win32'",)),)
    planted.release("py-gamma", ("1.0", "2020-01-01"))
    situation = situation_of(planted, "ModuleNotFoundError: No module named 'gamma'", world)
    assert best(names.hypotheses, situation).cause.name == "py-gamma"


def test_values_are_read_from_the_message_and_not_from_the_line_that_raised_it(planted, world):
    text = (
        "    raise ValueError('A_MODE must be one of: x, y' if v in ['p', 'q'] else 1)\n"
        "ValueError: A_MODE must be one of: fast, slow or off"
    )
    assert values_listed(text, "A_MODE") == ("fast", "slow", "off")
    found = [h for h in surroundings.hypotheses(situation_of(planted, text, world)) if h.world.variables.set]
    assert [h.world.variables.set for h in found] == [{"A_MODE": value} for value in ("fast", "slow", "off")]


def test_settings_of_the_library_in_which_it_broke_are_suspected_before_others(planted, world, distribution):
    planted.installed = tuple(distribution(name, "1.0", modules=frozenset({name})) for name in ("alpha", "beta"))
    planted.files = {"home/.alpha/alpha.json": "{}", "home/.beta/beta.json": "{}"}
    text = '  File "/v/site-packages/beta/core.py", line 1, in go\nOSError: no'
    found = best(surroundings.hypotheses, situation_of(planted, text, world))
    assert found.world.files.remove == ("home/.beta/beta.json",)


def test_the_one_variable_there_is_gets_its_trial(planted, world):
    planted.variables = {"ZETA_UNIT": "3"}
    found = best(surroundings.hypotheses, situation_of(planted, "OSError: no such unit", world))
    assert found.world.variables.unset == ("ZETA_UNIT",)
    assert found.likelihood >= 0.25


def test_a_build_backend_of_any_name_is_held_at_its_day(planted, world):
    planted.release("alpha", ("1.0", "2020-01-01"), tag=None)
    planted.release("zzforge", ("1.4", "2019-06-01"), ("2.0", "2021-01-01"))
    text = "resolve: Call to `zzforge.api.build_wheel` failed"
    found = [h for h in builds.hypotheses(situation_of(planted, text, world)) if h.mechanism.endswith("of its day")]
    assert ("zzforge<=1.4",) in {h.world.build_constraints for h in found}
    assert found[0].cause.name == "zzforge"


@pytest.mark.parametrize(("line", "nearest"), [("alpha>=3.1", "alpha==1.4"), ("alpha<0.5", "alpha==1.0")])
def test_a_range_beyond_what_there_is_becomes_the_nearest(planted, line, nearest):
    planted.release("alpha", ("1.0", "2020-01-01"), ("1.4", "2021-01-01"))
    world = World(python="3.10", requirements=(line,))
    found = [asked(h.world) for h in repair.hypotheses(situation_of(planted, "resolve: no solution", world))]
    assert (nearest,) in found


def test_kin_of_one_first_word_get_one_version(planted, distribution):
    planted.installed = (distribution("zeta-core", "0.8"), distribution("zeta-bridge", "0.6"))
    planted.release("zeta-core", ("0.6", "2020-01-01"), ("0.8", "2021-01-01"))
    world = World(python="3.10", requirements=("zeta-bridge==0.6",))
    situation = situation_of(planted, "RuntimeError: core 0.8 does not fit bridge 0.6", world)
    found = [h for h in era.hypotheses(situation) if h.mechanism == "move kin together"]
    assert [asked(h.world) for h in found] == [("zeta-bridge==0.6", "zeta-core==0.6")]


def test_a_name_that_a_library_is_known_to_have_lost_is_capped_below_that_series(planted, world, distribution):
    planted.installed = (distribution("numpy", "1.26.4", modules=frozenset({"numpy"})),)
    planted.release("numpy", ("1.23.5", "2022-11-20"), ("1.26.4", "2024-02-05"))
    text = "AttributeError: module 'numpy' has no attribute 'float'"
    found = best(names.hypotheses, situation_of(planted, text, world))
    assert asked(found.world) == ("alpha==1.0", "numpy<1.24")
    assert found.cause.name == "numpy"


def test_another_patch_of_the_same_python_is_proposed_where_one_is_here(planted, world):
    situation = situation_of(planted, "OSError: no", world)
    situation = replace(situation, host=replace(situation.host, patches=("3.9.1", "3.10.2")))
    found = [h.world.python for h in era.hypotheses(situation) if h.mechanism == "another patch"]
    assert found == ["3.10.2"]


def test_one_resolution_is_no_answer_to_two_owners_of_a_file(planted, distribution):
    owned = frozenset({"gamma.py"})
    planted.installed = (distribution("alpha", "1.0", files=owned), distribution("beta", "1.0", files=owned))
    world = World(python="3.10", steps=(Step(install=("alpha==1.0",)), Step(install=("beta==1.0",))))
    found = {h.mechanism: h.likelihood for h in history.hypotheses(situation_of(planted, "AttributeError: no", world))}
    assert found["one resolution"] < found["drop a step"]


def test_what_has_no_wheel_here_is_no_conflict_when_its_pin_is_loosened(planted):
    planted.release("alpha", ("1.0", "2020-01-01"), tag="py3-none-win_amd64")
    planted.release("beta", ("1.0", "2020-01-01"))
    world = World(python="3.10", requirements=("alpha==1.0", "beta==1.0"))
    situation = situation_of(planted, "resolve: alpha depends on nothing here", world)
    causes = {h.cause.kind for h in builds.relaxed(situation) if h.cause.name == "alpha"}
    assert causes == {"platform"}


def traced(line, words):
    text = f'Traceback (most recent call last):\n  File "<string>", line {line}, in <module>\n{words}'
    return Observation(False, Phase.IMPORT if "Import" in words else Phase.RUN, text)


def test_a_later_line_of_the_probe_is_progress_whatever_the_phase():
    first, second = traced(2, "OSError: no unit"), traced(4, "ImportError: no gamma")
    assert second.later_than(first)
    assert not first.later_than(second)
    assert second.later_than(Observation(False, Phase.RUN, "run me alone"))


REFUSED = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/e/lib/python3.10/site-packages/alpha/data.py", line 156, in __getattr__
    raise {raised}(msg)
{raised}: {message}
"""


@pytest.mark.parametrize(
    ("raised", "message", "first"),
    [
        ("ImportError", "\n`old` has been removed from Alpha since version 1.2.\nSee there.", "alpha<1.2"),
        ("AttributeError", "`a.old` was removed in the Alpha 2.0 release. Use `new`.", "alpha<2.0"),
        ("AttributeError", "'Table' object has no attribute 'append'", "alpha==2.0"),
    ],
)
def test_a_library_that_refuses_a_name_itself_is_taken_older(planted, world, distribution, raised, message, first):
    planted.release("alpha", *((f"{major}.{minor}", "2020-01-01") for major in (1, 2) for minor in range(2)))
    planted.installed = (distribution("alpha", "2.1", modules=frozenset({"alpha", "alpha.data"})),)
    planted.probe = "import alpha"
    text = REFUSED.format(raised=raised, message=message)
    found = [h for h in names.hypotheses(situation_of(planted, text, world)) if h.likelihood > 0.4]
    assert asked(max(found, key=lambda one: one.likelihood).world) == (first,)


def test_a_build_that_fails_contradicts_nothing(planted, world):
    planted.release("alpha", ("1.0", "2020-01-01"), tag=None)
    both = world.model_copy(update={"requirements": ("alpha==1.0", "beta==1.0")})
    said = "Failed to build `alpha==1.0`: it likely depends on cython"
    seen = Observation(False, Phase.BUILD, said)
    found = list(builds.relaxed(planted.situation(both, both, seen)))
    assert {one.cause.kind for one in found} == {"package"}
    resolving = replace(seen, phase=Phase.RESOLVE)
    assert {one.cause.kind for one in builds.relaxed(planted.situation(both, both, resolving))} == {"conflict"}


def test_programs_in_home_are_no_settings(planted, world, distribution):
    planted.installed = (distribution("alpha", "1.0", modules=frozenset({"alpha"})),)
    planted.files = {"home/bin/alpha": "#!/bin/sh\nHERE=1\n", "home/.alpha.cfg": "mode = odd\n"}
    found = surroundings.hypotheses(situation_of(planted, "ValueError: no", world))
    removed = [path for one in found for path in one.world.files.remove if len(one.world.files.remove) == 1]
    assert removed == ["home/.alpha.cfg"]


def test_an_extra_for_everything_comes_after_the_one_for_what_is_missing_and_accuses_that(planted, world, distribution):
    others = tuple(f"need{letter}; extra == 'all'" for letter in "abcde")
    planted.installed = (
        distribution("alpha", "1.0", (*others, "gamma; extra == 'all'", "gamma; extra == 'fast'"), ("all", "fast")),
    )
    situation = situation_of(planted, "ModuleNotFoundError: No module named 'gamma'", world)
    found = sorted(extras.hypotheses(situation), key=lambda one: -one.likelihood)
    assert [asked(one.world) for one in found] == [("alpha[fast]==1.0",), ("alpha[all]==1.0",)]
    assert {one.cause.name for one in found} == {"gamma"}


@pytest.mark.parametrize(
    "text",
    [
        "importlib.metadata.PackageNotFoundError: No package metadata was found for gamma-ray",
        "importlib.metadata.PackageNotFoundError: gamma-ray",
        "pkg_resources.DistributionNotFound: The 'gamma-ray>=1' distribution was not found and is required by alpha",
    ],
)
def test_a_distribution_that_is_looked_up_in_vain_is_added(planted, world, text):
    planted.release("gamma-ray", ("1.0", "2020-01-01"))
    found = best(names.hypotheses, situation_of(planted, text, world))
    assert asked(found.world) == ("alpha==1.0", "gamma-ray")
    assert (found.cause.kind, found.cause.name) == ("missing", "gamma-ray")


@pytest.mark.parametrize(("probe", "lacks"), [("import alpha; alpha.zeros(3).cuda()", True), ("import alpha", False)])
def test_a_build_without_a_gpu_is_no_fault_where_the_probe_asks_for_one_that_is_not_here(planted, world, probe, lacks):
    planted.probe = probe
    situation = situation_of(planted, "AssertionError: Alpha not compiled with CUDA enabled", world)
    found = impossible_here(situation)
    assert (found is not None) == lacks
    planted.accelerators = ("cuda",)
    assert impossible_here(planted.situation(world)) is None


def test_pins_that_want_a_newer_python_get_the_nearest_first(planted, world):
    planted.release("alpha", ("1.0", "2021-12-25"), **{"requires-python": ">=3.9"})
    old = world.model_copy(update={"python": "3.8"})
    seen = Observation(False, Phase.RESOLVE, "alpha==1.0 depends on Python>=3.9")
    found = [one for one in era.hypotheses(planted.situation(old, old, seen)) if one.mechanism == "another Python"]
    assert [one.world.python for one in sorted(found, key=lambda one: -one.likelihood)] == ["3.9", "3.11"]


def test_the_oldest_of_few_series_is_tried_too(planted, world, distribution):
    planted.release("alpha", *((f"{major}.0", "2020-01-01") for major in (1, 2, 3, 4)))
    planted.installed = (distribution("alpha", "4.0", modules=frozenset({"alpha"})),)
    text = "ImportError: cannot import name 'old' from 'alpha' (/e/alpha.py)"
    found = [asked(one.world) for one in names.hypotheses(situation_of(planted, text, world))]
    assert {("alpha==3.0",), ("alpha==2.0",), ("alpha==1.0",)} <= set(found)
