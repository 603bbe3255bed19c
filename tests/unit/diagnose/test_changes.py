from envmgr.diagnose.changes import Change, changes_between, failure_of, mixture, needs_of, pinned, plainly
from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.observation import Observation
from envmgr.model.finding import Variables, World
from envmgr.model.outcome import Phase

BASE = World(python="3.11", variables=Variables(set={"MODE": "old"}))
GREEN = pinned(BASE, "3.11.7", {"alpha": "1.0", "beta": "1.0", "gone": "3"})
RED = pinned(
    World(python="3.12", variables=Variables(set={"MODE": "new"})),
    "3.12.1",
    {"alpha": "2.0", "beta": "1.0", "more": "5"},
)


def test_a_change_of_a_secret_does_not_show_it():
    change = Change("variable", "HUB_TOKEN", "abc", "def")
    assert change.text() == "HUB_TOKEN (not shown) instead of (not shown)"
    assert Change("variable", "HUB_TOKEN", "", "def").text() == "HUB_TOKEN (not shown), which was not there before"


def test_everything_that_differs_is_a_change():
    assert [change.text() for change in changes_between(GREEN, RED)] == [
        "alpha 2.0 instead of 1.0",
        "gone 3 gone",
        "more 5, which was not there before",
        "python 3.12.1 instead of 3.11.7",
        "MODE new instead of old",
    ]


def test_a_mixture_goes_from_one_end_to_the_other():
    changes = changes_between(GREEN, RED)
    assert mixture(GREEN, RED, ()).requirements == GREEN.requirements
    every = mixture(GREEN, RED, changes)
    assert (every.python, every.requirements, every.variables) == (RED.python, RED.requirements, RED.variables)
    one = mixture(GREEN, RED, changes[:1])
    assert one.requirements == ("alpha==2.0", "beta==1.0", "gone==3")
    assert (one.python, one.variables.set) == ("3.11.7", {"MODE": "old"})


def test_a_minor_and_a_patch_of_it_are_one_python():
    assert changes_between(pinned(BASE, "3.11", {}), pinned(BASE, "3.11.7", {})) == ()


def test_what_requires_a_change_needs_it():
    alpha, beta = Change("package", "alpha", "1.0", "2.0"), Change("package", "beta", "1.0", "2.0")
    green = Contents((Distribution("alpha", "1.0", ("beta<2",)), Distribution("beta", "1.0")))
    red = Contents((Distribution("alpha", "2.0"), Distribution("beta", "2.0", ("alpha>=2; python_version>'3'",))))
    needs = needs_of((alpha, beta), green, red)
    assert needs.closed([alpha]) == {alpha}
    assert needs.closed([beta]) == {alpha, beta}
    assert needs_of((beta, alpha), green, Contents()).closed([beta]) == {alpha, beta}


def test_a_world_can_be_installed_without_a_look_at_requirements():
    world = plainly(GREEN)
    assert (world.requirements, world.steps[0].flags) == ((), ("--no-deps",))


def test_a_failure_is_known_again_whatever_its_numbers_and_places():
    one = Observation(False, Phase.RUN, "ValueError: 3 of /a/b wrong")
    other = Observation(False, Phase.RUN, "ValueError: 4 of /c/d wrong")
    assert failure_of(one) == failure_of(other) != failure_of(Observation(False, Phase.RUN, "ValueError: right"))
    assert failure_of(Observation(True, None, "")) == ""
    assert failure_of(Observation(False, Phase.RESOLVE, "no solution")) is None


def test_a_change_is_a_cause_of_its_kind():
    python = Change("python", "python", "3.11", "3.12")
    assert (python.cause([]).kind, python.cause([]).name) == ("python", "3.12")
    assert Change("package", "gone", "3", "").cause([]).kind == "missing"
    together = Change("package", "alpha", "1", "2").cause([python])
    assert "only together with python 3.12 instead of 3.11" in together.why
