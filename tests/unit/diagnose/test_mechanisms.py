import pytest

from envmgr.diagnose.impossible import impossible_here
from envmgr.diagnose.invariants import broken
from envmgr.diagnose.mechanisms import ALL, builds, era, history, names, repair, surroundings
from envmgr.diagnose.worlds import asked
from envmgr.model.finding import World
from envmgr.model.manifest import Step

BROKEN = "ModuleNotFoundError: No module named 'gamma'"


def best(mechanism, situation):
    return max(mechanism(situation), key=lambda hypothesis: hypothesis.rank)


def situation_of(planted, text, world, **more):
    planted.rule = lambda _: text
    return planted.situation(world, **more)


def test_a_history_that_left_a_requirement_unmet_becomes_one_resolution_or_loses_a_step(planted, distribution):
    planted.installed = (distribution("alpha", "1.0", requires=("beta<2",)), distribution("beta", "3"))
    world = World(python="3.8", steps=(Step(install=("alpha==1.0",)), Step(install=("beta==3",), flags=("--no-deps",))))
    found = {asked(h.world): h for h in history.hypotheses(situation_of(planted, "ImportError: no", world))}
    assert ("alpha==1.0", "beta") in found
    assert found["alpha==1.0",].cause.name == "beta"


def test_an_old_pip_is_replaced_by_the_newest_first(planted):
    world = World(python="3.8", steps=(Step(install=("alpha==1.0",), installer="pip==18.1"),))
    found = best(history.hypotheses, situation_of(planted, "resolve: no matching distribution", world))
    assert found.world.steps[0].installer == "pip"
    assert found.cause.name == "pip"


def test_a_build_gets_the_tools_of_its_day(planted, world):
    planted.release("alpha", ("1.0", "2020-01-01"), tag=None)
    planted.release("cython", ("0.29", "2019-01-01"), ("3.0", "2023-07-01"))
    found = best(builds.hypotheses, situation_of(planted, "resolve: failed to build alpha", world))
    assert found.world.build_constraints == ("cython<=0.29",)
    assert found.cause.name == "cython"


def test_a_build_that_lacks_a_module_gets_it_without_isolation(planted, world):
    planted.release("alpha", ("1.0", "2020-01-01"), tag=None)
    text = "resolve: failed to build alpha\n" + BROKEN
    proposals = [h for h in builds.hypotheses(situation_of(planted, text, world)) if h.world.build_requires]
    assert proposals[0].world.build_requires == {"alpha": ("gamma",)}


def test_families_of_one_version_move_together(planted, distribution):
    planted.release("plaidml", ("0.6.4", "2019-01-01"), ("0.7.0", "2020-01-01"))
    planted.installed = (distribution("plaidml", "0.7.0"), distribution("plaidml-keras", "0.6.4"))
    world = World(python="3.8", requirements=("plaidml-keras==0.6.4",))
    situation = situation_of(planted, "AssertionError: apart", world)
    found = [h for h in era.hypotheses(situation) if h.mechanism == "move a family together"]
    assert asked(found[0].world) == ("plaidml-keras==0.6.4", "plaidml==0.6.4")
    assert broken(situation).cause.name == "plaidml"


def test_a_family_that_was_pinned_apart_on_purpose_breaks_no_invariant(planted, distribution):
    planted.installed = (distribution("plaidml", "0.7.0"), distribution("plaidml-keras", "0.6.4"))
    world = World(python="3.8", requirements=("plaidml-keras==0.6.4", "plaidml==0.7.0"))
    assert broken(situation_of(planted, "", world)) is None


def test_what_is_made_for_another_system_is_left_to_it_when_nothing_imports_it(planted, world):
    planted.release("maconly", ("1.0", "2020-01-01"), tag="cp310-cp310-macosx_11_0_arm64")
    planted.probe = "import alpha"
    world = world.model_copy(update={"requirements": ("alpha", "maconly==1.0")})
    found = best(repair.leave_out, situation_of(planted, "resolve: maconly has no wheels", world))
    assert asked(found.world)[1] == "maconly==1.0; sys_platform == 'darwin'"


def test_the_date_limit_before_a_pin_is_moved_behind_it(planted, world):
    planted.release("alpha", ("1.0", "2020-07-27"))
    world = world.model_copy(update={"exclude_newer": "2020-06-01"})
    found = best(era.hypotheses, situation_of(planted, "resolve: no solution", world))
    assert found.world.exclude_newer == "2020-08-26"
    assert found.cause.kind == "index"


def test_a_backend_is_chosen_among_those_installed(planted, world, distribution):
    installed = [distribution(name, "1", modules=frozenset({name})) for name in ("keras", "jax")]
    planted.installed = tuple(installed)
    planted.probe = "import keras; assert keras.backend.backend() == 'jax'"
    found = best(surroundings.hypotheses, situation_of(planted, "ModuleNotFoundError: No module named 'torch'", world))
    assert found.world.variables.set == {"KERAS_BACKEND": "jax"}


def test_two_owners_of_one_file_are_reduced_to_one(planted, distribution):
    one = frozenset({"jwt/__init__.py"})
    planted.installed = (distribution("jwt", "1.3.1", files=one), distribution("pyjwt", "2", files=one))
    world = World(python="3.8", requirements=("pyjwt", "jwt==1.3.1"))
    found = [
        h for h in names.hypotheses(situation_of(planted, "TypeError: no", world)) if h.mechanism == "keep one owner"
    ]
    assert {asked(h.world) for h in found} == {("pyjwt",), ("jwt==1.3.1",)}
    assert all(h.cause.kind == "conflict" for h in found)


@pytest.mark.parametrize(
    ("probe", "text"),
    [
        ("import jax; assert jax.default_backend() == 'gpu'", "AssertionError: cpu"),
        ("import pynvml", "NVMLError: NVML Shared Library Not Found"),
        ("import x", "OSError: CUDA_HOME environment variable is not set"),
    ],
)
def test_what_needs_a_device_that_is_not_here_is_known_early(planted, world, probe, text):
    planted.probe = probe
    text = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n' + text
    planted.rule = lambda _: text
    seen = planted.observe([world])[0]
    seen = type(seen)(False, "check" if "Assertion" in text else seen.phase, text)
    assert impossible_here(planted.situation(world, seen=seen)).cause.kind == "hardware"
    planted.accelerators = ("a card",)
    assert impossible_here(planted.situation(world, seen=seen)) is None


@pytest.mark.parametrize(
    "text", ["", "resolve:", "resolve: x", "\x00", "Error: " * 50, BROKEN, "ImportError: " + "(" * 200]
)
def test_no_mechanism_stumbles_over_any_failure(planted, text):
    for world in (
        World(python="3.8"),
        World(python="3.8", requirements=("-r y", "a @ b", "==")),
        World(python="3.8", steps=(Step(),)),
    ):
        situation = situation_of(planted, text, world)
        for mechanism in ALL:
            assert all(0 <= hypothesis.likelihood <= 1.5 for hypothesis in mechanism(situation))
