"""What a host of a fleet answers where a cell cannot be laid out there."""

import errno
import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from envmgr.app.env_guard import EnvGuard
from envmgr.app.fleets import worker
from envmgr.app.place import HostPlace
from envmgr.env.content import LockedContent
from envmgr.model.cell import Cell
from envmgr.model.env import Env
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


def order_of(**manifest):
    """Return the order of a cell of a runner that does nothing."""
    manifest = Manifest(schema=1, name="one", python=">=3.8", requirements=("a==1",), **manifest)
    interpreter = Interpreter(executable=sys.executable, version="3.11.7", arch="x86_64", system="linux")
    env = worker.EnvOrder(manifest, "default", LockedContent(digest="0", groups=()), interpreter, Platform.LINUX_X86_64)
    cell = Cell(id="c1", manifest="one", variant="default", runner="answer", group="answer", host="box")
    return worker.CellOrder(env, cell, 3, "print()", hashlib.sha256(b"print()").hexdigest())


def test_data_that_lead_out_of_the_project_fail_the_cell_and_not_the_run(host, tmp_path):
    (tmp_path / "secret").write_text("x")
    (host / "weights").symlink_to(tmp_path / "secret")
    answer = worker.measure(order_of(data=("weights",)))
    assert (answer.result.outcome, answer.result.round, answer.host) == (Outcome.FAILED, 3, "box")
    assert "'weights' leaves the project" in answer.result.reason


def test_what_cannot_be_looked_after_fails_the_cell_and_not_the_run(host, monkeypatch):
    class Full(EnvGuard):
        def measure(self, name, visitor, run):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    here, _ = worker._here()
    env = Env(
        key="k",
        manifest="one",
        variant="default",
        path="/envs/k",
        python=sys.executable,
        interpreter=order_of().env.interpreter,
        lock_digest="d",
        resolved={},
    )
    worker._HERE[:] = [(replace(here, stand_in=None), Full(here.place))]
    monkeypatch.setattr(worker, "_env", lambda *_: (env, False))
    answer = worker.measure(order_of())
    assert (answer.result.outcome, answer.result.round, answer.host) == (Outcome.FAILED, 3, "box")
    assert "No space left" in answer.result.reason
