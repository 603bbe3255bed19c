"""What is the user's own business stays out of what others read."""

import pytest

from envmgr.model.redaction import redact
from envmgr.report.private import Private, shown_setting, without_private


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        (
            "PIP_EXTRA_INDEX_URL",
            "https://a:b@one.example/s https://c@two.example/s?t=1",
            "https://one.example/s https://two.example/s",
        ),
        ("UV_INDEX", "own=https://a:b@one.example/s", "own=https://one.example/s"),
        ("UV_PUBLISH_TOKEN", "pypi-abc", "(not shown)"),
        ("UV_INDEX_OWN_USERNAME", "ann", "(not shown)"),
        ("PIP_INDEX_URL", "https://ann:pa/ss@one.example/s", "(not shown)"),
        ("PIP_PROXY", "me:pw@proxy.example:3128", "proxy.example:3128"),
        ("PIP_INDEX_URL", "https://one.example/basic/Zx81_k2Lq09wErt55/simple", "https://one.example/basic/***/simple"),
        (
            "PIP_INDEX_URL",
            "https://one.example/repository-of-wheels/simple",
            "https://one.example/repository-of-wheels/simple",
        ),
        ("PIP_CERT", "/etc/ssl/abcdefgh12345678/ca.pem", "/etc/ssl/abcdefgh12345678/ca.pem"),
    ],
)
def test_a_setting_is_shown_without_what_lets_one_in(name, value, shown):
    assert shown_setting(name, value) == shown


def test_a_long_secret_is_taken_out_of_words_and_a_short_one_where_it_stands_alone():
    private = Private(secrets=("longsecret", "1.24"))
    assert without_private("xlongsecretx 1.24 numpy-1.24.4", private) == "x***x *** numpy-1.24.4"


def test_a_secret_that_holds_another_goes_whole():
    assert without_private("abcdefgh12", Private(secrets=("abcdefgh", "abcdefgh12"))) == "***"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["a" * 300_000, "a." * 150_000, "A_" * 150_000])
def test_a_line_without_an_end_is_cleared_of_secrets_at_once(text):
    told = f"{text}\nHF_TOKEN=abc ann@example.org https://ann:pw@example.org/simple?key=1\n"
    assert without_private(redact(told), Private()) == f"{text}\nHF_TOKEN=*** <mail> https://example.org/simple\n"
