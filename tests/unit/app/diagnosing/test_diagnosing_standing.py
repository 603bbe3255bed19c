import pytest

from envmgr.app.diagnosing.standing import read_own
from envmgr.errors import HostError
from envmgr.ports import Completed


class Interpreter:
    """Answers as the interpreter of an environment does."""

    def run(self, _request):
        return Completed(("python",), 0, stdout='{"python_full_version": "3.11.7"}')


@pytest.mark.parametrize("odd", ["[]", "3", "{", '{"url": 3, "vcs_info": []}'])
def test_records_that_hold_something_else_do_not_stop_it(workplace, tmp_path, odd):
    folder = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "demo-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1\n")
    (folder / "direct_url.json").write_text(odd)
    conda = tmp_path / "venv" / "conda-meta"
    conda.mkdir()
    (conda / "demo-1-0.json").write_text(odd)
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python").touch()
    own = read_own(workplace.files, Interpreter(), tmp_path / "venv")
    assert own.standing.resolved == {"demo": "1"}


@pytest.mark.parametrize("place", ["bin/python", "Scripts/python.exe", "python.exe"])
def test_the_interpreter_is_where_the_system_has_it(workplace, tmp_path, place):
    python = tmp_path / "venv" / place
    python.parent.mkdir(parents=True)
    python.touch()
    assert read_own(workplace.files, Interpreter(), tmp_path / "venv").python == python


def test_a_folder_without_an_interpreter_is_told_of(workplace, tmp_path):
    (tmp_path / "venv").mkdir()
    with pytest.raises(HostError, match="has no Python"):
        read_own(workplace.files, Interpreter(), tmp_path / "venv")
