"""The days that an index offers, and a manifest as of one of them."""

import pytest
from packaging.version import Version

from envmgr.app.nightlies import Day, as_of, day_of, days_of, watched
from envmgr.diagnose.releases import Artefact, Release
from envmgr.model.manifest import Manifest


def release(version, uploaded="", *, yanked=False):
    return Release(Version(version), uploaded, (Artefact(f"x-{version}-py3-none-any.whl", yanked=yanked),))


def manifest(*requirements):
    return Manifest(schema=1, name="nightly", python=">=3.8", requirements=requirements, floating=True)


@pytest.mark.parametrize(
    ("version", "uploaded", "day"),
    [
        ("2.9.0.dev20261117+cpu", "", "2026-11-17"),
        ("2.9.0.dev20261117", "2026-11-20", "2026-11-17"),
        ("0.5.0", "2026-11-20", "2026-11-20"),
        ("0.5.0", "", ""),
        ("20261117", "", "2026-11-17"),
    ],
)
def test_the_day_of_a_build(version, uploaded, day):
    assert day_of(release(version, uploaded)) == day


def test_what_asks_for_pre_releases_is_watched_else_all():
    assert watched(manifest("torch>=2.0.dev0", "numpy")) == ("torch",)
    assert watched(manifest("torch", "NumPy>=1")) == ("torch", "numpy")


def test_each_day_has_the_newest_build_of_each_distribution_up_to_it():
    pages = {
        "torch": [release("2.9.dev20261101"), release("2.9.dev20261103"), release("2.10.dev20261103")],
        "torchvision": [release("0.1.dev20261102"), release("0.1.dev20261104", yanked=True)],
    }
    days = days_of(manifest("torch>=2.0.dev0", "torchvision>=0.0.dev0"), pages.__getitem__)
    assert days == (
        Day("2026-11-02", {"torch": "2.9.dev20261101", "torchvision": "0.1.dev20261102"}),
        Day("2026-11-03", {"torch": "2.10.dev20261103", "torchvision": "0.1.dev20261102"}),
    )


def test_what_the_manifest_does_not_admit_is_no_day():
    page = [release("1.0.dev20261101"), release("2.1.dev20261102")]
    assert [day.date for day in days_of(manifest("torch>=2.0.dev0"), lambda name: page)] == ["2026-11-02"]


def test_a_manifest_as_of_a_day_pins_what_is_watched_and_keeps_the_rest():
    made = as_of(
        manifest('torch[opt]>=2.0.dev0; python_version > "3.7"', "numpy"), Day("2026-11-02", {"torch": "2.9.dev1"})
    )
    assert made.requirements == ('torch[opt]==2.9.dev1 ; python_version > "3.7"', "numpy")
