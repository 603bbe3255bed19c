"""What one sees while something takes its time: sizes of downloads on a terminal and off it, and nothing with --quiet."""

import contextlib
import functools
import http.server
import os
import random
import re
import subprocess
import sys
import threading
import time

import pytest

pytestmark = pytest.mark.integration


class Silent(http.server.SimpleHTTPRequestHandler):
    pause = 0.0

    def do_GET(self):
        if self.path.endswith(".whl"):
            time.sleep(self.pause)
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def far(project, index):
    """The project with an index over HTTP that serves a wheel large enough for uv to tell of it."""
    index.add("large", "1.0", {"large.py": f"DATA = {random.Random(1).randbytes(3_000_000).hex()!r}\n"})
    project.manifest("one", requirements=["demo==1.0", "large==1.0"])
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Silent, directory=index.folder)
    ) as server:  # fmt: skip
        threading.Thread(target=server.serve_forever, daemon=True).start()
        project.environment["UV_DEFAULT_INDEX"] = f"http://127.0.0.1:{server.server_address[1]}"
        yield project
        server.shutdown()


def test_without_a_terminal_downloads_are_lines_with_sizes(far):
    done = far.run("build", "one")
    assert done.returncode == 0, done.stderr
    assert re.search(r"s  fetch one 0 of 1 downloads, 0 of \d+ MiB\n", done.stderr)
    assert "s  install one everything is fetched\n" in done.stderr
    assert "\x1b" not in done.stderr


def test_quiet_is_quiet_wherever_it_stands(far):
    for line in (("--quiet", "build", "one"), ("lock", "one", "--quiet")):
        done = far.run(*line)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout
    assert "there is no manifest" in far.run("build", "nowhere", "--quiet").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own, as POSIX has it")
def test_on_a_terminal_one_line_tells_what_runs_and_is_taken_back(far, monkeypatch):
    import pty

    monkeypatch.setattr(Silent, "pause", 1.5)  # the line comes only for what takes its time

    main, side = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "envmgr", "build", "one"], cwd=far.root, stdin=side, stdout=side, stderr=side,
        env={**far.environment, "TERM": "xterm"}, start_new_session=True,
    ) as running:  # fmt: skip
        os.close(side)
        shown = b""
        with contextlib.suppress(OSError):
            while block := os.read(main, 4096):
                shown += block
        assert running.wait(timeout=60) == 0
    os.close(main)
    text = shown.decode()
    assert "running: one" in text
    assert "fetch one" not in text, "what is fetched stands in the last line"
    assert "\r\x1b[K" in text[text.rindex("running: one") :], "the last line is taken back"
