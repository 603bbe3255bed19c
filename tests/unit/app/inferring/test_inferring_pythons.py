"""Which Pythons will do for a script, asked of the one that runs the tests."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from envmgr.app.inferring.pythons import pythons_for
from envmgr.app.inferring.reading import read_scripts
from envmgr.errors import InferError
from envmgr.ports import Process
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration

THIS = f"3.{sys.version_info[1]}"


@dataclass
class Host:
    """The part of a place that is asked."""

    interpreters: dict[str, Path]
    process: Process


@pytest.fixture
def fitness(tmp_path):
    def ask(script, helpers=()):
        (tmp_path / "old.py").write_text(script)
        for name, text in dict(helpers).items():
            (tmp_path / name).write_text(text)
        reading = read_scripts([tmp_path / "old.py"], RealFiles(tmp_path / "scratch"))
        interpreters = dict.fromkeys(("3.6", THIS), Path(sys.executable))
        return pythons_for(reading, "", Host(interpreters, RealProcess({})), "old.py")

    return ask


def test_an_import_that_python_2_alone_has_is_python_2(fitness):
    with pytest.raises(InferError) as caught:
        fitness("from itertools import izip\n")
    assert caught.value.what == "old.py is Python 2"


def test_an_import_of_a_python_that_is_not_here_is_not_called_python_2(fitness):
    with pytest.raises(InferError) as caught:
        fitness("from collections import Iterable\n")
    assert caught.value.what == "no Python here has what old.py imports"
    assert "3.9" in caught.value.why
    assert caught.value.hint == "envmgr python install 3.9"


def test_an_import_that_no_python_is_known_to_have_is_told_as_such(fitness):
    with pytest.raises(InferError) as caught:
        fitness("from collections import Misspelt\n")
    assert caught.value.what == "no Python here has what old.py imports"
    assert "collections.Misspelt" in caught.value.why


def test_a_module_beside_the_script_limits_the_pythons_too(fitness):
    assert fitness("import helper\n", {"helper.py": "if (n := 3): pass\n"}).pythons == (THIS,)
    assert fitness("import helper\n", {"helper.py": "n = 3\n"}).pythons == ("3.6", THIS)


def test_a_module_of_python_2_beside_the_script_is_told_where_it_cannot_do_without(fitness):
    with pytest.raises(InferError) as caught:
        fitness("import helper\n", {"helper.py": "print 'x'\n"})
    assert caught.value.what == "helper.py is Python 2"
    optional = "try:\n    import helper\nexcept ImportError:\n    helper = None\n"
    assert THIS in fitness(optional).pythons
