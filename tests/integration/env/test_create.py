"""Empty environments: the first is made by virtualenv, the next ones are laid out after it."""

import errno
import os
import subprocess

import pytest
import virtualenv

from envmgr.env.create import create
from envmgr.errors import BuildError
from envmgr.system.files import RealFiles
from envmgr.system.portrait import take_portrait

pytestmark = pytest.mark.integration


def test_a_second_env_of_an_interpreter_is_as_the_first_but_for_its_name(tmp_path, own_interpreter):
    files, app_data = RealFiles(tmp_path / "scratch"), tmp_path / "app-data"
    folders = [tmp_path / "envs" / (letter * 32) for letter in "ab"]
    pythons = [create(own_interpreter, folder, app_data, os.environ, files) for folder in folders]
    first, second = (take_portrait(folder) for folder in folders)
    assert first.replace("a" * 32, "b" * 32) == second
    assert len(list((app_data / "blanks").iterdir())) == 1
    done = subprocess.run(
        [pythons[1], "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(folders[1])


def test_a_full_disk_is_told_as_such(tmp_path, own_interpreter, monkeypatch):
    def fill_up(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(virtualenv, "cli_run", fill_up)
    with pytest.raises(BuildError, match="no space left") as caught:
        create(own_interpreter, tmp_path / "env", tmp_path / "app-data", os.environ, RealFiles(tmp_path / "scratch"))
    assert "envmgr clean" in caught.value.hint
