"""envmgr as a user starts it in this checkout, with a home of its own in which the user's settings are planted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = {
    ".plaidml": '{"PLAIDML_DEVICE_IDS": ["nonesuch.0"], "PLAIDML_EXPERIMENTAL": true}\n',
    ".keras/keras.json": '{"backend": "nonesuch"}\n',
    ".cache/pip/planted": "the user's own\n",
}


class Session:
    """One user with a home, in this checkout."""

    def __init__(self, home):
        self.home = home
        real = Path.home()
        for name, text in PLANTED.items():
            place = home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "ENVMGR_CACHE_DIR": str(home / "envmgr-cache"),
            "ENVMGR_STATE_DIR": str(home / "envmgr-state"),
            "ENVMGR_CONFIG_DIR": str(home / "envmgr-config"),
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(real / ".cache" / "uv"),
            "PYENV_ROOT": os.environ.get("PYENV_ROOT") or str(real / ".pyenv"),
            "NO_COLOR": "1",
            "COLUMNS": "120",
            "KERAS_BACKEND": "nonesuch",
            "PLAIDML_DEVICE_IDS": "nonesuch.0",
        }

    def run(self, *arguments, timeout=1200):
        """Run envmgr to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "envmgr", arguments[0], *_project(arguments), *arguments[1:]],
            cwd=ROOT if arguments[0] in {"matrix", "python"} else self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *arguments):
        """Run envmgr with --json and return exit code and data."""
        done = self.run(*arguments, "--json")
        answer = json.loads(done.stdout)
        assert answer["error"] is None or done.returncode
        return done.returncode, answer["data"]

    def assert_untouched(self):
        """Fail if any of the planted files is not as it was, or has a new neighbour."""
        for name, text in PLANTED.items():
            assert (self.home / name).read_text() == text
        assert [path.name for path in (self.home / ".keras").iterdir()] == ["keras.json"]
        assert [path.name for path in (self.home / ".cache" / "pip").iterdir()] == ["planted"]


def _project(arguments):
    """Name this checkout as the project; in a group of commands that is an option of the command."""
    named = arguments[0] in {"matrix", "python"} or "--project" in arguments
    return () if named else ("--project", str(ROOT))


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return Session(tmp_path_factory.mktemp("home"))
