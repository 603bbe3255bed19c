"""Histories are played as typed, and what is really there is recorded after each step."""

import hashlib

import pytest

from envmgr.env.accepted import MARKER
from envmgr.env.build import build
from envmgr.env.content import HistoryContent
from envmgr.env.history import HistoryError
from envmgr.errors import BuildError
from envmgr.model.manifest import Step

pytestmark = pytest.mark.integration


@pytest.fixture
def play(ask, tools):
    def make(*steps, invariants=lambda resolved: ()):
        digest = hashlib.sha256(repr(steps).encode()).hexdigest()
        request = ask().model_copy(update={"content": HistoryContent(digest=digest, steps=steps), "key": digest[:16]})
        return request, lambda: build(request, tools, invariants)

    return make


def bridge_follows_core(resolved):
    apart = resolved.get("core") != resolved.get("bridge")
    return (
        (f"core and bridge apart: core {resolved.get('core')} under bridge {resolved.get('bridge')}",) if apart else ()
    )


def test_a_bridge_that_does_not_pin_its_core_comes_apart(wheelhouse, play):
    for version in ("0.6.4", "0.7.0"):
        wheelhouse.wheel("core", version)
        wheelhouse.wheel("bridge", version, requires=["core"])
    steps = [Step(install=(f"bridge=={version}",), installer="uv") for version in ("0.7.0", "0.6.4", "0.7.0")]
    _, run = play(*steps, invariants=bridge_follows_core)
    states = run().steps
    assert [state.asked for state in states][:2] == ["uv pip install bridge==0.7.0", "uv pip install bridge==0.6.4"]
    assert [state.resolved for state in states] == [
        {"core": "0.7.0", "bridge": "0.7.0"},
        {"core": "0.7.0", "bridge": "0.6.4"},
        {"core": "0.7.0", "bridge": "0.7.0"},
    ]
    assert [bool(state.mismatches) for state in states] == [False, True, False]
    assert "core 0.7.0 under bridge 0.6.4" in states[1].mismatches[0]


def test_uninstall_and_flags_are_played_as_typed(wheelhouse, play):
    wheelhouse.wheel("core", "1.0")
    wheelhouse.wheel("bridge", "1.0", requires=["core"])
    _, run = play(
        Step(install=("bridge",), flags=("--no-deps",), installer="uv"),
        Step(install=("core",), uninstall=("bridge",), installer="uv"),
    )
    states = run().steps
    assert [state.resolved for state in states] == [{"bridge": "1.0"}, {"core": "1.0"}]
    assert states[0].asked == "uv pip install --no-deps bridge"
    assert states[1].asked == "uv pip uninstall bridge && uv pip install core"


def test_what_was_asked_and_is_not_there_is_a_mismatch(wheelhouse, play):
    wheelhouse.wheel("core", "1.0")
    _, run = play(
        Step(install=("core==1.0",), installer="uv"),
        Step(install=("core==1.0",), flags=("--dry-run", "--reinstall"), uninstall=("core",), installer="uv"),
    )
    assert run().steps[1].mismatches == ("asked for core==1.0; it is not installed",)


def test_a_failing_step_stops_the_history_with_all_states(wheelhouse, play):
    wheelhouse.wheel("core", "1.0")
    steps = [Step(install=(what,), installer="uv") for what in ("core==1.0", "core==9.9", "core==1.0")]
    request, run = play(*steps)
    with pytest.raises(HistoryError) as caught:
        run()
    assert [(state.number, state.exit_code == 0) for state in caught.value.states] == [(1, True), (2, False)]
    assert "step 2 of 3 failed: uv pip install core==9.9" in caught.value.what
    assert "core==9.9" in caught.value.why
    assert caught.value.gone
    assert not (request.folder / MARKER).exists()
    assert (request.folder / "step-2.log").exists()


def test_a_pip_that_cannot_be_had_is_named(play):
    _, run = play(Step(install=("core==1.0",), installer="pip==19.3.1"))
    with pytest.raises(BuildError, match=r"pip==19\.3\.1 cannot be put into the environment"):
        run()
