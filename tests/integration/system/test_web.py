"""Reading pages: who is told credentials on the way."""

import base64
import http.server
import threading

import pytest

from envmgr.system.web import RealWeb

pytestmark = pytest.mark.integration


class Host(http.server.BaseHTTPRequestHandler):
    """Answers at `/page`, and points there by a whole address from elsewhere; remembers who asked."""

    def do_GET(self):
        told = self.headers.get("Authorization")
        self.server.told.append(base64.b64decode(told.partition(" ")[2]).decode() if told else None)
        there = self.path == "/page"
        self.send_response(200 if there else 301)
        if not there:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/page")
        self.send_header("Content-Length", "4" if there else "0")
        self.end_headers()
        self.wfile.write(b"page" if there else b"")

    def log_message(self, *arguments):
        pass


@pytest.fixture
def host():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        server.told = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_the_host_itself_is_told_again_where_it_points_to_itself(host, tmp_path):
    web = RealWeb({"NETRC": str(tmp_path / "none")})
    assert web.get(f"http://ada:pw@127.0.0.1:{host.server_address[1]}/first") == "page"
    assert host.told == ["ada:pw", "ada:pw"]


def test_the_password_of_a_user_who_is_named_comes_from_netrc(host, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password pw\n")
    web = RealWeb({"NETRC": str(tmp_path / "netrc")})
    for user in ("ada", "bob"):
        assert web.get(f"http://{user}@127.0.0.1:{host.server_address[1]}/page") == "page"
    assert host.told == ["ada:pw", "bob:"]


def test_what_completes_addresses_is_asked_once_a_page(host, tmp_path):
    asked = []

    def complete(address):
        asked.append(address)
        return address.replace("ada@", "ada:pw@")

    web = RealWeb({"NETRC": str(tmp_path / "none")}, complete=complete)
    address = f"http://ada@127.0.0.1:{host.server_address[1]}/first"
    assert web.get(address) == "page"
    assert (asked, host.told) == ([address], ["ada:pw", "ada:pw"])
