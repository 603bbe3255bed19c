"""Source revisions as distributions tell them, from real texts, and never from what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.diagnose.revision import of_module, of_origin, of_version

TORCH = "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n__version__ = '2.0.1+cpu'\ngit_version = 'e9ebda29d87ce0916ab08c06ab26fd3766a870e5'\n"
NUMPY_OLD = 'short_version = "1.18.0"\ngit_revision: str = "f2ca6a7d3b3ee3b9ba4d0f7cfa4b5f2ee9d5b4f7"\nrelease = True\n'
VERSIONEER = 'version_json = \'\'\'\n{\n "dirty": false,\n "error": null,\n "full-revisionid": "de82cd9468704a033702974010ee7e7efc85b393"\n}\n\'\'\''


@pytest.mark.parametrize(
    ("text", "revision"),
    [
        (TORCH, "e9ebda29d87ce0916ab08c06ab26fd3766a870e5"),
        (NUMPY_OLD, "f2ca6a7d3b3ee3b9ba4d0f7cfa4b5f2ee9d5b4f7"),
        (VERSIONEER, "de82cd9468704a033702974010ee7e7efc85b393"),
        ("__commit__ = 'deadbeef'", "deadbeef"),
        ("__commit_id__ = commit_id = 'g1f2e3d4'", "1f2e3d4"),
        ("version = '1.2.3'", ""),
        ("git_version = 'Unknown'", ""),
    ],
)
def test_modules_tell_their_revision(text, revision):
    assert of_module(text) == revision


def test_an_origin_tells_its_commit():
    assert (
        of_origin('{"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "abc1234"}}')
        == "abc1234"
    )
    assert of_origin('{"url": "file:///a.whl"}') == of_origin("[]") == of_origin("no JSON") == ""


@given(st.text())
def test_no_text_is_too_odd(text):
    for reader in (of_version, of_origin, of_module):
        assert isinstance(reader(text), str)
