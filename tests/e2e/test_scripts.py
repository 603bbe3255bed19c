"""Names and paths in any script, in sessions whose encodings do not have them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import RUNNER, Project

pytestmark = pytest.mark.integration

SESSIONS = {
    "no locale": {"LC_ALL": "C", "LANG": "C"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "latin": {"PYTHONIOENCODING": "latin-1"},
}


@pytest.fixture
def odd(tmp_path, index):
    """A project whose folder has spaces, umlauts, other scripts, an emoji and a newline in its name."""
    root = tmp_path / "Größe 日本" / "pro ject é 🎉\nline"
    root.mkdir(parents=True)
    made = Project(root, index)
    made.write("runners/answer.py", RUNNER)
    made.manifest("one")
    made.matrix(manifests=["one"])
    return made


@pytest.mark.parametrize("session", list(SESSIONS))
def test_every_path_works_in_every_session(odd, session):
    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "envmgr", *words], cwd=odd.root,
            env={**odd.environment, **SESSIONS[session]}, capture_output=True, check=False,
        )  # fmt: skip
        assert b"fault of its own" not in done.stderr, done.stderr.decode(errors="replace")
        return done

    assert run("build", "one").returncode == 0
    assert run("list").returncode == 0
    code = "import os, demo; print(ascii(os.fsencode(os.getcwd()).decode()))"
    assert run("run", "one", "--", "python", "-c", code).stdout.decode().strip() == ascii(str(odd.root))
    assert run("matrix", "run").returncode == 0
    told = run("path", "one", "--json")
    encoding = "latin-1" if session == "latin" else "utf-8"
    assert Path(json.loads(told.stdout.decode(encoding))["data"]["path"]).is_dir()
    assert run("bug-report", "one", "--output", "bug é 日.md").returncode == 0
    assert (odd.root / "bug é 日.md").is_file()
    assert run("build", "ünknown").returncode == 2
