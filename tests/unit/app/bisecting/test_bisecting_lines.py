"""The points of a line: which take part, in which order, what is pinned at each, and what is no end."""

from datetime import date

import pytest
from packaging.version import Version

from envmgr.app.bisecting.lines import Ends, Shelves, date_line, nightly_line, package_line, python_line
from envmgr.app.nightlies import Day
from envmgr.diagnose.releases import Artefact, Release, Target
from envmgr.errors import HostError, UsageError
from envmgr.model.manifest import Manifest, Step

TARGET = Target("3.8", ("manylinux_2_17_x86_64", "linux_x86_64"))


def release(name, version, uploaded="", ending="py3-none-any.whl", **artefact):
    return Release(Version(version), uploaded, (Artefact(f"{name}-{version}-{ending}", **artefact),))


def manifest(*requirements, **keys):
    return Manifest(schema_=1, name="x", python=">=3.6", requirements=requirements, **keys)


def line_of(given, package, ends, shelf, **rules):
    return package_line(given, "3.8", package, ends, Shelves(lambda name: shelf.get(name, ()), TARGET, **rules))


def labels(line):
    return [spot.point.label for spot in line.spots]


def test_pins_keep_extras_and_other_lines():
    shelf = {"torch": [release("torch", v) for v in ("1.0", "1.1", "2.0")]}
    line = line_of(manifest("torch[opt]>=1; python_version < '3.9'", "six"), "Torch", Ends("1.0", "2.0"), shelf)
    assert labels(line) == ["1.0", "1.1", "2.0"]
    assert line.spots[1].manifest.requirements == ("torch[opt]==1.1", "six")
    assert line.spots[1].manifest.python == "==3.8.*"


def test_what_is_not_asked_for_is_pinned_besides_and_a_history_keeps_its_steps():
    shelf = {"six": [release("six", v) for v in ("1.0", "1.1")]}
    line = line_of(manifest("demo"), "six", Ends("1.0", "1.1"), shelf)
    assert line.spots[0].manifest.requirements == ("demo", "six==1.0")
    history = manifest(step=(Step(install=("six",)), Step(install=("demo",), uninstall=("six",))))
    steps = line_of(history, "six", Ends("1.0", "1.1"), shelf).spots[1].manifest.step
    assert [step.install for step in steps] == [("six==1.1",), ("demo",)]


def test_a_family_of_one_day_takes_the_newest_of_that_day():
    torch = [release("torch", "1.13.0", "2022-10-28"), release("torch", "2.0.0", "2023-03-15")]
    vision = [release("torchvision", "0.14.0", "2022-10-28"), release("torchvision", "0.15.1", "2023-03-15")]
    vision.append(release("torchvision", "0.16.0", "2023-10-04"))
    shelf = {"torch": torch, "torchvision": vision}
    line = line_of(manifest("torch", "torchvision"), "torch", Ends("1.13.0", "2.0.0"), shelf)
    assert [spot.point.versions["torchvision"] for spot in line.spots] == ["0.14.0", "0.15.1"]
    assert line.family == ("torchvision",)


def test_what_is_left_out_unbuilt_and_why():
    wheel = "cp312-cp312-manylinux_2_17_x86_64.whl"
    shelf = {
        "demo": [
            release("demo", "1.0", "2020-01-01"),
            release("demo", "1.1", "2020-02-01", wheel),
            release("demo", "1.2", "2020-03-01", yanked=True),
            release("demo", "1.3rc1", "2020-04-01"),
            release("demo", "1.4", "2020-05-01"),
            release("demo", "1.5", "2024-01-01"),
            release("demo", "1.6", "2020-07-01"),
        ]
    }
    given = manifest("demo", exclude_newer=date(2021, 1, 1))
    line = line_of(given, "demo", Ends("1.0", "1.6"), shelf)
    assert labels(line) == ["1.0", "1.4", "1.6"]
    assert {each.label: each.reason.split(",", maxsplit=1)[0] for each in line.left_out} == {
        "1.1": "no file for Python 3.8 on this platform",
        "1.2": "withdrawn from the index",
        "1.5": "came out on 2024-01-01",
    }
    assert "1.3rc1" in labels(line_of(given, "demo", Ends("1.0", "1.6"), shelf, early=True))
    assert labels(line_of(given, "demo", Ends("1.6", "1.0"), shelf)) == ["1.6", "1.4", "1.0"]
    with pytest.raises(HostError, match=r"1\.1 cannot be had here"):
        line_of(given, "demo", Ends("1.1", "1.6"), shelf)


def test_a_compiled_package_is_built_from_source_only_when_asked():
    source = Artefact("demo-1.1.tar.gz")
    both = Release(Version("1.1"), "", (source, Artefact("demo-1.1-cp312-cp312-win_amd64.whl")))
    shelf = {"demo": [release("demo", "1.0"), both, Release(Version("1.2"), "", (Artefact("demo-1.2.tar.gz"),))]}
    assert labels(line_of(manifest("demo"), "demo", Ends("1.0", "1.2"), shelf)) == ["1.0", "1.2"]
    assert labels(line_of(manifest("demo"), "demo", Ends("1.0", "1.2"), shelf, sources=True)) == ["1.0", "1.1", "1.2"]


def test_a_build_of_a_version_is_meant_by_the_version():
    shelf = {"torch": [release("torch", "2.0.0+cpu"), release("torch", "2.1.0+cpu")]}
    assert labels(line_of(manifest("torch"), "torch", Ends("2.0.0", "2.1.0"), shelf)) == ["2.0.0+cpu", "2.1.0+cpu"]


@pytest.mark.parametrize(("good", "bad"), [("1.0", "1.0"), ("1.0", "9.9"), ("nonsense", "1.0")])
def test_ends_that_are_none(good, bad):
    with pytest.raises(UsageError):
        line_of(manifest("demo"), "demo", Ends(good, bad), {"demo": [release("demo", v) for v in ("1.0", "1.1")]})


def test_days_run_from_good_to_bad():
    line = date_line(manifest("demo"), "3.8", Ends("2026-01-30", "2026-02-02"))
    assert labels(line) == ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]
    assert line.spots[1].manifest.exclude_newer == date(2026, 1, 31)
    assert labels(date_line(manifest("demo"), "3.8", Ends("2026-02-02", "2026-02-01")))[0] == "2026-02-02"
    for end in ("2026-02-02", "yesterday"):
        with pytest.raises(UsageError):
            date_line(manifest("demo"), "3.8", Ends("2026-02-02", end))


def test_pythons_are_those_that_stand_here():
    here = ["3.8.18", "3.13.0", "3.9.18", "3.9.2", "3.12.1"]
    line = python_line(manifest("demo"), Ends("3.8", "3.12"), here)
    assert labels(line) == ["3.8.18", "3.9.2", "3.9.18", "3.12.1"]
    assert line.spots[1].manifest.python == "==3.9.2"
    assert labels(python_line(manifest("demo"), Ends("3.9", "3.9.2"), here)) == ["3.9.18", "3.9.2"]
    with pytest.raises(HostError, match=r"3\.11"):
        python_line(manifest("demo"), Ends("3.8", "3.11"), here)


def test_nightlies_by_their_days():
    days = [Day(f"2026-11-0{n}", {"demo": f"3.0.dev2026110{n}"}) for n in (1, 2, 5, 7)]
    line = nightly_line(manifest("demo>=3.0.dev0"), "3.8", Ends("2026-11-02", "2026-11-06"), days)
    assert labels(line) == ["2026-11-02", "2026-11-05"]
    assert line.spots[1].manifest.requirements == ("demo==3.0.dev20261105",)
    for ends in (Ends("2026-10-01", "2026-11-06"), Ends("2026-11-05", "2026-11-06")):
        with pytest.raises(UsageError):
            nightly_line(manifest("demo>=3.0.dev0"), "3.8", ends, days)
