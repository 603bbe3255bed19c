"""What is the user's own business stays out of what others read."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("curl -u carol:pw https://x.example.org", "curl -u *** https://x.example.org"),
        ("sig https://x.example.org/a?sig=abc%3D&se=1 end", "sig https://x.example.org/a?*** end"),
        ("https://u:p@ss@x.example.org/a", "https://***@x.example.org/a"),
        ("key AKIAIOSFODNN7EXAMPLE.", "key ***."),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "***"),
        ("xoxb-123456789012-abcdef", "***"),
        ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.s1gn_x", "jwt ***"),
        ("Authorization: Basic YW5uOnB3 x", "Authorization: *** x"),
        ("sent 'basic YW5uOnB3eHh4'", "sent 'basic ***'"),
        ('{"password": "two words", "n": 1}', '{"password": ***, "n": 1}'),
        ("anna@mailhost and anna@mail.example.org", "<mail> and <mail>"),
        ("git@forge.example.org:team/repo.git", "<remote>"),
        ("git+ssh://git@10.0.0.1:22/team/repo.git@v1", "<remote>"),
        (
            "10.1.2.3 172.31.0.1 192.168.0.1:80 fd12:3456::1 fe80::1%eth0",
            "<private address> " * 2 + "<private address>:80 <private address> <private address>",
        ),
        ("/home/berta/x and C:\\Users\\Gerda\\x", "/home/<user>/x and C:\\Users\\<user>\\x"),
        ("C:\\\\Users\\\\Gerda in JSON", "C:\\\\Users\\\\<user> in JSON"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "<private key>"),
        (f"{'MIIE' * 16}\n{'abcd' * 16}\n-----END PRIVATE KEY-----", "<private key>"),
    ],
)
def test_what_is_private_by_its_look_is_taken_out(said, told):
    assert without_private(said, Private()) == told


@pytest.mark.parametrize(
    "text",
    [
        "envmgr build plaidml-0.6.4@py3.8", "nvidia-curand-cu12==10.3.2.106", "nvidia_curand_cu12-10.3.2.106-py3-none-any.whl",
        "Windows 10.0.22631", "8.8.8.8 127.0.0.1 172.32.0.1 1.2.3.4", "@functools.cache", "torch @ file:///wheels/torch.whl",
        "/home/runner/work C:\\Users\\runner", "12:30:45 took 0:01:02", "sha256:" + "0f" * 32, "cuda:0 <cuda:1> mps", "std::fd::x",
        "https://example.org/simple/", "tokens=",
    ],
)  # fmt: skip
def test_what_tells_nothing_of_anybody_stays(text):
    assert without_private(text, Private()) == text


@given(st.text(min_size=9, max_size=30).filter(lambda text: text.strip() == text and text.isprintable()))
def test_a_secret_is_found_in_addresses_json_and_base64(secret):
    forms = [
        secret, quote(secret, safe=""), quote(secret), json.dumps(secret, ensure_ascii=False)[1:-1],
        base64.b64encode(f"ann:{secret}".encode()).decode(), base64.urlsafe_b64encode(secret.encode()).decode(),
    ]  # fmt: skip
    for form in forms:
        assert without_private(f"it said >{form}< twice", Private(secrets=(secret,))) == "it said >***< twice"
