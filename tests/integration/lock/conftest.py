"""A small package index that the tests fill, in a folder or on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

from envmgr.lock.resolve import resolve
from envmgr.lock.work import Resolution, Resolver, Wish
from envmgr.manifest.expand import target
from envmgr.model.host import InstallerSettings
from envmgr.model.manifest import Manifest
from envmgr.model.platform import Platform
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass
class Shelf:
    """A PEP 503 index in a folder; `files` maps a file's name to its sha256."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return (self.folder / "simple").as_uri()

    def wheel(self, name: str, version: str, *requires: str, tag: str = "py3-none-any", code: str = "") -> str:
        """Add a wheel and return its sha256, as a lock writes it."""
        module = name.replace("-", "_")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as wheel:
            info = f"{module}-{version}.dist-info"
            needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
            files = {
                f"{module}.py": code or f"origin = {str(self.folder)!r}\n",
                f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
                f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
            }
            for path, text in files.items():
                wheel.writestr(path, text)
            wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
        return self._add(name, f"{module}-{version}-{tag}.whl", buffer.getvalue())

    def source(self, name: str, version: str, backend: str) -> str:
        """Add a source distribution that a backend of the index builds, and return its sha256."""
        buffer = io.BytesIO()
        project = f'[build-system]\nrequires = ["{backend}"]\nbuild-backend = "{backend.replace("-", "_")}"\n'
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            metadata = f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n"
            for path, text in (("pyproject.toml", project), ("PKG-INFO", metadata)):
                entry = tarfile.TarInfo(f"{name}-{version}/{path}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        return self._add(name, f"{name}-{version}.tar.gz", buffer.getvalue())

    def _add(self, name: str, file: str, content: bytes) -> str:
        page = self.folder / "simple" / name
        page.mkdir(parents=True, exist_ok=True)
        (page / file).write_bytes(content)
        self.files[file] = hashlib.sha256(content).hexdigest()
        links = [f'<a href="{each.name}#sha256={self.files[each.name]}">{each.name}</a>' for each in _artefacts(page)]
        (page / "index.html").write_text("<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>")
        return f"sha256:{self.files[file]}"


def _artefacts(page: Path) -> list[Path]:
    return sorted(path for path in page.iterdir() if path.name != "index.html")


class _Handler(SimpleHTTPRequestHandler):
    """Serves a shelf; as PEP 691 with upload times where `times` says so, and only to whom `login` names."""

    times: dict[str, str] | None = None
    login: str = ""

    def do_GET(self) -> None:
        if (
            self.login
            and self.headers.get("Authorization") != f"Basic {base64.b64encode(self.login.encode()).decode()}"
        ):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        folder = Path(self.translate_path(self.path))
        if self.times is None or not folder.is_dir():
            super().do_GET()
            return
        files = [
            {
                "filename": each.name,
                "url": each.name,
                "hashes": {"sha256": hashlib.sha256(each.read_bytes()).hexdigest()},
                **({"upload-time": self.times[each.name]} if each.name in self.times else {}),
            }
            for each in _artefacts(folder)
        ]
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": folder.name, "files": files}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def shelf(tmp_path: Path) -> Callable[[str], Shelf]:
    """Make an empty index by name."""
    return lambda name: Shelf(tmp_path / name)


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Serve a shelf on loopback and return its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(shelf: Shelf, times: dict[str, str] | None = None, login: str = "") -> str:
        handler = type("Handler", (_Handler,), {"times": times, "login": login})
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(shelf.folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/simple"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def dead_url() -> str:
    """The URL of an index where nobody listens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    port = server.server_port
    server.server_close()
    return f"http://127.0.0.1:{port}/simple"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Resolution]:
    """Resolve requirements for a platform with the settings of a host."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_HTTP_RETRIES": "0",
    }

    def start(
        *requirements: str,
        default: str | None = None,
        platform: Platform = Platform.LINUX_X86_64,
        interpreter: bool = True,
        wish: dict[str, Any] | None = None,
        host: dict[str, Any] | None = None,
        host_sources: bool = True,
        **keys: Any,
    ) -> Resolution:
        manifest = Manifest(schema=1, name="small", python=f"=={PYTHON}.*", requirements=requirements, **keys)
        resolver = Resolver(
            process=RealProcess(environment),
            files=RealFiles(tmp_path / "scratch"),
            uv=Path(find_uv_bin()),
            any_python=Path(sys.executable),
            environment=environment,
            settings=InstallerSettings(index_url=default, **(host or {})),
            host_sources=host_sources,
            timeout=60,
        )
        asked = Wish(
            target=target(manifest, None, platform),
            python=PYTHON,
            interpreter=Path(sys.executable) if interpreter else None,
            **(wish or {}),
        )
        return resolve(asked, resolver)

    return start
