"""Without encryption, only loopback unless the user insists."""

import pytest

from envmgr.errors import UsageError
from envmgr.fleet.addresses import checked_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("tcp://localhost:1/", "tcp://localhost:1"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("tls://box.example:8786", "tls://box.example:8786"),
    ],
)
def test_what_is_safe_is_taken(text, address):
    assert checked_address(text, insecure=False) == address


@pytest.mark.parametrize("text", ["10.0.0.5:8786", "tcp://box:8786", "tcp://[fe80::1]:8786", "0.0.0.0:8786"])
def test_what_is_open_is_refused_unless_insisted(text):
    with pytest.raises(UsageError, match="not encrypted") as caught:
        checked_address(text, insecure=False)
    assert "--insecure" in caught.value.hint
    assert checked_address(text, insecure=True).endswith("8786")


@pytest.mark.parametrize("text", ["", "http://box:1", "tcp://", "a b"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="no address"):
        checked_address(text, insecure=True)
