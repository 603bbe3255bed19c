"""The program `keyring` is asked as uv and pip ask it: where they are told to, for a user, the index before its host."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from envmgr.app.passwords import Passwords
from envmgr.model.host import InstallerSettings
from envmgr.ports import Completed


class Keyring:
    """Knows one password, and remembers what it was asked for."""

    def __init__(self, service):
        self.service = service
        self.asked = []

    def run(self, request):
        program, verb, service, user = request.argv
        assert (program, verb, user) == ("keyring", "get", "ada")
        self.asked.append(service)
        known = service == self.service
        return Completed(request.argv, 0 if known else 1, stdout="s3c:r@t\n" if known else "")


@pytest.fixture
def world(tmp_path):
    def made(service, *, index="https://ada@own.example/simple", keyring=True, netrc=""):
        (tmp_path / "netrc").write_text(netrc)
        program = Keyring(service)
        caller = SimpleNamespace(environment={"NETRC": str(Path(tmp_path / "netrc"))})
        settings = InstallerSettings(index_url=index, keyring=keyring)
        return program, Passwords(SimpleNamespace(process=program, caller=caller), lambda: settings)

    return made


FILE = "https://ada@own.example/files/a.whl"
KNOWN = "https://ada:s3c%3Ar%40t@own.example/files/a.whl"


def test_the_index_is_asked_for_first_and_its_host_then(world):
    program, passwords = world("own.example")
    assert passwords.completed(FILE) == KNOWN
    assert program.asked == ["https://own.example/simple", "own.example"]


def test_a_user_of_a_host_is_asked_for_once(world):
    program, passwords = world("https://own.example/simple")
    assert {passwords.completed(FILE) for _ in range(3)} == {KNOWN}
    assert passwords.completed("https://ada@own.example/simple/a/") == "https://ada:s3c%3Ar%40t@own.example/simple/a/"
    assert program.asked == ["https://own.example/simple"]


def test_that_nothing_is_known_is_not_asked_again_either(world):
    program, passwords = world("elsewhere")
    assert [passwords.completed(FILE), passwords.completed(FILE)] == [FILE, FILE]
    assert len(program.asked) == 2


def test_without_a_scheme_that_hides_it_the_scheme_is_tried_too(world):
    program, passwords = world("http://own.example:81", index=None)
    assert passwords.completed("http://ada@own.example:81/a/") == "http://ada:s3c%3Ar%40t@own.example:81/a/"
    assert program.asked == ["http://own.example:81/a/", "own.example:81", "http://own.example:81"]


@pytest.mark.parametrize(
    ("address", "options"),
    [
        (FILE, {"keyring": False}),
        (FILE, {"netrc": "machine own.example login ada password other\n"}),
        ("https://own.example/files/a.whl", {}),
        ("https://ada:pw@own.example/files/a.whl", {}),
        ("file:///wheels/a.whl", {}),
    ],
    ids=("not told to", "netrc knows", "nobody", "all said", "no host"),
)
def test_who_need_not_be_asked_is_not(world, address, options):
    program, passwords = world("own.example", **options)
    assert passwords.completed(address) == address
    assert program.asked == []


def test_a_netrc_of_another_user_is_no_answer(world):
    _, passwords = world("own.example", netrc="machine own.example login bob password other\n")
    assert passwords.completed(FILE) == KNOWN
