"""A program that the env lacks and another Python would run is told from one that no env would have."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from envmgr.app.other_python import other_python

OWN = PurePosixPath("/envs/one/bin")
PYENV = b'#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT="/home/ada/.pyenv"\nexec "/opt/libexec/pyenv" exec "$program" "$@"\n'


@pytest.mark.parametrize(
    ("program", "head", "python"),
    [
        ("/usr/bin/pytest", b"#!/usr/bin/python3\nimport re\n", "/usr/bin/python3"),
        ("/usr/bin/pytest", b"#! /opt/py/bin/python3.12 -I\n", "/opt/py/bin/python3.12"),
        ("/usr/bin/pytest", b"#!/usr/bin/env -S /opt/py/bin/pypy3 -I\n", "/opt/py/bin/pypy3"),
        ("/v/bin/pip", b"#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n", "/a b/bin/python"),
        ("/v/bin/pip", b"#!/bin/sh\n'''exec' /very/long/bin/python \"$0\" \"$@\"\n", "/very/long/bin/python"),
        ("/usr/bin/python3.9", b"\x7fELF", "/usr/bin/python3.9"),
        ("/home/ada/.pyenv/shims/pytest", PYENV, "the one that pyenv chooses"),
    ],
)
def test_another_python_is_named(program, head, python):
    assert other_python(PurePosixPath(program), head, OWN) == python


@pytest.mark.parametrize(
    ("program", "head"),
    [
        ("/usr/bin/ls", b"\x7fELF\x02\x01"),
        ("/usr/bin/ldd", b"#! /bin/bash\n# exec pyenv exec\n"),
        ("/usr/bin/perldoc", b"#!/usr/bin/perl\n"),
        ("/home/ada/bin/mine", b"#!/usr/bin/env python3\nimport sys\n"),
        ("/home/ada/bin/mine", b"#!/usr/bin/env -S python3 -I\n"),
        ("/home/ada/bin/mine", b"#!/envs/one/bin/python\n"),
        ("/envs/one/bin/pytest", b"#!/somewhere/else/python\n"),
        ("/usr/bin/python3-config", b"#!/bin/sh\n"),
        ("/usr/bin/empty", b""),
        ("/usr/bin/odd", b"#!\n"),
    ],
)
def test_the_envs_own_and_what_is_no_python_is_not(program, head):
    assert other_python(PurePosixPath(program), head, OWN) is None


def test_launchers_of_windows_are_known_by_their_folder():
    own = PureWindowsPath(r"C:\envs\one\Scripts")
    found = other_python(PureWindowsPath(r"C:\Python312\Scripts\pytest.exe"), b"MZ", own)
    assert found == r"that of C:\Python312"
    assert other_python(PureWindowsPath(r"C:\envs\one\Scripts\pytest.exe"), b"MZ", own) is None
    assert other_python(PureWindowsPath(r"C:\Windows\System32\where.exe"), b"MZ", own) is None
