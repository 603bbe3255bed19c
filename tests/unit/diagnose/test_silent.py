import pytest

from envmgr.diagnose.silent import Asked, finding_of
from envmgr.model.env import Check


def failed(name, **fields):
    return Check(name=name, passed=False, **fields)


def test_an_env_that_is_what_was_asked_has_no_finding():
    assert finding_of([Check(name="family", passed=True), failed("file")], Asked("one")) is None


def test_core_and_bridge_apart_are_pinned_to_the_one_that_was_asked_for():
    resolved = {"plaidml": "0.7.0", "plaidml-keras": "0.6.4"}
    found = finding_of([failed("family")], Asked("one", ("plaidml-keras==0.6.4",), resolved, backend="plaidml"))
    assert (found.cause.kind, found.cause.name) == ("package", "plaidml")
    assert set(found.fix.requirements) == {"plaidml==0.6.4", "plaidml-keras==0.6.4"}
    assert not found.confirmed
    assert found.next == "envmgr diagnose one --probe 'import plaidml'"


@pytest.mark.parametrize("asked", [("plaidml",), ("plaidml", "plaidml-keras"), ()])
def test_without_a_pin_the_one_asked_for_by_name_decides_and_of_several_the_newest(asked):
    resolved = {"plaidml": "0.10.0", "plaidml-keras": "0.9.0"}
    found = finding_of([failed("family")], Asked("one", asked, resolved))
    assert found.cause.name == "plaidml-keras"
    assert set(found.fix.requirements) == {"plaidml==0.10.0", "plaidml-keras==0.10.0"}


def test_a_translated_interpreter_is_replaced_by_a_native_one():
    check = failed(
        "architecture", wanted="a Python of this machine's own architecture, arm64", found="x86_64, translated"
    )
    found = finding_of([check], Asked("one", native_python="cpython-3.11-macos-aarch64"))
    assert (found.cause.kind, found.cause.name) == ("python", "x86_64")
    assert found.fix.python == "cpython-3.11-macos-aarch64"


def test_another_active_backend_is_accused_by_where_it_comes_from():
    check = failed("keras", subject="keras 3.1", wanted="the backend jax", found="tensorflow, from keras.json")
    found = finding_of([check], Asked("one", backend="jax", backend_value="jax"))
    assert (found.cause.kind, found.cause.name) == ("env-state", "keras.json")
    assert found.fix.env.set == {"KERAS_BACKEND": "jax"}


def test_several_failures_are_one_finding_with_several_causes():
    device = failed("device", subject="torch 2.1+cpu", wanted="cuda", found="is a build without cuda")
    found = finding_of([device, failed("keras", found="x, from KERAS_BACKEND")], Asked("one"))
    assert [cause.name for cause in found.causes] == ["torch", "KERAS_BACKEND"]
    assert len(found.evidence) == 2
