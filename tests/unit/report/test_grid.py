"""Layout of tables and paragraphs, and sparklines."""

from hypothesis import given
from hypothesis import strategies as st

from envmgr.report.grid import Column, Words, grid, paragraph, width_of, wrapped
from envmgr.report.look import Look
from envmgr.report.spark import sparkline

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"), exclude_characters="\u00ad"), max_size=60)


@given(TEXT, st.integers(4, 40))
def test_wrapped_lines_fit_and_lose_nothing(text, width):
    lines = wrapped(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8), st.integers(40, 100))
def test_a_table_keeps_to_its_width(rows, width):
    columns = (Column("one", fold=True), Column("two", fold=True, right=True))
    text = grid(columns, [(Words(one), Words(other)) for one, other in rows], Look(width))
    assert max(map(width_of, text.splitlines())) <= width


def test_paragraphs_wrap_and_indent():
    text = paragraph([Words("[1] ", "bold"), Words("word " * 30 + "\nnext")], Look(40), indent=2)
    assert all(line.startswith("  ") and len(line) <= 40 for line in text.splitlines())
    assert text.endswith("  next\n")


def test_blanks_before_a_long_text_stay():
    text = paragraph([Words("import_probe"), Words("  code=" + "word " * 20)], Look(40))
    assert text.startswith("import_probe  code=word word")


def test_a_sparkline_shows_noise_small_and_steps_large():
    assert sparkline([1.0, 1.0, 1.0], 8) == "▄▄▄"
    assert sparkline([1.0, 1.001, 0.999, 1.0], 8) in {"▄▄▄▄", "▄▄▃▄"}
    assert sparkline([1.0] * 5 + [2.0] * 5, 10)[-1] == "█"
    assert len(sparkline([1.0] * 500, 10)) == 10
    assert sparkline([0.0, 0.0], 8, unicode=False) == "=="
