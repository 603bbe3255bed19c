"""What lies where scripts are looked for: circles, pipes, binaries, other languages, conda's lists."""

import json
import os

import pytest

from envmgr.app.inferring.reading import clocks_of, read_scripts
from envmgr.errors import InferError, UsageError
from envmgr.ports import Completed
from envmgr.system.files import RealFiles


class NoGit:
    def run(self, request):
        return Completed(request.argv, None, started=False)


@pytest.fixture
def files(tmp_path):
    return RealFiles(tmp_path / "scratch")


def test_links_in_a_circle_and_pipes_are_passed_by(tmp_path, files):
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_text("import os\n")
    (folder / "sub" / "up").symlink_to("..")
    (folder / "self.py").symlink_to("self.py")
    os.mkfifo(folder / "pipe.py")
    assert [script.name for script in read_scripts([folder], files).scripts] == ["a.py"]


@pytest.mark.parametrize("name", ["self.py", "pipe.py", "absent.py"])
def test_what_is_no_file_is_refused_at_once(tmp_path, files, name):
    (tmp_path / "self.py").symlink_to("self.py")
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UsageError, match=f"{name} cannot be read"):
        read_scripts([tmp_path / name], files)


def test_what_is_no_python_is_left_out_of_a_folder_and_refused_alone(tmp_path, files):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.py").write_text("import os\n")
    (folder / "data.py").write_bytes(bytes(range(256)))
    (folder / "r.ipynb").write_text(json.dumps({"cells": [], "metadata": {"language_info": {"name": "R"}}}))
    reading = read_scripts([folder], files)
    assert [script.name for script in reading.scripts] == ["a.py"]
    assert reading.left_out == ("data.py", "r.ipynb")
    for name, says in (("data.py", "data.py is no text"), ("r.ipynb", "r.ipynb is a notebook in R")):
        with pytest.raises(InferError, match=says):
            read_scripts([folder / name], files)


def test_code_of_many_megabytes_is_refused(tmp_path, files):
    (tmp_path / "long.py").write_text("x = 1\n" * 900_000)
    with pytest.raises(InferError, match="no Python that is known here") as caught:
        read_scripts([tmp_path / "long.py"], files)
    assert "too long" in caught.value.why


def test_an_expression_that_is_nested_too_deeply_is_refused_and_not_a_fault(tmp_path, files):
    path = tmp_path / "script.py"
    path.write_text(f"import numpy\nx = {' + '.join(map(str, range(700)))}\n")
    with pytest.raises(InferError) as caught:
        read_scripts([path], files)
    assert "nested too deeply" in caught.value.why


def test_a_list_of_condas_is_read_as_conda_means_it(tmp_path, files):
    (tmp_path / "a.py").write_text("import numpy, torch\n")
    (tmp_path / "environment.yml").write_text(
        "dependencies:\n  - python=3.6.8\n  - numpy=1.16.4=py36h7e9f1db_0\n  - pytorch::pytorch=1.1\n"
        "  - mkl=2019\n  - pip:\n    - keras==2.2.4\n"
    )
    clocks = clocks_of(read_scripts([tmp_path / "a.py"], files), {"numpy", "torch"}, files, NoGit())
    told = {(clock.name, clock.version, clock.python) for clock in clocks if clock.kind == "pin"}
    assert told == {("numpy", "1.16.4", ""), ("torch", "1.1", ""), ("keras", "2.2.4", ""), ("", "", "3.6")}


@pytest.mark.parametrize(
    "text",
    ["\x00", "a: [", "dependencies: 3", "dependencies:\n - {pip: 3}", "- 1", "name: 2020-13-45", "variables: [a]"],
)
def test_a_list_of_condas_that_is_none_says_nothing(tmp_path, files, text):
    (tmp_path / "a.py").write_text("import numpy\n")
    (tmp_path / "environment.yml").write_text(text)
    assert not list(clocks_of(read_scripts([tmp_path / "a.py"], files), {"numpy"}, files, NoGit()))


def test_a_pipfile_pins_too(tmp_path, files):
    (tmp_path / "a.py").write_text("import numpy\n")
    (tmp_path / "Pipfile").write_text('[packages]\nnumpy = "==1.16.4"\nscipy = "*"\n')
    clocks = clocks_of(read_scripts([tmp_path / "a.py"], files), {"numpy"}, files, NoGit())
    assert [(clock.name, clock.version) for clock in clocks] == [("numpy", "1.16.4")]
