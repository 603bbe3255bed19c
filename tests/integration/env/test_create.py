"""Empty environments: the first is made by virtualenv, the next ones are laid out after it."""

import os
import subprocess

import pytest

from envmgr.env.create import create
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
