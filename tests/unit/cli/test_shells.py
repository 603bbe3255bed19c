"""What shells are told after Tab: the words as they are, whatever stands in them."""

import shutil
import subprocess

import pytest

from envmgr.cli.completing import Offer
from envmgr.cli.shells import Line, answer
from envmgr.cli.shells import _of_bash as of_bash
from envmgr.cli.shells import _told_to_zsh as told_to_zsh

NASTY = [
    "plain",
    "a b",
    "it's",
    'say "x"',
    "$(touch pwned)",
    "`touch pwned`",
    "x;touch pwned",
    "läufer",
    "実行 é",
    "a\\b",
]


@pytest.mark.parametrize(
    ("words", "said", "incomplete", "part"),
    [
        (["envmgr", "build", ""], ("build",), "", ""),
        (["envmgr", "build", "two", "@"], ("build",), "two@", "two"),
        (["envmgr", "build", "two", "@", "py3"], ("build",), "two@py3", "two"),
        (["envmgr", "build", "two", "@", "py3.8", "on"], ("build", "two@py3.8"), "on", ""),
        (["envmgr", "lock", "--platform", "=", "li"], ("lock",), "--platform=li", "--platform="),
        (["envmgr", "build", "--project", "'a b'", "o"], ("build", "--project", "a b"), "o", ""),
        (["envmgr", "build", "--project", "'a b"], ("build", "--project"), "a b", ""),
        (["envmgr", "build", "--quiet", "o"], ("build",), "o", ""),
    ],
)
def test_bash_takes_words_apart_and_they_are_put_together_again(words, said, incomplete, part):
    line = of_bash({"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)})
    assert (line.words, line.incomplete, line.part) == (said, incomplete, part)


def test_what_stands_behind_the_word_that_is_typed_does_not_count():
    line = of_bash({"COMP_WORDS": "envmgr\nbu\none", "COMP_CWORD": "1"})
    assert (line.words, line.incomplete) == ((), "bu")


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed here")
@pytest.mark.parametrize("about", ["", "what's $(touch pwned): this"])
def test_nothing_in_a_name_is_code_for_zsh(tmp_path, about):
    code = told_to_zsh(Line((), ""), [Offer(each, about) for each in NASTY])
    stubs = 'compadd() { shift; print -rl -- "$@" }; _describe() { print -rl -- "${(@P)argv[-1]}" }; f() { eval $(print -r -- "$1") }; f "$1"'
    done = subprocess.run(
        ["zsh", "-f", "-c", stubs, "zsh", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    told = [each.replace("\\", r"\\") for each in NASTY] if about else NASTY
    assert done.stdout.splitlines() == [f"{each}:{about}" if about else each for each in told]
    assert not list(tmp_path.iterdir())


def test_a_request_for_the_script_is_left_to_others():
    assert answer({"_ENVMGR_COMPLETE": "source_bash"}) is None
