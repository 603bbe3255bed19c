"""What infer offers, remembers and writes, without a process."""

import json
import tomllib
from dataclasses import dataclass
from datetime import date

import pytest
from packaging.version import Version

from envmgr.app.inferring.clocks import days_of, read_clocks
from envmgr.app.inferring.offers import MOST_BYTES, Offers, lying_wheels
from envmgr.app.inferring.reading import read_scripts
from envmgr.app.inferring.seen import seen_wheels
from envmgr.app.inferring.writing import manifest_text
from envmgr.diagnose.releases import Artefact, Release
from envmgr.infer.eras import Era
from envmgr.infer.naming import Wanted
from envmgr.manifest.read import parse_manifest
from envmgr.model.inference import Clock, Inference, MissingName, Proof
from envmgr.ports import Completed, Files
from envmgr.report.inference import lines_of
from envmgr.system.files import RealFiles


@dataclass
class Beside:
    """The part of a place that clocks are read from."""

    files: Files

    @property
    def process(self):
        return self

    def run(self, request):
        """There is no git here."""
        return Completed(request.argv, None, started=False)


def wheel(name, version, tag="cp36-cp36m-linux", size=10):
    return Artefact(f"{name}-{version}-{tag}.whl", "", False, size)


def release(version, day, *files):
    return Release(Version(version), day, files)


def offers(index, *, accelerated=False, lying=None):
    return Offers(lambda name: tuple(index.get(name, ())), ("linux", "any"), accelerated, lying or {})


ERA = Era("2018-03-01", "3.6")


def test_the_newest_of_the_era_that_has_a_wheel_is_taken_and_nothing_below_wheels():
    index = {
        "lib": [
            release("0.9", "2016-01-01", Artefact("lib-0.9.tar.gz")),
            release("1.0", "2017-01-01", wheel("lib", "1.0")),
            release("1.1", "2018-01-01", wheel("lib", "1.1")),
            release("1.2", "2018-02-01", Artefact("lib-1.2.tar.gz")),
            release("1.3", "2019-01-01", wheel("lib", "1.3")),
        ]
    }
    found = offers(index)
    assert found.line("lib", ERA) == "lib>=1.0,<=1.1"
    assert found.line("lib", Era("", "3.6")) == "lib>=1.0,<=1.3"
    assert found.line("lib", Era("2018-03-01", "3.7")) == ""
    assert found.line("nowhere", ERA) == ""


def test_what_is_pure_may_come_from_source():
    index = {
        "lib": [
            release("1.0", "2017-01-01", Artefact("lib-1.0.tar.gz")),
            release("2.0", "2017-05-01", wheel("lib", "2.0", "py3-none-any")),
        ]
    }
    assert offers(index).line("lib", ERA) == "lib<=2.0"
    assert offers(index).built({"lib": "1.0"}, "3.6") == ("lib",)
    assert offers(index).built({"lib": "2.0"}, "3.6") == ()


def test_a_wheel_that_is_too_large_is_no_offer_and_one_that_lies_here_is():
    index = {"lib": [release("1.0", "2017-01-01", wheel("lib", "1.0", size=MOST_BYTES + 1))]}
    assert offers(index).line("lib", ERA) == ""
    lying = {"lib": (release("1.0+cpu", "", wheel("lib", "1.0+cpu")),)}
    assert offers(index, lying=lying).line("lib", Era("", "3.6")) == "lib==1.0+cpu"


def test_without_an_accelerator_the_build_for_processors_comes_first():
    index = {name: [release("1.0", "2017-01-01", wheel(name, "1.0"))] for name in ("lib", "lib-cpu", "lib-odd")}
    wanted = Wanted("lib", ("lib", "lib-odd", "lib-cpu"), required=True)
    assert offers(index).best(wanted, ERA) == "lib-cpu==1.0"
    assert offers(index, accelerated=True).best(wanted, ERA) == "lib==1.0"


def test_a_version_without_its_patch_stands_for_the_last_of_its_series():
    index = {"lib": [release(f"1.4.{patch}", f"2018-0{patch + 1}-01", wheel("lib", "1")) for patch in range(3)]}
    assert offers(index).uploaded("lib", "1.4") == "2018-03-01"
    assert offers(index).uploaded("lib", "1.4.1") == "2018-02-01"


def test_wheels_that_lie_in_a_folder_are_found_and_other_files_are_not(tmp_path):
    for name in ("Some_Lib-1.0-py3-none-any.whl", "notes.txt", "broken.whl"):
        (tmp_path / name).write_text("x")
    found = lying_wheels(RealFiles(tmp_path / "scratch"), [str(tmp_path), "https://index.invalid/simple"])
    assert {name: str(releases[0].version) for name, releases in found.items()} == {"some-lib": "1.0"}


def test_modules_are_told_by_wheels_that_were_unpacked_before(tmp_path):
    for place, name, modules in (("a", "Plot_Lib-1.0", ("plot", "toolkits")), ("b", "other-2.0", ("plot.py",))):
        for entry in (f"{name}.dist-info", *modules):
            (tmp_path / "archive-v0" / place / entry).mkdir(parents=True)
    found = seen_wheels(RealFiles(tmp_path / "scratch"), tmp_path, {"plot", "toolkits", "absent"})
    assert {module: sorted(names) for module, names in found.modules.items()} == {
        "plot": ["other", "plot-lib"],
        "toolkits": ["plot-lib"],
    }
    assert {(name, str(version)): folder.name for (name, version), folder in found.folders.items()} == {
        ("plot-lib", "1.0"): "a",
        ("other", "2.0"): "b",
    }


def test_a_python_that_a_clock_names_gives_the_last_day_on_which_it_was_the_newest(tmp_path):
    notebook = {"nbformat": 4, "cells": [], "metadata": {"language_info": {"version": "3.6.4"}}}
    (tmp_path / "old.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "Dockerfile").write_text("FROM python:2.7\n")
    files = RealFiles(tmp_path / "scratch")
    reading = read_scripts([tmp_path / "old.ipynb"], files)
    clocks = read_clocks(reading, (), offers({}), Beside(files), "")
    assert {clock.kind: clock.day for clock in clocks} == {"dockerfile": "", "notebook": "2018-06-27"}


def test_versions_are_trusted_more_than_the_python_that_is_named_beside_them(tmp_path):
    (tmp_path / "old.py").write_text("import lib\n")
    (tmp_path / ".python-version").write_text("3.8.1\n")
    (tmp_path / "requirements.txt").write_text("lib==1.0\n")
    files = RealFiles(tmp_path / "scratch")
    reading = read_scripts([tmp_path / "old.py"], files)
    index = {"lib": [release("1.0", "2018-01-01", wheel("lib", "1.0"))]}
    clocks = read_clocks(reading, (), offers(index), Beside(files), "")
    assert [clock.day for clock in clocks] == ["2018-01-01", "2020-10-05"]
    days, starts = days_of(clocks, date(2024, 1, 1), "")
    assert days[starts[0]] == "2018-01-31"


@pytest.mark.parametrize(
    ("clocks", "asked", "first"),
    [
        ((), "", ""),
        ((), "2019-01-01", "2019-01-01"),
        ((Clock(kind="date", where="a", says="", day="2018-05-01"),), "", "2018-05-31"),
        ((Clock(kind="pin", where="a", says="", day="2018-05-01"), Clock(kind="history", where="a", says="", day="2021-01-01")), "", "2018-05-31"),
        ((Clock(kind="date", where="a", says="", day="2012-05-01"),), "", "2017-03-01"),
    ],
)  # fmt: skip
def test_the_search_begins_at_the_most_trusted_clock(clocks, asked, first):
    days, starts = days_of(clocks, date(2024, 1, 1), asked)
    assert days[starts[0]] == first


def test_what_is_written_is_a_manifest_and_its_reasons_are_comments():
    found = Inference(
        scripts=("old.py",),
        syntax="",
        imports=(),
        modules=(),
        python="3.6",
        requirements=("lib==1.0",),
        exclude_newer="2019-03-01",
        sources=("lib",),
        why=("a reason\nof two lines, \x1b[31mcoloured\r",),
        unreachable=("bpy: no index has it",),
    )
    text = manifest_text(found, "old", "linux-x86_64")
    manifest = parse_manifest(text, "old.toml")
    assert manifest.requirements == ("lib==1.0",)
    assert manifest.exclude_newer == date(2019, 3, 1)
    assert manifest.allow_source == ("lib",)
    assert tomllib.loads(text)["python"] == "==3.6.*"
    assert "# a reason of two lines, [31mcoloured" in text
    assert "# never reachable: bpy: no index has it" in text
    assert any(line == "missing    bpy: no index has it" for line in lines_of(found))


@pytest.mark.parametrize(
    ("proof", "line"),
    [
        (Proof(passed=True, locked=True), "all there: proved in the locked environment"),
        (Proof(passed=True), "all there: proved"),
        (
            Proof(passed=False, locked=True, missing=(MissingName(name="lib.x", module="lib", why="gone"),)),
            "1 not there in the locked environment",
        ),
    ],
)
def test_where_it_was_proved_is_told(proof, line):
    found = Inference(scripts=("old.py",), syntax="", imports=(), modules=(), proof=proof)
    assert [each for each in lines_of(found) if each.startswith("proof")] == [
        f"proof      0 modules imported, 0 names looked up, {line}"
    ]
