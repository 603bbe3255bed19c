"""Which Pythons read a source, and by which sign Python 2 is known."""

import sys

import pytest

from envmgr.infer.syntax import parse


@pytest.mark.parametrize(
    ("code", "lowest"),
    [
        ("print('x')", ""),
        ("x: int = 3", "3.6"),
        ("import dataclasses", "3.7"),
        ("if (n := 3): pass", "3.8"),
        ("match x:\n    case 1: pass", "3.10"),
    ],
)
def test_the_first_python_that_reads_it(code, lowest):
    assert parse(code).lowest == lowest


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="this Python parses for 3.7 and later alone")
def test_async_as_a_name_is_of_python_3_6():
    found = parse("def f(async=True): pass")
    assert found.tree is not None
    assert found.highest == "3.6"


@pytest.mark.parametrize(
    ("code", "sign"),
    [
        ("import os\nprint os.getcwd()", "line 2: a print statement"),
        ("print 'x'", "a print statement"),
        ("try:\n    pass\nexcept ValueError, e:\n    pass", "`except X, e`"),
        ("raise ValueError, 'x'", "`raise X, message`"),
        ("if a <> b: pass", "`<>`"),
        ("x = 0777", "an octal number"),
        ("x = ur'a'", "a raw unicode string"),
        ("if x:\n        a = 1\n\tb = 2", "tabs and spaces"),
    ],
)
def test_python_2_is_told_by_its_sign(code, sign):
    found = parse(code)
    assert found.tree is None
    assert sign in found.python2


def test_what_is_no_python_at_all_is_not_called_python_2():
    found = parse("this is : not = python (")
    assert found.tree is None
    assert found.python2 == ""
    assert found.fault.startswith("line 1")


def test_a_source_that_python_warns_of_is_read_all_the_same():
    found = parse('"""\\B"""\nimport asyncio\nasyncio.run\n')
    assert found.tree is not None
    assert found.lowest == "3.7"
