from __future__ import annotations

from datetime import date

import pytest

from envmgr.errors import ManifestError
from envmgr.manifest.read import parse_manifest, parse_matrix
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform

WHOLE = """
schema = 1
name = "whole"
summary = "Every key"
python = ">=3.7,<3.10"
requirements = ["plaidml==0.6.4"]
exclude-newer = 2026-11-01
platforms = ["linux-x86_64"]
backend = "plaidml"
runners = ["keras_inference"]
device = "llvm_cpu.0"
unset = ["KERAS_BACKEND"]
data = ["~/.keras/models"]
allow-source = ["absl-py"]
build-constraints = ["setuptools<60"]
overrides = ["numpy<2"]
[build-requires]
flash-attn = ["torch"]
[env]
A = "1"
[variants]
python = ["3.8", "3.7"]
[[index]]
name = "other"
url = "https://example.org/simple"
packages = ["plaidml"]
[[expect]]
runner = "keras_inference"
outcome = "wrong"
reason = "softmax"
"""


def fails(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, "manifests/x.toml")
    return caught.value


def test_every_key_is_read() -> None:
    manifest = parse_manifest(WHOLE, "manifests/whole.toml")
    assert manifest.exclude_newer == date(2026, 11, 1)
    assert manifest.platforms == (Platform.LINUX_X86_64,)
    assert manifest.build_requires == {"flash-attn": ("torch",)}
    assert manifest.expect[0].outcome is Outcome.WRONG
    written = {name for name in Manifest.model_fields if name not in {"floating", "step"}}
    assert manifest.model_fields_set == written


def test_every_fault_is_told_at_once_with_its_line_and_column() -> None:
    error = fails('schema = 1\nname = "x"\npython = 3\nrequirments = ["a"]\n[env]\nA = 1\n')
    assert error.what == "manifests/x.toml: 3 faults"
    assert error.why.splitlines() == [
        "manifests/x.toml:3:1: python: wanted a string, found the number 3",
        "manifests/x.toml:4:1: requirments: unknown key; did you mean 'requirements'?",
        "manifests/x.toml:6:1: env.A: wanted a string, found the number 1",
    ]
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("line", "what", "rest"),
    [
        ('requirements = "numpy"', "x.toml:4:1: requirements: wanted a list, found the string 'numpy'", ""),
        ("requirements = [1]", "x.toml:4:17: requirements[0]: wanted a string, found the number 1", ""),
        ('floating = "yes"', "x.toml:4:1: floating: wanted true or false, found the string 'yes'", ""),
        ('platforms = ["linux-x86"]', "x.toml:4:14: platforms[0]: unknown value", "did you mean 'linux-x86_64'?"),
        ('exclude-newer = "soon"', "x.toml:4:1: exclude-newer: wanted a date such as 2019-06-01", ""),
        ('exclude_newer = "soon"', "x.toml:4:1: exclude_newer: unknown key", "did you mean 'exclude-newer'?"),
        ("[[index]]\nname = 'a'\nurl = 'b'", "x.toml:4:1: index[0].packages: this key is missing", "packages = …"),
        ("[variants]\npython = []", "x.toml:5:1: variants.python: wanted at least one item, found a list of 0", ""),
        ("[[step]]\ninstaller = 'conda'", "x.toml:5:1: step[0].installer: bad value: found the string 'conda'", "pip"),
        ("[[expect]]\noutcome='bad'\nreason='x'", "x.toml:5:1: expect[0].outcome: unknown value", "known: "),
    ],
)
def test_one_fault_says_what_was_wanted_and_found(line: str, what: str, rest: str) -> None:
    error = fails(f'schema = 1\nname = "x"\npython = ">=3"\n{line}\n')
    assert what in error.what
    assert rest in error.why + error.hint


def test_a_missing_key_is_told() -> None:
    assert fails('schema = 1\nname = "x"').what == "manifests/x.toml:1:1: python: this key is missing"


@pytest.mark.parametrize(
    ("text", "where"),
    [("schema = 1\nname = x", "2:8"), ('a = 1\na = "b"', "2:8"), ('schema = 1\nr = ["a"', "2:9"), ("schema", "1:7")],
)
def test_a_syntax_error_has_its_line_and_column(text: str, where: str) -> None:
    assert fails(text).what.startswith(f"manifests/x.toml:{where}: not valid TOML: ")


def test_a_missing_schema_is_told_before_anything_else() -> None:
    error = fails('name = "x"\nnonsense = 1')
    assert error.what == "manifests/x.toml:1:1: the key 'schema' is missing"
    assert error.hint == "Add the line: schema = 1"


def test_a_newer_schema_is_told_before_anything_else() -> None:
    error = fails("schema = 2\nnovelty = 1")
    assert (error.why, error.hint) == ("wanted schema = 1, found 2", "Update envmgr.")


def test_a_schema_of_the_wrong_type_is_told() -> None:
    assert "schema" in fails('schema = "1"\nname = "x"\npython = ">=3"').what


def test_a_byte_order_mark_does_no_harm() -> None:
    assert fails('\ufeffschema = 1\nname = "x"\npython = 3').what.startswith("manifests/x.toml:3:1: python")


def test_a_matrix_is_read_and_its_faults_told() -> None:
    text = 'schema = 1\nname = "quick"\nmanifests = ["a"]\ntimeout = 30\n[[entry]]\nrunner = "r"\n'
    assert parse_matrix(text, "quick.toml").timeout == 30
    with pytest.raises(ManifestError) as caught:
        parse_matrix(text.replace("runner", "runer").replace("30", '"30"'), "quick.toml")
    assert caught.value.why.splitlines() == [
        "quick.toml:4:1: timeout: wanted a number, found the string '30'",
        "quick.toml:5:1: entry[0].runner: this key is missing; Add it: runner = …",
        "quick.toml:6:1: entry[0].runer: unknown key; did you mean 'runner'?",
    ]
