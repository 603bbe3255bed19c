"""What uv printed when things went wrong (recorded with uv 0.13.9), and what a user is told."""

from pathlib import Path

import pytest

from envmgr.env.trouble import interpret
from envmgr.model.outcome import Phase
from envmgr.model.redaction import redact

RECORDED = Path(__file__).with_name("recorded")

CASES = {
    "hash-mismatch": (Phase.DOWNLOAD, False, ["six==1.17.0", "wanted sha256:0000", "found sha256:4721"]),
    "no-answer": (Phase.DOWNLOAD, False, ["the index does not answer", "Connection refused"]),
    "no-such-host": (Phase.DOWNLOAD, False, ["the index does not answer", "Name or service not known"]),
    "file-gone": (Phase.DOWNLOAD, True, ["gonepkg==1.0", "has left", "not found"]),
    "version-gone": (Phase.DOWNLOAD, True, ["six==99.0", "does not list it"]),
    "distribution-gone": (Phase.DOWNLOAD, True, ["six-nope-zz", "does not list it"]),
    "source-only": (Phase.DOWNLOAD, False, ["termcolor==1.1.0", "no wheel", "allow-source"]),
    "other-platform": (Phase.DOWNLOAD, False, ["plaidml==0.7.0", "no wheel", "macosx_10_10_x86_64"]),
    "offline": (Phase.DOWNLOAD, False, ["idna==3.7", "not in the cache", "without --offline"]),
    "build-fails": (Phase.BUILD, False, ["badpkg==1.0", "no compiler here"]),
    "build-needs-module": (Phase.BUILD, False, ["badpkg==1.0", "No module named 'six'", 'badpkg = ["six"]']),
    "build-requirement": (Phase.BUILD, False, ["badpkg==1.0", "setuptools-nope-xy", "build-constraints"]),
    "build-hash": (Phase.DOWNLOAD, False, ["six==1.17.0", "wanted sha256:0000"]),
    "no-space-env": (Phase.INSTALL, False, ["no space left", "uts46data.py", "envmgr clean"]),
    "no-space-cache": (Phase.INSTALL, False, ["no space left", "uts46data.py"]),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_recorded_trouble_is_told_in_three_parts(name):
    phase, gone, words = CASES[name]
    trouble = interpret((RECORDED / f"{name}.txt").read_text(), "the nightly index")
    told = f"{trouble.what}\n{trouble.why}\n{trouble.hint}"
    assert (trouble.phase, trouble.gone) == (phase, gone)
    assert [word for word in words if word not in told] == []
    assert all((trouble.what, trouble.why, trouble.hint))
    assert trouble.error().phase == phase.value


def test_every_recorded_text_is_a_case():
    assert {path.stem for path in RECORDED.glob("*.txt")} == set(CASES)


def test_no_password_gets_out():
    text = "Failed to fetch: `https://me:secret@mirror.example/simple/six/`\nerror sending request"
    trouble = interpret(text)
    assert "secret" not in f"{trouble.what}{trouble.why}{trouble.hint}"
    assert redact("a https://tok@h/x b https://u:p@h") == "a https://h/x b https://h"


def test_an_older_uv_draws_its_causes_as_a_tree():
    text = """error: Request failed after 3 retries
  ├─▶ Failed to fetch: `http://127.0.0.1:9/simple/six/`
  ╰─▶ tcp connect error: Connection refused (os error 111)
"""
    trouble = interpret(text)
    assert trouble.what == "the index does not answer: http://127.0.0.1:9/simple/six/"
    assert "Connection refused" in trouble.why


def test_unknown_words_are_quoted():
    trouble = interpret("something that nobody has seen\nerror: the moon is in the way")
    assert trouble.phase is Phase.INSTALL
    assert "the moon is in the way" in trouble.why
