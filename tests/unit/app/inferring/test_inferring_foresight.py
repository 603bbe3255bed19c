"""What is said of an era before it is built."""

import ast
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from envmgr.app.inferring.foresight import Foresight, glance_with
from envmgr.app.inferring.offers import Offers
from envmgr.diagnose.releases import Artefact, Release
from envmgr.infer.eras import Era
from envmgr.infer.naming import Wanted
from envmgr.infer.probe import make_probe, read_glances
from envmgr.infer.surface import surface_of
from envmgr.system.process import RealProcess

SCRIPT = "import lib\nfrom lib.old import start\nlib.begin()\nlib.deep.go()\nimport json\njson.no_such_name\n"


def release(version, day):
    return Release(Version(version), day, (Artefact(f"lib-{version}-py3-none-any.whl"),))


@pytest.fixture
def unpacked(tmp_path):
    texts = {"1.0": "from .deep import go\ndef begin(): pass\n", "2.0": "raise SystemExit('never imported')\n"}
    for version, text in texts.items():
        package = tmp_path / version / "lib"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text)
        (package / "deep.py").write_text("def go(): pass\n")
    (tmp_path / "1.0" / "lib" / "old.py").write_text("def start(): pass\n")
    return {("lib", Version(version)): tmp_path / version for version in texts}


def test_the_files_of_a_release_tell_what_its_era_lacks(unpacked):
    surface = surface_of(ast.parse(SCRIPT))
    glance = glance_with(
        Path(sys.executable), lambda folders: make_probe([surface], (), folders=folders).code, RealProcess({})
    )
    index = [release("1.0", "2018-01-01"), release("2.0", "2020-01-01"), release("3.0", "2022-01-01")]
    foresight = Foresight(Offers(lambda _: tuple(index), ("any",), accelerated=False), unpacked, glance)
    eras = {at: Era(day, "3.6") for at, day in enumerate(("2018-03-01", "2020-03-01", "2022-03-01"))}
    lacking = foresight.of(eras, [Wanted("lib", ("lib",), required=True)])
    assert lacking == {0: frozenset(), 1: frozenset({"lib.old", "lib.begin"})}


@pytest.mark.parametrize("output", ["", "@@folder {", "@@folder 3"])
def test_a_glance_that_told_nothing_says_nothing(output):
    assert read_glances(output) == ()


def test_a_glance_that_was_cut_off_keeps_what_it_told():
    assert read_glances('@@folder ["a.b"]\n@@folder []\n@@folder ["c') == (frozenset({"a.b"}), frozenset())
