"""Which interpreter serves a manifest, and what is said when none does."""

import itertools

import pytest

from envmgr.errors import UsageError
from envmgr.host.match import SOURCES, match
from envmgr.model.host import HostFacts, Interpreter, Lack, RejectedInterpreter
from envmgr.model.manifest import Manifest
from envmgr.model.platform import Platform


def python(version, arch="x86_64", system="linux", source="pyenv", **more):
    path = f"/{source}/{version}-{arch}/bin/python"
    return Interpreter(executable=path, version=version, arch=arch, system=system, source=source, **more)


def host(*interpreters, system="linux", machine="x86_64", **more):
    return HostFacts(name="host", system=system, machine=machine, interpreters=interpreters, **more)


def manifest(specifier=">=3.7,<3.10", variants=(), platforms=tuple(Platform)):
    more = {"variants": {"python": variants}} if variants else {}
    return Manifest(schema=1, name="plaidml-0.6.4", python=specifier, platforms=platforms, **more)


def chosen(found):
    assert found.fits, found.reason
    return found.interpreter.executable


def test_the_newest_version_that_fits_is_taken():
    facts = host(python("3.9.1"), python("3.9.18"), python("3.10.2"), python("3.8.18"))
    assert match(manifest(), "", facts).interpreter.version == "3.9.18"


def test_a_variant_narrows_the_version_and_the_first_is_the_default():
    facts = host(python("3.9.18"), python("3.8.18"), python("3.7.16"))
    three = manifest(variants=("3.8", "3.7", "3.9"))
    assert match(three, "py3.7", facts).interpreter.version == "3.7.16"
    assert match(three, "", facts).interpreter.version == "3.8.18"
    assert match(three, "default", facts).interpreter.version == "3.8.18"


@pytest.mark.parametrize(("better", "worse"), list(itertools.pairwise(SOURCES)))
def test_of_equal_versions_the_source_decides(better, worse):
    facts = host(python("3.8.18", source=worse), python("3.8.18", source=better))
    assert match(manifest(), "", facts).interpreter.source == better


def test_a_finished_release_is_taken_before_a_newer_candidate():
    facts = host(python("3.9.0rc1"), python("3.8.18"))
    assert match(manifest(), "", facts).interpreter.version == "3.8.18"


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        ("3.8", "3.8.18"),
        ("3.8.10", "3.8.10"),
        ("python3.9", "3.9.18"),
        ("cpython-3.8", "3.8.18"),
        ("cpython@3.8", "3.8.18"),
        ("<3.9", "3.8.18"),
        (">=3.8, !=3.9.18", "3.8.18"),
        ("cpython-3.8-linux-x86_64-gnu", "3.8.18"),
        ("/pyenv/3.8.10-x86_64/bin/python", "3.8.10"),
    ],
)
def test_a_request_narrows_the_choice(request_, version):
    facts = host(python("3.9.18"), python("3.8.18"), python("3.8.10"))
    assert match(manifest(), "", facts, request_).interpreter.version == version


def test_a_request_goes_before_the_default_variant_but_not_before_the_manifest():
    facts = host(python("3.9.18"), python("3.8.18"), python("3.12.1"))
    assert match(manifest(variants=("3.8", "3.9")), "", facts, "3.9").interpreter.version == "3.9.18"
    refused = match(manifest(), "", facts, "3.12")
    assert "wants Python >=3.7,<3.10 as 3.12" in refused.reason


def test_an_interpreter_found_by_option_stands_for_the_requested_path():
    facts = host(python("3.8.18", source="option"), python("3.9.18"))
    assert match(manifest(), "", facts, "./link-to-python").interpreter.source == "option"


def test_a_requested_path_that_does_not_fit_says_what_it_is():
    found = match(manifest(), "", host(python("3.12.1")), "/pyenv/3.12.1-x86_64/bin/python")
    assert "CPython 3.12.1 x86_64" in found.reason
    assert "not Python >=3.7,<3.10" in found.reason


def test_a_requested_path_that_was_rejected_says_why():
    rejected = RejectedInterpreter(executable="/old/python", source="option", reason="Python 2.7.18 is too old")
    found = match(manifest(), "", host(rejected_interpreters=(rejected,), fetchable_pythons=("3.8",)), "/old/python")
    assert found.fetch is None
    assert "2.7.18 is too old" in found.reason


@pytest.mark.parametrize(
    ("unusual", "request_"),
    [
        (python("3.13.1", abi_flags="t"), "3.13t"),
        (python("3.13.1", implementation="PyPy"), "pypy3.13"),
    ],
)
def test_unusual_pythons_serve_on_request_only(unusual, request_):
    any_python = manifest(">=3.8")
    assert match(any_python, "", host(unusual, python("3.8.18"))).interpreter.version == "3.8.18"
    assert not match(any_python, "", host(unusual)).fits
    assert match(any_python, "", host(unusual, python("3.13.1")), request_).interpreter == unusual


@pytest.mark.parametrize("request_", ["3.8foo", ">=three", "=3.8"])
def test_a_request_that_makes_no_sense_is_a_usage_error(request_):
    with pytest.raises(UsageError, match=request_):
        match(manifest(), "", host(python("3.8.18")), request_)


def test_a_32_bit_python_does_not_serve():
    found = match(manifest(), "", host(python("3.8.10", arch="x86")))
    assert not found.fits
    assert "is for linux-x86, wanted linux-x86_64" in found.considered[0]


def test_what_is_missing_is_fetched_where_uv_can():
    found = match(manifest(variants=("3.8",)), "", host(python("3.12.1"), fetchable_pythons=("3.12", "3.9", "3.8")))
    assert (found.fetch, found.platform, found.interpreter) == (
        "cpython-3.8-linux-x86_64",
        Platform.LINUX_X86_64,
        None,
    )
    assert found.fits


@pytest.mark.parametrize(
    ("specifier", "fetch"),
    [(">=3.8", "3.12"), ("==3.8.18", "3.8.18"), (">=3.8,<3.8.5", "3.8.4"), ("!=3.12.*", "3.8"), (">=3.8,<4", "3.12")],
)
def test_the_newest_that_fits_is_fetched(specifier, fetch):
    found = match(manifest(specifier), "", host(fetchable_pythons=("3.12", "3.8")))
    assert found.fetch == f"cpython-{fetch}-linux-x86_64"


def test_python_3_7_cannot_be_fetched_and_the_reason_says_how_to_get_it():
    facts = host(python("3.12.1"), fetchable_pythons=("3.12", "3.8"))
    found = match(manifest(variants=("3.8", "3.7")), "py3.7", facts)
    assert found.reason == (
        "plaidml-0.6.4@py3.7 wants Python 3.7 for linux-x86_64; found 3.12.1 x86_64; "
        "uv cannot fetch it: pyenv install 3.7"
    )


def test_without_downloads_the_reason_names_envmgrs_own_command():
    found = match(manifest(variants=("3.8",)), "", host())
    assert found.reason.endswith("found no Python; get it: envmgr python install 3.8")


def test_a_platform_that_the_manifest_lacks():
    found = match(manifest(platforms=("macos-x86_64", "windows-x86_64")), "", host(python("3.8.18")))
    assert found.reason == "plaidml-0.6.4 exists for macos-x86_64, windows-x86_64; this host is linux-x86_64"
    assert found.platform is None


def mac(*interpreters, **more):
    return host(*interpreters, system="macos", machine="arm64", **more)


INTEL = python("3.8.18", arch="x86_64", system="macos", translated=True)
APPLE = python("3.8.10", arch="arm64", system="macos")
BOTH = ("macos-x86_64", "macos-arm64")


def test_native_goes_before_translated_whatever_the_order_of_platforms():
    assert match(manifest(platforms=BOTH), "", mac(INTEL, APPLE)).platform == "macos-arm64"
    assert match(manifest(platforms=BOTH[::-1]), "", mac(INTEL, APPLE)).platform == "macos-arm64"


def test_a_native_python_is_fetched_before_a_translated_one_is_used():
    found = match(manifest(platforms=BOTH), "", mac(INTEL, fetchable_pythons=("3.8",)))
    assert (found.fetch, found.platform) == ("cpython-3.8-macos-aarch64", "macos-arm64")


def test_a_translated_python_serves_where_no_native_one_can():
    assert match(manifest(platforms=BOTH), "", mac(INTEL)).interpreter == INTEL
    assert match(manifest(platforms=BOTH[:1]), "", mac(INTEL, APPLE)).interpreter == INTEL


def test_an_explicit_platform_in_the_request_is_kept():
    found = match(manifest(platforms=BOTH), "", mac(INTEL, APPLE), "cpython-3.8-macos-x86_64")
    assert found.interpreter == INTEL
    refused = match(manifest(platforms=BOTH[1:]), "", mac(INTEL, APPLE), "cpython-3.8-macos-x86_64")
    assert "asked for was macos-x86_64" in refused.reason


def test_x86_64_is_fetched_for_apple_silicon_only_where_rosetta_is():
    facts = mac(APPLE, fetchable_pythons=("3.8", "3.8-macos-x86_64"))
    only_intel = manifest(platforms=BOTH[:1])
    assert match(only_intel, "", facts).fetch == "cpython-3.8-macos-x86_64"
    lack = Lack(need="os", name="Rosetta 2", why="")
    refused = match(only_intel, "", facts.model_copy(update={"lacks": (lack,)}))
    assert refused.reason == (
        "plaidml-0.6.4 wants Python >=3.7,<3.10 for macos-x86_64; found 3.8.10 arm64; get an x86-64 Python that "
        "Rosetta runs: softwareupdate --install-rosetta, then uv python install cpython-3.8-macos-x86_64-none"
    )


def test_what_uv_has_for_apple_silicon_alone_is_no_x86_64_python():
    assert not match(manifest(platforms=BOTH[:1]), "", mac(APPLE, fetchable_pythons=("3.8",))).fits


def test_an_x86_64_python_3_7_on_apple_silicon_comes_from_pyenv():
    found = match(manifest(platforms=BOTH[:1]), "py3.7", mac(APPLE, fetchable_pythons=("3.8", "3.8-macos-x86_64")))
    assert found.reason.endswith("Rosetta runs: arch -x86_64 pyenv install 3.7")


def test_an_impossible_specifier_says_so():
    assert "no Python meets that" in match(manifest("<3.0"), "", host(python("3.8.18"))).reason


def test_every_interpreter_is_accounted_for():
    facts = host(python("3.8.18"), python("3.12.1"), python("3.8.10", arch="x86"))
    considered = match(manifest(), "", facts).considered
    assert [line.rpartition(": ")[2] for line in considered] == [
        "fits",
        "not Python >=3.7,<3.10",
        "is for linux-x86, wanted linux-x86_64",
    ]
