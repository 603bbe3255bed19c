"""Only what the lock admits is installed, from where it may come; no credential is written anywhere."""

import base64
import http.server
import io
import platform
import sys
import tarfile
import threading
from functools import partial

import psutil
import pytest

pytestmark = pytest.mark.integration

SECRET = "s3cr3t-t0ken"


def add_source(index, name, version, marker):
    """Put a source distribution into the index whose set-up script leaves a mark when it is run."""
    place = index.folder / name
    place.mkdir(parents=True, exist_ok=True)
    setup = (
        f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name={name!r}, version={version!r})\n"
    )
    files = {"setup.py": setup, "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n"}
    archive = place / f"{name}-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    (place / "index.html").write_text(
        f'<!DOCTYPE html><html><body><a href="{archive.name}">{archive.name}</a></body></html>'
    )


def envs_of(project):
    return [path.parent for path in (project.root.parent / "cache" / "envs").glob("*/envmgr.json")]


def other_wheel(project, lock):
    wheel = next((project.index.folder / "demo").glob("demo-1.0-*.whl"))
    content = wheel.read_bytes()
    wheel.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])


def truncated_wheel(project, lock):
    wheel = next((project.index.folder / "demo").glob("demo-1.0-*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:200])


def rebuilt_wheel(project, lock):
    project.index.add("demo", "1.0", {"demo.py": "__version__ = '1.0'\nANSWER = 666\n"}, ["base>=1"])


def other_hash_in_lock(project, lock):
    lock.write_text(lock.read_text().replace("sha256:", "sha256:00", 1)[:-3] + "\n")


def other_digit_in_lock(project, lock):
    place = lock.read_text().index("sha256:") + 10
    text = lock.read_text()
    lock.write_text(text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :])


def other_version_in_lock(project, lock):
    lock.write_text(lock.read_text().replace("demo==1.0", "demo==2.0"))


def no_hash_in_lock(project, lock):
    lines = [line for line in lock.read_text().splitlines() if "sha256" not in line]
    lock.write_text("\n".join(line.rstrip(" \\") for line in lines) + "\n")


def one_more_in_lock(project, lock):
    project.index.add("evil", "1.0", {"evil.py": ""})
    lock.write_text(lock.read_text() + "evil==1.0\n")


@pytest.mark.parametrize(
    "change",
    [
        rebuilt_wheel,
        *(
            pytest.param(change, marks=pytest.mark.robustness)
            for change in (
                no_hash_in_lock,
                other_wheel,
                truncated_wheel,
                other_hash_in_lock,
                other_digit_in_lock,
                other_version_in_lock,
                one_more_in_lock,
            )
        ),
    ],
)
def test_what_was_changed_since_the_lock_was_made_is_refused(project, change):
    assert project.run("lock", "one").returncode == 0
    machine = {"AMD64": "x86_64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    (lock,) = project.root.rglob(f"default-{system}-{machine}.txt")
    before = lock.read_text()
    change(project, lock)
    code, answer = project.json("build", "one")
    failure = answer["error"] or answer["data"]["builds"][0]["failure"]
    assert code == 3, answer
    assert failure["what"]
    assert envs_of(project) == []
    lock.write_text(before)
    if "wheel" not in change.__name__:
        assert project.run("build", "one").returncode == 0


def test_a_source_distribution_runs_no_code_unless_the_manifest_allows_it(project, tmp_path):
    mark = tmp_path / "mark"
    add_source(project.index, "srcpkg", "1.0", mark)
    project.manifest("sourced", requirements=["srcpkg==1.0"])
    code, answer = project.json("build", "sourced")
    failure = answer["error"] or answer["data"]["builds"][0]["failure"]
    assert code == 3
    assert "allow-source" in failure["hint"] + failure["why"]
    assert "srcpkg" in failure["what"] + failure["why"]
    assert not mark.exists()


def test_an_explicit_index_serves_its_packages_alone(project, tmp_path):
    private = type(project.index)(tmp_path / "private")
    private.add("demo", "1.0", {"demo.py": "__version__ = '1.0'\nANSWER = 42\n"}, ["base>=1"])
    private.add("base", "99.0", {"base.py": "EVIL = 1\n"})
    project.index.add("demo", "9.0", {"demo.py": "__version__ = '9.0'\nANSWER = 666\n"}, ["base>=1"])
    table = f'[[index]]\nname = "private"\nurl = "{private.url}"\npackages = ["demo"]\n'
    project.manifest("confused", requirements=["demo"], tables=table)
    code, answer = project.json("build", "confused")
    assert code == 0, answer
    assert answer["data"]["builds"][0]["resolved"] == {"base": "1.5", "demo": "1.0"}


class Guarded(http.server.SimpleHTTPRequestHandler):
    """A package index that asks for a password."""

    def do_GET(self):
        expected = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
        if self.headers.get("Authorization") == expected:
            super().do_GET()
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def guarded(index):
    handler = partial(Guarded, directory=str(index.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://me:{SECRET}@127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class Titles(threading.Thread):
    """Watches the arguments of all processes for the secret."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = []
        self.looks = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.01):
            self.looks += 1
            for process in psutil.process_iter():
                try:
                    if SECRET in " ".join(process.cmdline()):
                        self.seen.append(process.cmdline())
                except psutil.Error:
                    continue


def test_credentials_of_an_index_are_written_nowhere(project, guarded):
    project.matrix(manifests=["one", "absent"])
    project.manifest("absent", requirements=["absent==1.0"])
    history = '[[step]]\ninstall = ["demo==1.0"]\ninstaller = "uv"\n'
    project.write(
        "manifests/typed.toml", f'schema = 1\nname = "typed"\npython = ">=3.11"\nrunners = ["answer"]\n{history}'
    )
    watch = Titles()
    watch.start()
    settings = {"UV_DEFAULT_INDEX": guarded, "PIP_INDEX_URL": guarded}
    said = ""
    for arguments in (
        ["lock", "one"],
        ["build", "one", "--debug"],
        ["build", "absent"],
        ["build", "typed"],
        ["matrix", "run"],
        ["matrix", "show", "--json"],
        ["doctor", "--json"],
    ):
        done = project.run(*arguments, **settings)
        said += done.stdout + done.stderr
        if arguments[0] == "build" and arguments[1] != "absent":
            assert done.returncode == 0, done.stderr
    watch.over.set()
    watch.join()
    assert watch.looks > 5
    assert watch.seen == []
    assert SECRET not in said
    written = [
        path
        for path in project.root.parent.rglob("*")
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()
    ]
    assert written == []
