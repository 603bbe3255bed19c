"""An index that resets, answers 503, stops half-way or not at all: a clear outcome, a limit, nothing half done."""

import http.server
import socket
import struct
import threading
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.indexes]


class Faulty(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, with a fault for wheels (or for everything) as the server says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        with server.guard:
            server.asked.append(self.path)
            spoilt = server.fault and (not server.only_wheels or self.path.endswith(".whl")) and server.times > 0
            server.times -= bool(spoilt)
        if not spoilt:
            super().do_GET()
        else:
            getattr(self, server.fault)()

    def refuse(self):
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def stop_half_way(self):
        place = self.translate_path(self.path)
        content = Path(place).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(place))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True

    def hang(self):
        self.server.over.wait(300)
        self.close_connection = True

    def handle(self):
        try:
            super().handle()
        except OSError:
            return

    def finish(self):
        try:
            super().finish()
        except OSError:
            return

    def translate_path(self, path):
        return str(self.server.folder) + path + ("index.html" if path.endswith("/") else "")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(index):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.daemon_threads = True
    server.folder, server.fault, server.only_wheels, server.times = index.folder, "", False, 10**9
    server.asked, server.guard, server.over = [], threading.Lock(), threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def build(project, server, **variables):
    code, answer = project.json("build", "one", UV_DEFAULT_INDEX=f"http://127.0.0.1:{server.server_port}/", **variables)
    return code, answer["error"] or answer["data"]["builds"][0]["failure"]


def no_env(project):
    return not list((project.root.parent / "cache" / "envs").glob("*/envmgr.json"))


@pytest.mark.parametrize(
    ("fault", "only_wheels"),
    [
        ("reset", True),
        *(
            pytest.param(fault, only_wheels, marks=pytest.mark.robustness)
            for fault, only_wheels in [
                ("reset", False),
                ("refuse", False),
                ("refuse", True),
                ("stop_half_way", False),
                ("stop_half_way", True),
            ]
        ),
    ],
)
def test_a_fault_that_stays_is_told_and_one_that_goes_is_got_over(project, server, fault, only_wheels):
    server.fault, server.only_wheels = fault, only_wheels
    code, failure = build(project, server, UV_HTTP_RETRIES="1")
    assert code == 3, failure
    assert no_env(project)
    assert failure["what"]
    assert failure["hint"]
    assert len(server.asked) < 20, "it tries again with a limit"
    server.times = 1
    code, failure = build(project, server)
    assert code == 0, failure


@pytest.mark.robustness
def test_an_index_that_never_answers_is_given_up_and_the_rest_goes_on(project, server):
    server.fault = "hang"
    project.manifest("here")
    project.run("lock", "here")
    table = f'[[index]]\nname = "far"\nurl = "http://127.0.0.1:{server.server_port}/"\npackages = ["demo"]\n'
    project.manifest("away", tables=table)
    project.matrix(manifests=["away", "here"])
    code, answer = project.json("matrix", "run", UV_HTTP_TIMEOUT="1", UV_HTTP_RETRIES="1")
    away, here = answer["data"]["cells"]
    assert (code, away["outcome"], away["phase"], here["outcome"]) == (1, "build-failed", "resolve", "passed")
    assert str(server.server_port) in away["reason"]


def test_an_index_that_does_not_answer_is_asked_for_one_platform_only(project, server):
    server.fault = "reset"
    project.manifest("one", platforms=["linux-x86_64"])
    address = {"UV_DEFAULT_INDEX": f"http://127.0.0.1:{server.server_port}/", "UV_HTTP_RETRIES": "0"}
    project.json("lock", "one", **address)
    for_one = len(server.asked)
    project.manifest("one", platforms=["linux-x86_64", "linux-aarch64", "macos-x86_64"])
    code, answer = project.json("lock", "one", **address)
    assert code == 3
    assert [lock["state"] for lock in answer["data"]["locks"]] == ["failed"] * 3
    assert all("does not answer" in lock["error"] for lock in answer["data"]["locks"])
    assert 0 < len(server.asked) == 2 * for_one
