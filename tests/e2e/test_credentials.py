"""An index that asks who is there: netrc, keyring and the variables of named indexes answer, as they do for uv."""

import base64
import functools
import http.server
import threading

import pytest

pytestmark = pytest.mark.integration
USER, PASSWORD = "ada", "s3cr3t"


class Asking(http.server.SimpleHTTPRequestHandler):
    """Serves a folder to one user alone."""

    def do_GET(self):
        expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") == f"Basic {expected}":
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="packages"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def keyring(project, host, tmp_path):
    """Variables with which the program `keyring` is found, knows one user of the host, and is asked for it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "keyring"
    program.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "get {host} {USER}" ] && echo {PASSWORD}\n')
    program.chmod(0o755)
    return {
        "UV_DEFAULT_INDEX": f"http://{USER}@{host}/",
        "PATH": f"{programs}:{project.environment['PATH']}",
        "UV_KEYRING_PROVIDER": "subprocess",
    }


@pytest.fixture
def host(index):
    """The loopback host and port at which the index is served."""
    handler = functools.partial(Asking, directory=index.folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def shown(project, **environment):
    """What doctor tells of the settings that take part, without the breaks of long lines."""
    told = project.run("doctor", COLUMNS="400", **environment).stdout
    return told.partition("Settings of pip and uv")[2].partition("\n\n")[0]


def test_without_an_answer_the_index_says_so(project, host):
    done = project.run("build", "one", UV_DEFAULT_INDEX=f"http://{host}")
    assert done.returncode == 3
    assert "netrc" in done.stdout


def test_the_users_netrc_answers(project, host):
    netrc = project.home / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")
    netrc.chmod(0o600)
    done = project.run("build", "one", UV_DEFAULT_INDEX=f"http://{host}")
    assert done.returncode == 0, done.stderr
    assert str(netrc) in shown(project)
    pylock = project.run("export", "one", "--to", "pylock", UV_DEFAULT_INDEX=f"http://{host}")
    assert pylock.returncode == 0, pylock.stderr
    assert PASSWORD not in pylock.stdout


def test_the_program_keyring_is_asked_where_uv_is_told_to(project, keyring):
    assert project.run("build", "one", **keyring | {"UV_KEYRING_PROVIDER": "disabled"}).returncode == 3
    done = project.run("build", "one", **keyring)
    assert done.returncode == 0, done.stderr
    assert "UV_KEYRING_PROVIDER" in shown(project, **keyring)


@pytest.mark.parametrize(
    "command",
    [
        ("export", "one", "--to", "bundle", "--output", "one.zip"),
        ("bisect", "one", "--package", "demo", "--good", "1.0", "--bad", "2.0", "--probe", "import demo; assert demo.ANSWER == 42"),
    ],
    ids=("a file", "a page"),
)  # fmt: skip
def test_what_envmgr_itself_fetches_is_asked_for_with_the_password_of_keyring(project, keyring, command):
    without = project.run(*command, **keyring | {"UV_KEYRING_PROVIDER": "disabled"})
    assert without.returncode in {2, 3}, without.stdout
    done = project.run("--timings", *command, **keyring)
    assert done.returncode in {0, 1}, done.stderr
    assert "keyring" in done.stderr
    written = [path.read_bytes() for path in (*project.root.rglob("*"), *project.home.rglob("*")) if path.is_file()]
    assert not [text for text in (done.stdout.encode(), done.stderr.encode(), *written) if PASSWORD.encode() in text]


def test_variables_of_a_named_index_in_uvs_configuration_answer(project, host):
    del project.environment["UV_DEFAULT_INDEX"]
    configuration = project.home / ".config" / "uv" / "uv.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(f'[[index]]\nname = "own-packages"\nurl = "http://{host}"\ndefault = true\n')
    who = {"UV_INDEX_OWN_PACKAGES_USERNAME": USER, "UV_INDEX_OWN_PACKAGES_PASSWORD": PASSWORD}
    done = project.run("build", "one", **who)
    assert done.returncode == 0, done.stderr
    told = shown(project, **who)
    assert str(configuration) in told
    assert PASSWORD not in told


def test_no_password_stays_in_what_is_remembered_of_a_build(project, host):
    who = {"UV_INDEX": f"own=http://{host}", "UV_INDEX_OWN_USERNAME": USER, "UV_INDEX_OWN_PASSWORD": PASSWORD}
    for _ in range(2):
        done = project.run("build", "one", **who)
        assert done.returncode == 0, done.stderr
    cache = project.root.parent / "cache"
    kept = [path for name in ("receipts", "recipes") for path in (cache / name).glob("*.json")]
    assert kept
    assert [path for path in kept if PASSWORD in path.read_text()] == []


def test_uvs_configuration_of_the_project_counts_and_is_named(project, host):
    del project.environment["UV_DEFAULT_INDEX"]
    pyproject = project.write(
        "pyproject.toml",
        '[tool.uv]\nindex-strategy = "first-index"\n'
        f'[[tool.uv.index]]\nname = "own"\nurl = "http://{USER}:{PASSWORD}@{host}"\ndefault = true\n',
    )  # fmt: skip
    done = project.run("build", "one")
    assert done.returncode == 0, done.stderr
    told = shown(project)
    assert str(pyproject) in told
    assert "first-index" in told
    assert PASSWORD not in told + done.stdout + done.stderr


def test_artefacts_that_envmgr_itself_fetches_are_asked_for_with_what_the_index_is_told(project, host):
    settings = {"UV_DEFAULT_INDEX": f"http://{USER}:{PASSWORD}@{host}/"}
    done = project.run("export", "one", "--to", "bundle", "--output", "one.zip", **settings)
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert PASSWORD.encode() not in (project.root / "one.zip").read_bytes()
    assert project.run("lock", "one", "--vendor", **settings).returncode == 0
