"""A package index of tiny distributions: files in a folder, served on loopback as PEP 691 with upload times (PEP 700)."""

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LONG_AGO = "2016-01-01"
PURE = "py3-none-any"
TOLD = "told.json"
"""What a project's page tells of its files beside their names; never listed itself."""


class Shelf:
    """An index that grows; `day` is the date on which a release came out (`2021-03-05`)."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def wheel(self, name, version, files, *, requires=(), extras=(), day=LONG_AGO, python="", tag=PURE, yanked=False):  # noqa: PLR0913
        """Add a wheel of some files and their text."""
        stem = name.replace("-", "_")
        info = f"{stem}-{version}.dist-info"
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Python: {python}"] if python else []
        lines += [f"Provides-Extra: {extra}" for extra in extras] + [f"Requires-Dist: {line}" for line in requires]
        content = {
            **files,
            f"{info}/METADATA": "\n".join(lines) + "\n",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: unseen\nRoot-Is-Purelib: true\nTag: {tag}\n",
        }
        content[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*content, f"{info}/RECORD"))
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for path, text in content.items():
                archive.writestr(path, text)
        self._add(name, f"{stem}-{version}-{tag}.whl", buffer.getvalue(), day, python, yanked)

    def source(self, name, version, files, *, day=LONG_AGO, python=""):
        """Add a source archive of some files and their text; its metadata is what its build says."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            metadata = f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n"
            for path, text in (*files.items(), ("PKG-INFO", metadata)):
                entry = tarfile.TarInfo(f"{name}-{version}/{path}")
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        self._add(name, f"{name}-{version}.tar.gz", buffer.getvalue(), day, python, yanked=False)

    def _add(self, name, filename, content, day, python, yanked):
        page = self.folder / name
        page.mkdir(parents=True, exist_ok=True)
        (page / filename).write_bytes(content)
        told = page / TOLD
        known = json.loads(told.read_text()) if told.exists() else []
        entry = {
            "filename": filename,
            "url": filename,
            "hashes": {"sha256": hashlib.sha256(content).hexdigest()},
            "size": len(content),
            "upload-time": f"{day}T12:00:00.000000Z",
            "yanked": yanked,
        }
        told.write_text(json.dumps([*known, entry | ({"requires-python": python} if python else {})]))


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        folder = Path(self.translate_path(self.path))
        if not (folder / TOLD).exists():
            super().do_GET()
            return
        files = json.loads((folder / TOLD).read_text())
        versions = sorted({file["filename"].removesuffix(".tar.gz").split("-")[1] for file in files})
        page = {"meta": {"api-version": "1.1"}, "name": folder.name, "versions": versions, "files": files}
        body = json.dumps(page).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Say nothing."""


@contextmanager
def served(folder):
    """Serve a folder of indexes on loopback; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
