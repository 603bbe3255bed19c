"""Runs that earlier versions wrote are read for ever: one stored run for each schema there has been."""

import shutil
from pathlib import Path

import pytest

from envmgr.model.outcome import Outcome
from envmgr.store.results import FileStore
from envmgr.system.files import RealFiles

KEPT = sorted(Path(__file__).parent.glob("schema-*/*"))


def test_every_schema_has_a_run():
    assert [place.parent.name for place in KEPT] == ["schema-1"]


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place.parent.name)
def test_a_run_of_that_schema_is_read_whole(place, tmp_path):
    shutil.copytree(place, tmp_path / "runs" / place.name)
    run = FileStore(tmp_path / "runs", RealFiles(tmp_path / "scratch")).load(place.name)
    assert run.damaged == ()
    assert run.finished
    assert run.record.plan.matrix == "vgg19"
    assert {result.outcome for result in run.results} == {Outcome.PASSED}
    assert all(len(result.report.samples) == 10 for result in run.results)
    assert run.record.envs
