"""The probe's shortcut for paths says what the long way says."""

import os.path
import posixpath

from hypothesis import example, given
from hypothesis import strategies as st

from envmgr.env.linked import _rows
from envmgr.env.probes.inspect import joined

PATHS = st.lists(st.sampled_from(["a", "b.py", ".", "..", "", ".hidden", "..data", "c..d"]), max_size=5).map("/".join)


@given(PATHS)
@example("")
@example("/absolute")
@example("folder/")
def test_joined_as_the_standard_library_joins(path):
    assert joined("/env/site", path) == os.path.normpath(os.path.join("/env/site", path))  # noqa: PTH118 - what it is measured by


@given(PATHS.filter(lambda path: path and "\n" not in path))
def test_a_record_names_paths_from_the_env_on(path):
    rows = _rows("lib/site/x-1.0.dist-info", f"{path},sha256=abc,1\n")
    assert set(rows) == {posixpath.normpath(posixpath.join("lib/site", path))}
