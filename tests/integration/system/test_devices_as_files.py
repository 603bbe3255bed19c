"""What is written to a device or a pipe goes there; nothing is put in its place."""

import os
import sys
import threading

import pytest

from envmgr.system.files import RealFiles

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")]


def test_a_pipe_gets_the_text_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = []
    reader = threading.Thread(target=lambda: said.append(pipe.read_text()))
    reader.start()
    RealFiles(tmp_path / "scratch").write(pipe, "told\n")
    reader.join(timeout=30)
    assert said == ["told\n"]
    assert pipe.is_fifo()


def test_scratch_is_elsewhere_where_there_can_be_none(tmp_path):
    (tmp_path / "file").write_text("")
    files = RealFiles(tmp_path / "file" / "scratch")
    with files.scratch("look") as folder:
        files.write(folder / "in.json", "{}")
        assert (folder / "in.json").read_text() == "{}"
    assert not folder.exists()
