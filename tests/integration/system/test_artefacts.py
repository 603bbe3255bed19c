"""Fetching single files: who is told credentials on the way."""

import base64
import hashlib
import http.server
import threading
from contextlib import contextmanager

import pytest

from envmgr.system.artefacts import RealArtefacts

pytestmark = pytest.mark.integration
CONTENT = b"a wheel"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
OURS = f"Basic {base64.b64encode(b'ada:s3cr3t').decode()}"


class Host(http.server.BaseHTTPRequestHandler):
    """Serves `/file`, points from elsewhere to where the server says, and remembers what it is told."""

    def do_GET(self):
        self.server.told.append(self.headers.get("Authorization"))
        if self.path == "/file":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)
        else:
            self.send_response(302)
            self.send_header("Location", self.server.onward)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def serving(onward):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        server.told, server.onward = [], onward
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def fetched(server, tmp_path):
    target = tmp_path / "a.whl"
    port = server.server_address[1]
    RealArtefacts({"NETRC": str(tmp_path / "none")}).fetch(f"http://ada:s3cr3t@127.0.0.1:{port}/first", target, DIGEST)
    return target.read_bytes()


def test_another_host_is_not_told_the_credentials_of_the_one_that_points_to_it(tmp_path):
    with serving("") as other, serving(f"http://localhost:{other.server_address[1]}/file") as host:
        assert fetched(host, tmp_path) == CONTENT
        assert (host.told, other.told) == ([OURS], [None])


def test_the_same_host_is_told_them_again(tmp_path):
    with serving("/file") as host:
        assert fetched(host, tmp_path) == CONTENT
        assert host.told == [OURS, OURS]


def test_a_netrc_that_is_no_text_answers_nothing(tmp_path):
    (tmp_path / "none").write_bytes(b"machine \xff\xfe login \x81")
    with serving("/file") as host:
        assert fetched(host, tmp_path) == CONTENT
