import pytest

from envmgr.cli.options import day, seconds_of
from envmgr.errors import UsageError


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300), ("5m", 300), ("1h", 3600), ("2.5", 2.5), ("0", 0)])
def test_a_budget_is_read_in_seconds(text, seconds):
    assert seconds_of("--budget", text) == seconds


@pytest.mark.parametrize("text", ["", "s", "soon", "nan", "-5m"])
def test_a_budget_that_is_none_is_told(text):
    with pytest.raises(UsageError, match=f"--budget {text} is no time"):
        seconds_of("--budget", text)


def test_a_day_is_read_as_one():
    assert (day("--date", "20260131"), day("--date", None)) == ("2026-01-31", "")
    with pytest.raises(UsageError, match="--date soon is no day"):
        day("--date", "soon")
