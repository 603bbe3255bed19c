"""Resolutions by the real uv against indexes that hold a trap each."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from envmgr.errors import ResolveError
from envmgr.lock.parse import parse
from envmgr.lock.render import build_constraints, render
from envmgr.model.manifest import Index
from envmgr.model.platform import Platform

pytestmark = pytest.mark.integration

BACKEND = """
import os, zipfile


def get_requires_for_build_wheel(config_settings=None):
    return ["extra-part"]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "built-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("built-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n")
        wheel.writestr("built-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("built-1.0.dist-info/RECORD", "")
    return name
"""


def pins(resolution):
    return {each.name: each.version for each in resolution.lock.distributions}


def inner(url, *packages, **keys):
    return (Index(name="inner", url=url, packages=packages, **keys),)


def test_a_lock_holds_versions_and_hashes_and_no_place(shelf, run, tmp_path):
    default = shelf("default")
    one = default.wheel("one", "1.0", "two>=1")
    default.wheel("two", "1.0")
    two = default.wheel("two", "2.0")
    made = run("one==1.0", default=default.url)
    assert [(each.name, each.version, each.hashes) for each in made.lock.distributions] == [
        ("one", "1.0", (one,)),
        ("two", "2.0", (two,)),
    ]
    text = render(made.lock)
    assert parse(text, "x.txt") == made.lock
    assert "://" not in text
    assert str(tmp_path) not in text
    assert made.lock.minimum == "glibc 2.28"
    assert made.lock.uv
    assert render(run("one==1.0", default=default.url).lock) == text


def test_versions_of_an_earlier_lock_stay_until_an_upgrade_is_asked_for(shelf, run):
    default = shelf("default")
    for name in ("one", "two"):
        default.wheel(name, "1.0")
    first = run("one", "two", default=default.url).lock
    for name in ("one", "two"):
        default.wheel(name, "2.0")
    assert pins(run("one", "two", default=default.url)) == {"one": "2.0", "two": "2.0"}
    assert pins(run("one", "two", default=default.url, wish={"previous": first})) == {"one": "1.0", "two": "1.0"}
    some = {"previous": first, "upgrade": frozenset({"two"})}
    assert pins(run("one", "two", default=default.url, wish=some)) == {"one": "1.0", "two": "2.0"}
    every = {"previous": first, "upgrade": frozenset({"*"})}
    assert pins(run("one", "two", default=default.url, wish=every)) == {"one": "2.0", "two": "2.0"}


class TestExplicitIndexes:
    """An explicit index serves exactly its packages, and they come from nowhere else."""

    def test_neither_side_can_plant_a_package_in_the_other(self, shelf, run):
        default, explicit = shelf("default"), shelf("explicit")
        default.wheel("torch", "9.0")
        torch = explicit.wheel("torch", "1.0", "helper")
        helper = default.wheel("helper", "1.0")
        explicit.wheel("helper", "9.0")
        made = run("torch", default=default.url, index=inner(explicit.url, "torch"))
        assert [(each.name, each.version, each.hashes, each.index) for each in made.lock.distributions] == [
            ("helper", "1.0", (helper,), None),
            ("torch", "1.0", (torch,), "inner"),
        ]
        assert made.lock.indexes == ("inner",)

    def test_a_dependency_on_its_package_does_not_open_the_default_index(self, shelf, run):
        default, explicit = shelf("default"), shelf("explicit")
        for version in ("1.0", "2.0", "9.0"):
            default.wheel("torch", version, code="planted = True\n")
        default.wheel("vision", "1.0", "torch>=2")
        hashes = {version: explicit.wheel("torch", version) for version in ("1.0", "2.0")}
        index = inner(explicit.url, "torch")
        made = run("vision", "torch", default=default.url, index=index)
        assert made.lock.distributions[0].hashes == (hashes["2.0"],)
        assert made.lock.distributions[0].index == "inner"

    @pytest.mark.parametrize("keys", [{"overrides": ("torch==1.0",)}, {"build_requires": {"vision": ("torch",)}}])
    def test_what_would_open_the_default_index_is_refused(self, shelf, run, keys):
        default, explicit = shelf("default"), shelf("explicit")
        default.wheel("torch", "1.0")
        explicit.wheel("torch", "1.0")
        with pytest.raises(ResolveError, match="torch may come from the index 'inner' alone"):
            run("torch", default=default.url, index=inner(explicit.url, "torch"), **keys)

    def test_a_constraint_of_the_host_does_not_open_the_default_index(self, shelf, run, tmp_path):
        default, explicit = shelf("default"), shelf("explicit")
        default.wheel("torch", "1.5")
        torch = explicit.wheel("torch", "1.0")
        explicit.wheel("torch", "2.0")
        limits = tmp_path / "constraints.txt"
        limits.write_text("torch<2\n", "utf-8")
        host = {"constraints": (str(limits),)}
        made = run("torch", default=default.url, index=inner(explicit.url, "torch"), host=host)
        assert made.lock.distributions[0].hashes == (torch,)

    def test_a_build_cannot_fetch_its_package_from_the_default_index(self, shelf, run, tmp_path):
        default, explicit = shelf("default"), shelf("explicit")
        mark = tmp_path / "planted"
        default.wheel("torch", "9.0", code=f"open({str(mark)!r}, 'w').close()\nraise ImportError\n")
        explicit.wheel("torch", "1.0")
        default.source("built", "1.0", "torch")
        with pytest.raises(ResolveError):
            run("built", "torch", default=default.url, index=inner(explicit.url, "torch"), allow_source=("built",))
        assert not mark.exists()

    def test_wheel_folders_and_further_indexes_of_the_host_do_not_serve_its_package(self, shelf, run):
        default, explicit, further = shelf("default"), shelf("explicit"), shelf("further")
        default.wheel("other", "1.0")
        torch = explicit.wheel("torch", "1.0")
        further.wheel("torch", "9.0")
        host = {"extra_index_urls": (further.url,), "find_links": (str(further.folder / "simple" / "torch"),)}
        made = run("torch", "other", default=default.url, index=inner(explicit.url, "torch"), host=host)
        assert made.lock.distributions[1].hashes == (torch,)

    def test_on_platforms_that_it_does_not_name_the_default_index_serves(self, shelf, run):
        default, explicit = shelf("default"), shelf("explicit")
        default.wheel("torch", "2.0")
        explicit.wheel("torch", "1.0")
        index = inner(explicit.url, "torch", platforms=(Platform.LINUX_X86_64,))
        assert pins(run("torch", default=default.url, index=index)) == {"torch": "1.0"}
        made = run("torch", default=default.url, index=index, platform=Platform.MACOS_ARM64)
        assert (pins(made), made.lock.indexes) == ({"torch": "2.0"}, ())

    def test_pre_releases_come_only_where_they_are_asked_for(self, shelf, run):
        default, explicit = shelf("default"), shelf("explicit")
        explicit.wheel("torch", "2.0")
        explicit.wheel("torch", "2.1.dev20261130", "helper")
        for version in ("1.0", "2.0rc1"):
            default.wheel("helper", version)
        made = run("torch>=2.0.dev0", default=default.url, index=inner(explicit.url, "torch"))
        assert pins(made) == {"torch": "2.1.dev20261130", "helper": "1.0"}
        made = run("torch", default=default.url, index=inner(explicit.url, "torch"))
        assert pins(made) == {"torch": "2.0"}

    def test_a_living_one_on_loopback_serves(self, shelf, run, serve):
        default, explicit = shelf("default"), shelf("explicit")
        default.wheel("helper", "1.0")
        explicit.wheel("torch", "2.1.dev1", "helper")
        made = run("torch>=2.0.dev0", default=default.url, index=inner(serve(explicit), "torch"))
        assert pins(made) == {"torch": "2.1.dev1", "helper": "1.0"}

    def test_a_dead_one_is_named(self, shelf, run, dead_url):
        default = shelf("default")
        default.wheel("torch", "9.0")
        with pytest.raises(ResolveError) as caught:
            run("torch", default=default.url, index=inner(dead_url, "torch"))
        assert caught.value.what == "small for linux-x86_64: the index 'inner' does not answer"
        assert caught.value.why.startswith(f"{dead_url}/torch/: ")
        assert "refused" in caught.value.why

    def test_a_wheel_folder_of_the_host_stands_in_for_a_dead_one(self, shelf, run, dead_url):
        default, wheels = shelf("default"), shelf("wheels")
        default.wheel("torch", "9.0")
        helper = default.wheel("helper", "1.0")
        torch = wheels.wheel("torch", "2.13.0+cpu", "helper")
        wheels.wheel("helper", "9.0")
        folder = str(wheels.folder / "simple" / "torch")
        host = {"find_links": (str(wheels.folder), folder)}
        made = run(
            "torch==2.13.0",
            default=default.url,
            index=inner(dead_url, "torch"),
            host=host,
            host_sources=False,
            exclude_newer=None,
        )
        found = {each.name: (each.hashes, each.index) for each in made.lock.distributions}
        assert found == {"torch": ((torch,), "inner"), "helper": ((helper,), None)}
        assert made.notes == (f"the index 'inner' does not answer: torch taken from {folder}",)


class TestHostSettings:
    """The host's configuration takes part as pip would have it, or not at all."""

    def test_the_best_version_of_several_indexes_wins(self, shelf, run):
        default, further, wheels = shelf("default"), shelf("further"), shelf("wheels")
        default.wheel("one", "3.0")
        further.wheel("one", "2.0")
        default.wheel("two", "1.0")
        further.wheel("two", "2.0")
        wheels.wheel("three", "1.0")
        host = {"extra_index_urls": (further.url,), "find_links": (str(wheels.folder / "simple" / "three"),)}
        made = run("one", "two", "three", default=default.url, host=host)
        assert pins(made) == {"one": "3.0", "two": "2.0", "three": "1.0"}

    def test_a_lock_for_everyone_is_made_without_them(self, shelf, run, tmp_path):
        default, further = shelf("default"), shelf("further")
        default.wheel("one", "1.0")
        further.wheel("one", "2.0")
        limits = tmp_path / "constraints.txt"
        limits.write_text("one<1\n", "utf-8")
        host = {"extra_index_urls": (further.url,), "constraints": (str(limits),)}
        assert pins(run("one", default=default.url, host=host, host_sources=False)) == {"one": "1.0"}

    def test_constraints_hold(self, shelf, run, tmp_path):
        default = shelf("default")
        for version in ("1.0", "2.0"):
            default.wheel("one", version)
        limits = tmp_path / "constraints.txt"
        limits.write_text("one<2\n", "utf-8")
        assert pins(run("one", default=default.url, host={"constraints": (str(limits),)})) == {"one": "1.0"}

    def test_a_dead_further_index_is_named(self, shelf, run, dead_url):
        default = shelf("default")
        default.wheel("one", "1.0")
        with pytest.raises(ResolveError) as caught:
            run("one", default=default.url, host={"extra_index_urls": (dead_url,)})
        assert caught.value.what == f"small for linux-x86_64: the further index {dead_url} does not answer"

    def test_credentials_open_an_index_and_are_never_shown(self, shelf, run, serve):
        default = shelf("default")
        default.wheel("one", "1.0")
        url = serve(default, login="me:s3cret")
        trusted = url.replace("://", "://me:s3cret@")
        with pytest.raises(ResolveError) as caught:
            run("one", default=url.replace("://", "://me:wr0ng@"))
        assert caught.value.what == f"small for linux-x86_64: the index {url} refuses access"
        assert "wr0ng" not in str(caught.value)
        other = shelf("other")
        other.wheel("two", "1.0")
        with pytest.raises(ResolveError) as caught:
            run("one", "two", default=url, host={"extra_index_urls": (other.url,)})
        assert caught.value.what == f"small for linux-x86_64: the index {url} refuses access"
        made = run("one", default=trusted)
        assert "s3cret" not in render(made.lock)
        with pytest.raises(ResolveError) as caught:
            run("one", "missing", default=trusted)
        assert "s3cret" not in str(caught.value)


class TestDates:
    """exclude-newer resolves as of the end of a day."""

    def test_later_uploads_are_left_out(self, shelf, run, serve):
        default = shelf("default")
        for version in ("1.0", "2.0", "3.0"):
            default.wheel("one", version)
        times = {
            "one-1.0-py3-none-any.whl": "2019-05-31T10:00:00Z",
            "one-2.0-py3-none-any.whl": "2019-06-01T23:59:59Z",
            "one-3.0-py3-none-any.whl": "2019-06-02T00:00:01Z",
        }
        made = run("one", default=serve(default, times), exclude_newer=date(2019, 6, 1))
        assert (pins(made), made.notes) == ({"one": "2.0"}, ())
        assert made.lock.exclude_newer == date(2019, 6, 1)

    def test_an_index_without_upload_times_is_told(self, shelf, run, serve):
        default, further = shelf("default"), shelf("further")
        default.wheel("one", "1.0")
        further.wheel("one", "2.0")
        url = serve(default, {"one-1.0-py3-none-any.whl": "2019-05-31T10:00:00Z"})
        host = {"extra_index_urls": (further.url,)}
        made = run("one", default=url, host=host, exclude_newer=date(2019, 6, 1))
        assert pins(made) == {"one": "1.0"}
        [note] = made.notes
        assert further.url in note
        assert "tells no upload times: under exclude-newer = 2019-06-01, one-2.0-py3-none-any.whl was left out" in note

    def test_nothing_but_an_index_without_upload_times_is_an_error_that_says_so(self, shelf, run):
        default = shelf("default")
        default.wheel("one", "1.0")
        with pytest.raises(ResolveError) as caught:
            run("one", default=default.url, exclude_newer=date(2019, 6, 1))
        assert "one has no fitting release up to 2019-06-01, or its index tells no upload times" in caught.value.what


class TestSources:
    """Source distributions are built for those alone that the manifest names."""

    @pytest.fixture
    def default(self, shelf):
        index = shelf("default")
        index.source("built", "1.0", "small-backend")
        index.wheel("small-backend", "1.0", code=BACKEND)
        index.wheel("extra-part", "1.0")
        index.wheel("extra-part", "2.0")
        index.wheel("user", "1.0", "built")
        return index

    def test_one_that_is_not_allowed_is_named(self, default, run):
        with pytest.raises(ResolveError) as caught:
            run("user", default=default.url)
        assert "small for linux-x86_64: built==1.0 has no wheel for" in caught.value.what
        assert "may not be built from source" in caught.value.what
        assert 'allow-source = ["built"]' in caught.value.hint

    @pytest.mark.parametrize("allowed", ["built", "*"])
    def test_one_that_is_allowed_is_built_and_its_build_requirements_are_locked(self, default, run, allowed):
        made = run("user", default=default.url, allow_source=(allowed,), build_constraints=("extra-part<2",))
        built = made.lock.distributions[0]
        assert (built.name, built.source, built.hashes) == (
            "built",
            True,
            (f"sha256:{default.files['built-1.0.tar.gz']}",),
        )
        assert not made.lock.distributions[1].source
        assert [(each.name, each.version) for each in made.lock.builds] == [
            ("extra-part", "1.0"),
            ("small-backend", "1.0"),
        ]
        assert default.files["extra_part-1.0-py3-none-any.whl"] in build_constraints(made.lock)

    def test_undeclared_build_requirements_are_added(self, default, run):
        default.wheel("undeclared", "1.0")
        made = run("user", default=default.url, allow_source=("built",), build_requires={"built": ("undeclared",)})
        assert [each.name for each in made.lock.builds] == ["extra-part", "small-backend", "undeclared"]

    def test_a_wheel_of_the_same_version_is_taken_instead(self, default, run):
        wheel = default.wheel("built", "1.0")
        made = run("user", default=default.url, allow_source=("built",))
        assert (made.lock.distributions[0].hashes, made.lock.distributions[0].source) == ((wheel,), False)
        assert made.lock.builds == ()

    def test_a_wheel_for_one_platform_is_taken_there_alone(self, default, run):
        wheel = default.wheel("built", "1.0", tag="py3-none-win_amd64")
        made = run("user", default=default.url, allow_source=("built",), platform=Platform.WINDOWS_X86_64)
        assert (made.lock.distributions[0].hashes, made.lock.builds) == ((wheel,), ())
        made = run("user", default=default.url, allow_source=("built",))
        assert (made.lock.distributions[0].source, len(made.lock.builds)) == (True, 2)

    def test_without_the_target_python_it_is_said_what_is_lacking(self, default, run):
        with pytest.raises(ResolveError) as caught:
            run("user", default=default.url, allow_source=("built",), interpreter=False)
        assert "cannot be resolved without Python" in caught.value.what
        assert caught.value.why.startswith("built may have to be built from source")

    def test_a_build_that_fails_is_named_with_its_output(self, default, run):
        default.wheel("small-backend", "2.0", code="raise RuntimeError('no compiler here')\n")
        with pytest.raises(ResolveError) as caught:
            run("user", default=default.url, allow_source=("built",))
        assert "built==1.0 cannot be built from source" in caught.value.what
        assert "no compiler here" in caught.value.why


class TestFailures:
    """Each failure tells what is wanted, what is there, and what to do."""

    @pytest.fixture
    def default(self, shelf):
        index = shelf("default")
        index.wheel("one", "1.0", "two<2")
        index.wheel("two", "1.0")
        index.wheel("two", "2.0")
        index.wheel("mac", "1.0", tag="py3-none-macosx_10_9_x86_64")
        index.wheel("old", "1.0", tag="cp27-cp27m-manylinux1_x86_64")
        return index

    @pytest.mark.parametrize(
        ("asked", "what"),
        [
            (("missing",), "there is no distribution missing"),
            (("two==3.0",), "there is no two==3.0"),
            (("two>=3",), "there is no two>=3"),
            (("mac==1.0",), "mac==1.0 has no wheel for linux-x86_64"),
            (("old==1.0",), "old==1.0 has no wheel for Python"),
            (("one", "two>=2"), "no set of distributions meets the requirements"),
        ],
    )
    def test_what_uv_says_is_told_in_the_terms_of_the_manifest(self, default, run, asked, what):
        with pytest.raises(ResolveError) as caught:
            run(*asked, default=default.url)
        assert caught.value.what.startswith(f"small for linux-x86_64: {what}")
        assert "Because" in caught.value.why
        assert "envmgr-target" not in caught.value.why
        assert caught.value.hint
        assert caught.value.exit_code == 3

    def test_wheels_for_newer_systems_raise_the_floor(self, shelf, run):
        default = shelf("default")
        default.wheel("one", "1.0", tag="py3-none-macosx_13_0_arm64")
        default.wheel("two", "1.0", tag="py3-none-manylinux_2_34_x86_64")
        assert run("one", default=default.url, platform=Platform.MACOS_ARM64).lock.minimum == "macos 13.0"
        assert run("two", default=default.url).lock.minimum == "glibc 2.34"

    def test_a_history_of_steps_has_no_lock(self, run):
        with pytest.raises(ResolveError, match="small has nothing to resolve"):
            run()

    def test_the_scratch_folder_is_gone_afterwards(self, default, run, tmp_path: Path):
        run("one", default=default.url)
        with pytest.raises(ResolveError):
            run("missing", default=default.url)
        assert list((tmp_path / "scratch").iterdir()) == []
