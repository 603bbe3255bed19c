"""What Python's parser would warn of in old scripts is not said."""

import warnings

from envmgr.diagnose.situation import imports_of
from envmgr.infer.clocks import of_comments
from envmgr.model.syntax import parsed

OLD = "import re\nPATTERN = '\\d'\nassert 1 is 1\n"


def test_old_source_is_parsed_without_a_word():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert len(parsed(OLD).body) == 3
        assert imports_of(OLD) == ("re",)
        assert not list(of_comments(OLD, "old.py", ()))
    assert not said
