"""What a host of a fleet answers where a cell cannot be laid out there."""

import hashlib
import sys
from pathlib import Path

import pytest

from envmgr.app.fleets import worker
from envmgr.app.place import HostPlace
from envmgr.env.content import LockedContent
from envmgr.model.cell import Cell
from envmgr.model.host import HostFacts, InstallerSettings, Interpreter
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform


@pytest.fixture
def host(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("ENVMGR_CACHE_DIR", str(tmp_path / "cache"))
    facts = HostFacts(name="box", system="linux", machine="x86_64")
    worker.settle(worker.Host(HostPlace(), facts, InstallerSettings(), stand_in=Path(sys.executable), together=True))
    yield project
    worker._HERE.clear()


def test_data_that_lead_out_of_the_project_fail_the_cell_and_not_the_run(host, tmp_path):
    (tmp_path / "secret").write_text("x")
    (host / "weights").symlink_to(tmp_path / "secret")
    manifest = Manifest(schema=1, name="one", python=">=3.8", requirements=("a==1",), data=("weights",))
    interpreter = Interpreter(executable=sys.executable, version="3.11.7", arch="x86_64", system="linux")
    env = worker.EnvOrder(manifest, "default", LockedContent(digest="0", groups=()), interpreter, Platform.LINUX_X86_64)
    text = "print()"
    cell = Cell(id="c1", manifest="one", variant="default", runner="answer", group="answer", host="box")
    answer = worker.measure(worker.CellOrder(env, cell, 3, text, hashlib.sha256(text.encode()).hexdigest()))
    assert (answer.result.outcome, answer.result.round, answer.host) == (Outcome.FAILED, 3, "box")
    assert "'weights' leaves the project" in answer.result.reason
