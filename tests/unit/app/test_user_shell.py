"""What a command by hand keeps of the caller's session, and the way back to that."""

import json
import shutil
import subprocess

import pytest

from envmgr.app.user_shell import OUTER, at_hand, path_of, shell_of, way_back


@pytest.mark.parametrize(
    ("path", "active", "kept"),
    [
        ("/venv/bin:/usr/bin", "/venv", "/env/bin:/usr/bin"),
        ("/venv/bin/:/usr/bin", "/venv/", "/env/bin:/usr/bin"),
        ("/venv/bin:/usr/bin", "", "/env/bin:/venv/bin:/usr/bin"),
        ("/bin:/usr/bin", "", "/env/bin:/bin:/usr/bin"),
        ("", "/venv", "/env/bin"),
    ],
)
def test_only_the_programs_of_the_venv_that_one_is_in_are_left_behind(path, active, kept):
    assert path_of("/env/bin", {"PATH": path, "VIRTUAL_ENV": active}, "linux") == kept


def test_nothing_that_decides_results_is_kept():
    assert at_hand({"EDITOR": "vi", "PYTHONPATH": "/x", "KERAS_BACKEND": "jax", "CI": "1"}, "linux") == {"EDITOR": "vi"}


def test_the_way_back_tells_what_each_variable_is_inside_and_was_outside():
    caller = {"HOME": "/home/ann", "UV_INDEX": "https://own.example.org", "MINE": "1", OUTER: "{}"}
    told = json.loads(way_back(caller, {"HOME": "/cell", "XDG_CACHE_HOME": "/cell/.cache"})[OUTER])
    assert told == {
        "HOME": ["/cell", "/home/ann"],
        "UV_INDEX": [None, "https://own.example.org"],
        "XDG_CACHE_HOME": ["/cell/.cache", None],
    }


@pytest.mark.parametrize("name", ["PYENV_ROOT", "CONDA_EXE", "MISE_DATA_DIR", "HTTPS_PROXY", "SSL_CERT_FILE"])
def test_the_way_back_leads_to_pythons_proxies_and_certificates_too(name):
    assert json.loads(way_back({name: "/outside"}, {})[OUTER]) == {name: [None, "/outside"]}


def test_windows_has_its_own_shell_and_prompt():
    shell = shell_of({"COMSPEC": r"C:\cmd.exe"}, "win32", "one")
    assert (shell.argv, shell.variables) == ((r"C:\cmd.exe",), {"PROMPT": "(one) $P$G"})


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed here")
def test_fish_shows_where_one_is_before_its_own_prompt(tmp_path):
    shell = shell_of({"SHELL": "/usr/bin/fish"}, "linux", "one")
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb", "VIRTUAL_ENV_PROMPT": "one"}
    own = "function fish_prompt; echo -n own; end; "
    done = subprocess.run(
        ["fish", "-N", "-C", own + shell.argv[2], "-c", "fish_prompt"],
        env=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(one) own"
