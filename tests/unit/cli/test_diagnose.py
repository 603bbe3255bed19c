import pytest

from envmgr.cli.diagnose import seconds_of
from envmgr.errors import UsageError


@pytest.mark.parametrize(("text", "seconds"), [("300s", 300), ("5m", 300), ("1h", 3600), ("2.5", 2.5), ("0", 0)])
def test_a_budget_is_read_in_seconds(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "soon", "nan", "-5m"])
def test_a_budget_that_is_none_is_told(text):
    with pytest.raises(UsageError, match="is no time"):
        seconds_of(text)
