from __future__ import annotations

import pytest

from envmgr.errors import ManifestError
from envmgr.manifest.check import check_collection, check_manifest, check_matrix
from envmgr.manifest.read import parse_manifest, parse_matrix

RUNNERS = ("keras_inference", "torch_mnist")
BACKENDS = ("plaidml", "torch")


def manifest_text(*lines: str, python: str = ">=3.7,<3.10", requirements: str = '["numpy"]') -> str:
    asked = f"requirements = {requirements}" if requirements else "summary = ''"
    return "\n".join(('schema = 1\nname = "x"', f'python = "{python}"', asked, *lines))


def check(text: str, source: str = "manifests/x.toml") -> None:
    check_manifest(parse_manifest(text, source), text=text, source=source, runners=RUNNERS, backends=BACKENDS)


def fails(text: str, source: str = "manifests/x.toml") -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        check(text, source)
    return caught.value


def test_a_good_manifest_passes() -> None:
    check(
        manifest_text(
            'backend = "torch"',
            'runners = ["torch_mnist"]',
            'data = ["~/.keras/models", "weights/../images"]',
            'allow-source = ["*"]',
            "[variants]\npython = ['3.8', '3.7']",
            "[[index]]\nname='one'\nurl='https://one.example/simple'\npackages=['NumPy']",
            "[[expect]]\nrunner='torch_mnist'\nplatform='macos-arm64'\npython='3.8'\noutcome='failed'\nreason='a|b'",
        )
    )


@pytest.mark.parametrize(
    ("line", "what", "rest"),
    [
        ('backend = "plaidm"', "x.toml:5:1: backend: unknown backend 'plaidm'", "did you mean 'plaidml'?"),
        ('runners = ["torch_minst"]', "runners[0]: unknown runner 'torch_minst'", "did you mean 'torch_mnist'?"),
        ('overrides = ["numpy=<2"]', "overrides[0]: not a PEP 508 requirement: 'numpy=<2'", "Write such as"),
        ('build-constraints = ["a b"]', "build-constraints[0]: not a PEP 508", ""),
        ("[build-requires]\na = ['=']", "build-requires.a[0]: not a PEP 508", ""),
        ("[build-requires]\n'a b' = []", "build-requires.a b: not the name of a distribution", ""),
        ('allow-source = ["absl-py==1"]', "allow-source[0]: not the name of a distribution: 'absl-py==1'", "bare"),
        ("platforms = []", "platforms: no platform is listed", ""),
        ('data = ["~/../etc"]', "data[0]: '~/../etc' leaves HOME", ""),
        ('data = ["a/../../b"]', "data[0]: 'a/../../b' leaves the project", ""),
        ('data = ["/etc"]', "data[0]: '/etc' is an absolute path", ""),
        ('data = ["C:/data"]', "is an absolute path", ""),
        ('data = ["~root/x"]', "names another user's home", ""),
        ('data = ["~/"]', "names a whole home or project", ""),
        (
            "[variants]\npython = ['3.10']",
            "x.toml:6:11: variants.python[0]: Python 3.10 is outside",
            "wanted >=3.7,<3.10",
        ),
        ("[variants]\npython = ['py38']", "not a minor version of Python: 'py38'", ""),
        ("[variants]\npython = ['3.8', '3.8']", "variants.python[1]: '3.8' is listed twice", ""),
        ("unset = ['A']\n[env]\nA = 'x'", "unset[0]: 'A' is both set and unset", ""),
        (
            "[[expect]]\nrunner='x'\noutcome='failed'\nreason='a'",
            "x.toml:6:1: expect[0].runner: unknown runner 'x'",
            "known: ",
        ),
        (
            "[[expect]]\noutcome='failed'\nreason='('",
            "x.toml:7:1: expect[0].reason: not a regular expression",
            "found '('",
        ),
        ("[[expect]]\noutcome='xfail'\nreason='a'", "expect[0].outcome: 'xfail' cannot be expected", ""),
        (
            "[[expect]]\nplatform='linux'\noutcome='failed'\nreason='a'",
            "unknown platform 'linux'",
            "known: linux-aarch64",
        ),
        ("[[expect]]\npython='old'\noutcome='failed'\nreason='a'", "not a version of Python: 'old'", ""),
        ("[[step]]\ninstall=['a']", "x.toml:5:1: step: both requirements and steps", ""),
    ],
)
def test_each_rule_names_the_place(line: str, what: str, rest: str) -> None:
    error = fails(manifest_text(line))
    assert what in error.what
    assert rest in error.why + error.hint


@pytest.mark.parametrize(
    ("requirements", "what"),
    [
        ('["numpy", "keras=2"]', "manifests/x.toml:4:26: requirements[1]: not a PEP 508 requirement: 'keras=2'"),
        ('["a @ https://example.org/a.whl"]', "manifests/x.toml:4:17: requirements[0]: 'a' is asked for by URL"),
        ("", "manifests/x.toml:1:1: neither requirements nor steps"),
    ],
)
def test_requirements_are_checked(requirements: str, what: str) -> None:
    assert fails(manifest_text(requirements=requirements)).what == what


@pytest.mark.parametrize(
    ("step", "what"),
    [
        ("install=['a=1']", "step[0].install[0]: not a PEP 508 requirement: 'a=1'"),
        ("uninstall=['a==1']", "step[0].uninstall[0]: not the name of a distribution"),
        ("install=['a']\nflags=['no-deps']", "step[0].flags[0]: not a flag: 'no-deps'"),
        ("install=['a']\nflags=['--only-binary', 'a', 'b']", "step[0].flags[2]: not a flag: 'b'"),
        ("flags=['--no-deps']", "step[0]: this step does nothing"),
    ],
)
def test_steps_are_checked(step: str, what: str) -> None:
    assert what in fails(manifest_text(f"[[step]]\n{step}", requirements="")).what


@pytest.mark.parametrize(
    ("python", "hint"), [("3.8", "Write ==3.8.* for one minor version."), (">=3.x", ""), ("three", "")]
)
def test_a_bad_specifier_is_told(python: str, hint: str) -> None:
    error = fails(manifest_text(python=python))
    assert error.what == f"manifests/x.toml:3:1: python: not a PEP 440 specifier: '{python}'"
    assert error.hint == hint


def test_the_name_is_the_file() -> None:
    error = fails(manifest_text(), "manifests/y.toml")
    assert error.what == "manifests/y.toml:2:1: name: the name is not the file's"
    assert error.why == "wanted 'y', found 'x'"


INDEX = "[[index]]\nname='{0}'\nurl='https://{0}.example/simple'\npackages=['{1}']\n"


def test_two_indexes_of_one_name_are_told() -> None:
    text = manifest_text(INDEX.format("one", "numpy"), INDEX.format("one", "keras"), requirements='["numpy", "keras"]')
    assert "index[1].name: two indexes are called 'one'" in fails(text).what


def test_a_package_of_two_indexes_is_told_unless_their_platforms_differ() -> None:
    both = [INDEX.format("one", "numpy"), INDEX.format("two", "numpy")]
    assert "index[1].packages[0]: 'numpy' is served by the index 'one' already" in fails(manifest_text(*both)).what
    apart = [both[0] + "platforms=['linux-x86_64']", both[1] + "platforms=['windows-x86_64']"]
    check(manifest_text(*apart))


def test_a_package_that_nobody_asked_for_is_told() -> None:
    error = fails(manifest_text(INDEX.format("one", "torch")))
    assert "index[0].packages[0]: 'torch' is not among the requirements" in error.what
    assert error.hint == "Add 'torch' to requirements."


@pytest.mark.parametrize("line", ['overrides = ["NumPy<2"]', "[build-requires]\na = ['numpy']"])
def test_a_package_of_an_explicit_index_is_asked_for_among_requirements_only(line: str) -> None:
    error = fails(manifest_text(line, INDEX.format("one", "numpy")))
    assert "would be taken from the default index, not from 'one'" in error.what


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("https://user:secret@one.example/simple", "the URL holds a credential"),
        ("https://token@one.example/simple", "the URL holds a credential"),
        ("one.example/simple", "not the URL of an index"),
    ],
)
def test_the_url_of_an_index_is_checked(url: str, what: str) -> None:
    error = fails(manifest_text(f"[[index]]\nname='one'\nurl='{url}'\npackages=['numpy']"))
    assert what in error.what
    assert "secret" not in str(error)


def test_two_manifests_of_one_name_are_told_with_both_files() -> None:
    first = parse_manifest(manifest_text(), "x.toml")
    second = first.model_copy(update={"name": "X"})
    check_collection([("a/x.toml", first)])
    with pytest.raises(ManifestError) as caught:
        check_collection([("a/x.toml", first), ("b/X.toml", second)])
    assert caught.value.why == "found in a/x.toml and in b/X.toml"


def test_a_matrix_names_what_there_is() -> None:
    manifests = {"x": parse_manifest(manifest_text(), "x.toml")}
    text = (
        'schema = 1\nname = "quick"\nmanifests = ["x", "xy"]\nreference = ["z"]\n'
        '[[entry]]\nrunner = "torch_minst"\nmanifests = ["x@py3.6"]\n'
    )
    matrix = parse_matrix(text, "quick.toml")
    with pytest.raises(ManifestError) as caught:
        check_matrix(matrix, text=text, source="quick.toml", runners=RUNNERS, manifests=manifests)
    assert [line.partition(" ")[0] for line in caught.value.why.splitlines()] == [
        "quick.toml:3:19:",
        "quick.toml:4:14:",
        "quick.toml:6:1:",
        "quick.toml:7:14:",
    ]
    good = text.replace(', "xy"', "").replace('"z"', '"x"').replace("minst", "mnist").replace("@py3.6", "")
    matrix = parse_matrix(good, "quick.toml")
    check_matrix(matrix, text=good, source="quick.toml", runners=RUNNERS, manifests=manifests)
