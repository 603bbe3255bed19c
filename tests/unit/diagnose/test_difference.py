"""What can matter first stands first: the Python, the platform, a family apart, what failed; then the rest."""

from envmgr.diagnose.difference import compare, merged
from envmgr.model.difference import Portrait


def portrait(label="A", **parts):
    return Portrait(kind="env", label=label, **parts)


def order(one, other):
    return [each.name for each in compare(one, other).differences]


def test_the_python_comes_before_everything_and_its_patch_after_majors():
    one = portrait(
        interpreter={"minor": "3.8", "version": "3.8.18"}, distributions={"numpy": "1.24.4", "six": "1.16.0"}
    )
    other = portrait(
        interpreter={"minor": "3.9", "version": "3.9.18"}, distributions={"numpy": "2.0.0", "six": "1.16.1"}
    )
    assert order(one, other) == ["minor", "numpy", "version", "six"]
    found = compare(one, other).differences
    assert [each.telling for each in found] == [True, True, True, False]


def test_a_family_apart_comes_before_other_versions():
    one = portrait(distributions={"plaidml": "0.6.4", "plaidml-keras": "0.6.4", "a": "1.0"})
    other = portrait(distributions={"plaidml": "0.7.0", "plaidml-keras": "0.6.4", "a": "2.0"})
    first = compare(one, other).differences[0]
    assert (first.name, first.telling) == ("plaidml", True)
    assert "plaidml 0.7.0, plaidml-keras 0.6.4 stand together" in first.why


def test_what_failed_comes_before_what_did_not():
    one = portrait(distributions={"a": "1.0", "b": "1.0.0"}, suspects=("b",))
    other = portrait(distributions={"a": "2.0", "b": "1.0.1"})
    assert order(one, other) == ["b", "a"]


def test_one_version_with_other_files_is_told():
    one = portrait(distributions={"a": "1.0"}, artefacts={"a": ("sha256:1",)}, contents={"a": "x"})
    other = portrait(distributions={"a": "1.0"}, artefacts={"a": ("sha256:2",)}, contents={"a": "y"})
    assert [each.kind for each in compare(one, other).differences] == ["artefact", "content"]
    both = portrait(distributions={"a": "1.0"}, artefacts={"a": ("sha256:1", "sha256:2")})
    assert compare(one, both).differences == ()


def test_variables_that_steer_a_backend_matter_first():
    one = portrait(variables={"KERAS_BACKEND": "torch", "LANG": "C"}, distributions={"a": "1.0"})
    other = portrait(variables={"KERAS_BACKEND": "jax", "LANG": "de"}, distributions={"a": "2.0"})
    assert order(one, other) == ["KERAS_BACKEND", "a", "LANG"]


def test_what_only_one_side_tells_is_not_compared_and_said():
    found = compare(portrait(distributions={"a": "1"}), portrait("B", host={"system": "linux"}))
    assert found.differences == ()
    assert found.compared == ()
    assert found.not_compared == ("distributions: only A", "host: only B")


def test_what_differs_alike_in_several_version_sets_is_told_once():
    pairs = [
        compare(portrait(scope=scope, distributions={"a": "1"}), portrait(scope=scope, distributions={"a": "2"}))
        for scope in ("x", "y")
    ]
    (only,) = merged("A", "B", pairs).differences
    assert only.scope == "x, y"
