"""Fetching a Python through uv."""

import json
from pathlib import Path

import pytest

from envmgr.errors import HostError
from envmgr.host.pythons import install_python
from envmgr.ports import Completed

CACHE = Path("/cache")
FETCHED = "/data/python/cpython-3.8.20/bin/python3.8"


def uv(means, *, exit_code=0):
    def install(request):
        assert request.shared_terminal
        means.files.write(Path(FETCHED), "3.8.20")
        return Completed(request.argv, exit_code)

    def answer(request):
        text = {"protocol": 1, "implementation": "CPython", "version": "3.8.20", "build": "", "system": "linux"}
        text |= {"arch": "x86_64", "translated": False, "executable": FETCHED, "base_prefix": "", "virtual": False}
        means.files.write(Path(request.argv[-1]), json.dumps(text | {"abi_flags": "", "libc": ""}))
        return ""

    means.process.answers |= {
        ("uv", "python", "list", "3.8"): "cpython-3.8.20-linux-x86_64-gnu    <download available>\n",
        ("uv", "python", "list", "3.7"): "",
        ("uv", "python", "install", "--no-bin", "3.8"): install,
        ("uv", "python", "find", "3.8"): f"{FETCHED}\n",
        ("uv", "python", "dir"): "/data/python\n",
        (FETCHED,): answer,
    }


def test_a_fetched_python_is_returned_as_discovered(machine):
    means, around = machine()
    uv(means)
    fetched = install_python(means, around, "3.8", CACHE)
    assert (fetched.version, fetched.source, fetched.executable) == ("3.8.20", "uv", FETCHED)


def test_what_uv_cannot_fetch_is_said_before_anything_is_tried(machine):
    means, around = machine()
    uv(means)
    with pytest.raises(HostError) as caught:
        install_python(means, around, "3.7", CACHE)
    assert caught.value.what == "uv cannot fetch Python 3.7"
    assert "pyenv install 3.7" in caught.value.hint
    assert not [request for request in means.process.requests if "install" in request.argv]


def test_forbidden_downloads_are_not_tried(machine):
    means, around = machine(downloads=False)
    with pytest.raises(HostError, match="--no-python-downloads"):
        install_python(means, around, "3.8", CACHE)
    assert means.process.requests == []


def test_a_failed_download_names_uvs_exit_code(machine):
    means, around = machine()
    uv(means, exit_code=2)
    with pytest.raises(HostError, match="exit code 2"):
        install_python(means, around, "3.8", CACHE)


def test_a_fetched_python_that_does_not_answer_is_an_error(machine):
    means, around = machine()
    uv(means)
    means.process.answers[(FETCHED,)] = Completed((), 127, stderr="libfoo.so: cannot open shared object file")
    with pytest.raises(HostError, match="cannot open shared object file"):
        install_python(means, around, "3.8", CACHE)
