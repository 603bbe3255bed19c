from __future__ import annotations

from envmgr.manifest.positions import Position, place, positions

TEXT = '''# a comment with [brackets] and "quotes"
schema = 1
name = 'x' # more
"quoted key" = "a # no comment \\" ]"
requirements = [
    "first",  # why
    """second
    line""", 'third',
]
[env]
  A.B = { c = [1, 2], "d" = 2019-06-01 07:00:00 }
[[index]]
name = "one"
[[index]]
name = "two"
[index.more]
deep = true
'''


def test_every_kind_of_key_has_its_line_and_column() -> None:
    found = positions(TEXT)
    assert found["schema",] == (2, 1)
    assert found["quoted key",] == (4, 1)
    assert found["requirements", 0] == (6, 5)
    assert found["requirements", 1] == (7, 5)
    assert found["requirements", 2] == (8, 14)
    assert found["env",] == (10, 1)
    assert found["env", "A", "B", "c", 1] == (11, 19)
    assert found["env", "A", "B", "d"] == (11, 23)
    assert found["index", 0, "name"] == (13, 1)
    assert found["index", 1] == (14, 1)
    assert found["index", 1, "more", "deep"] == (17, 1)


def test_a_key_that_is_not_written_is_placed_in_its_table() -> None:
    found = positions(TEXT)
    assert place(found, ("index", 1, "url")) == Position(14, 1)
    assert place(found, ("python",)) == Position(1, 1)


def test_windows_line_ends_count_as_one() -> None:
    assert positions("a = 1\r\nb = [\r\n1,\r\n2]\r\n")["b", 1] == (4, 1)
