"""The way back to the session in which `envmgr run` or `shell` was called."""

import codecs
import json
import os

import pytest

from envmgr.__main__ import OUTER, _escaped, _go_back
from envmgr.app import user_shell


@pytest.fixture
def session(monkeypatch):
    for name in ("HOME", "UV_INDEX", "UV_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_what_is_still_as_it_was_made_goes_back_and_what_the_user_set_stays(session):
    session.setenv("HOME", "/cell")
    session.setenv("XDG_CACHE_HOME", "/cell/.cache")
    session.setenv("UV_INDEX", "set by hand")
    told = {
        "HOME": ["/cell", "/home/ann"],
        "XDG_CACHE_HOME": ["/cell/.cache", None],
        "UV_INDEX": [None, "old"],
        "UV_OFFLINE": [None, "1"],
    }
    session.setenv(OUTER, json.dumps(told))
    _go_back()
    assert os.environ["HOME"] == "/home/ann"
    assert "XDG_CACHE_HOME" not in os.environ
    assert (os.environ["UV_INDEX"], os.environ["UV_OFFLINE"]) == ("set by hand", "1")
    assert OUTER not in os.environ


@pytest.mark.parametrize("told", ["", "{", "[1]", '{"HOME": 1}', '{"HOME": ["/cell", 3]}'])
def test_what_cannot_be_understood_changes_nothing(session, told):
    session.setenv("HOME", "/cell")
    session.setenv(OUTER, told)
    _go_back()
    assert os.environ["HOME"] == "/cell"


def test_both_ends_call_the_variable_the_same():
    assert OUTER == user_shell.OUTER


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("text", ["Größe", "日本", "a🎉b", "undecodable \udcff"])
def test_what_an_encoding_lacks_is_written_so_that_json_still_says_it(encoding, text):
    codecs.register_error("envmgr", _escaped)
    document = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(document.encode(encoding, "envmgr").decode(encoding)) == {"text": text}
