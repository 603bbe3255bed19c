"""Which runners speak the protocol themselves."""

from pathlib import Path

import pytest

from envmgr.cell.script import is_plain_script, words_to_run


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("# /// script\n# dependencies = []\n# ///\nprint(1)\n", True),
        ("# /// script\n# [tool.uv]\n# exclude-newer = '2024-01-01'\n# ///\n", True),
        ("# /// script\n# [tool.envmgr]\n# needs-device = false\n# ///\n", False),
        ("# /// script\n# [tool.envmgr.parameters]\n# size = 1\n# ///\n", False),
        ("# /// script\n# [tool\n# ///\n", False),
        ("# /// script\n# tool = 3\n# ///\n", False),
        ("print('# /// script')\n", False),
        ("", False),
    ],
)
def test_a_script_that_says_nothing_of_envmgr_is_a_plain_one(text, plain):
    assert is_plain_script(text) is plain
    words = words_to_run(Path("runners/mine.py"), text)
    assert words[-1] == str(Path("runners/mine.py"))
    assert len(words) == (2 if plain else 1)


def test_the_shipped_runners_speak_the_protocol():
    runners = sorted((Path(__file__).resolve().parents[3] / "runners").glob("*.py"))
    assert runners
    assert not any(is_plain_script(runner.read_text(encoding="utf-8")) for runner in runners)
