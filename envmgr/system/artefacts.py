from __future__ import annotations

import hashlib
import http.client
import shutil
import ssl
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from envmgr.errors import BuildError, UsageError
from envmgr.model.outcome import Phase
from envmgr.system.credentials import Onward, authorization
from envmgr.system.owned import owned_name

_PIECE = 1 << 20
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_UNSAFE = ("..", "")


class RealArtefacts:
    """Wheels and archives as files: fetched, digested, packed into one file and taken out again."""

    def __init__(self, environment: Mapping[str, str], timeout: float = 60.0) -> None:
        self._environment = environment
        self._timeout = timeout

    def fetch(self, url: str, target: Path, sha256: str) -> None:
        """Bring one file here, whole and with the digest wanted or not at all; raises BuildError.

        Credentials may stand in the address, or in the netrc file for its host.
        """
        parts = urlsplit(url)
        shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.parent / owned_name(f".{sha256[:16]}", ".part")
        try:
            with _told(shown), self._opened(parts) as source, aside.open("xb") as sink:
                shutil.copyfileobj(source, sink, _PIECE)
            found = self.digest(aside)
            if found != sha256:
                raise BuildError(
                    f"{target.name} is not what the lock names",
                    f"wanted sha256:{sha256}; found sha256:{found} at {shown}",
                    "do not trust this index; if the artefact changed for a good reason, renew the lock",
                    phase=Phase.DOWNLOAD.value,
                )
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def digest(self, path: Path) -> str:
        """Return the sha256 of a file in hexadecimal digits."""
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def pack(self, target: Path, members: Mapping[str, Path | str]) -> None:
        """Write files and texts into one archive, whole or not at all; equal members give equal bytes."""
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.parent / owned_name(f".{target.name}", ".part")
        try:
            with zipfile.ZipFile(aside, "x") as archive:
                for name, content in sorted(members.items()):
                    kind = zipfile.ZIP_DEFLATED if isinstance(content, str) else zipfile.ZIP_STORED
                    head = zipfile.ZipInfo(name)
                    head.compress_type = kind
                    head.external_attr = 0o644 << 16
                    with archive.open(head, "w", force_zip64=True) as sink:
                        if isinstance(content, str):
                            sink.write(content.encode())
                        else:
                            with content.open("rb") as source:
                                shutil.copyfileobj(source, sink, _PIECE)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def unpack(self, source: Path, folder: Path) -> tuple[str, ...]:
        """Take everything out of an archive into a folder, never beside it, and return the names; raises UsageError."""
        try:
            with zipfile.ZipFile(source) as archive:
                names = [head.filename for head in archive.infolist() if not head.is_dir()]
                unsafe = [name for name in names if not _is_safe(name)]
                if unsafe:
                    raise UsageError(f"{source} is not safe to unpack", f"it holds {unsafe[0]!r}", "do not trust it")
                total = sum(head.file_size for head in archive.infolist())
                folder.mkdir(parents=True, exist_ok=True)
                free = shutil.disk_usage(folder).free
                if total > free:
                    raise UsageError(
                        f"there is no room for {source.name}",
                        f"wanted {total / 1e9:.2f} GB; found {free / 1e9:.2f} GB free",
                        "free some, for instance with `envmgr clean --dry-run` and `envmgr clean`",
                    )
                for name in names:
                    place = folder / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(name) as stored, place.open("xb") as sink:
                        shutil.copyfileobj(stored, sink, _PIECE)
                return tuple(names)
        except (FileNotFoundError, IsADirectoryError):
            found = "is a folder" if source.is_dir() else "is not there"
            raise UsageError(f"{source} {found}", "wanted a file", "look at its name") from None
        except (zipfile.BadZipFile, EOFError, FileExistsError, NotImplementedError, RuntimeError) as error:
            raise UsageError(f"{source} is damaged or no archive", str(error), "copy it here again") from error

    @contextmanager
    def _opened(self, parts: SplitResult) -> Iterator[IO[bytes] | http.client.HTTPResponse]:
        if parts.scheme == "file" or not parts.scheme:
            with Path(unquote(parts.path)).open("rb") as stream:
                yield stream
            return
        if parts.scheme not in {"http", "https"}:
            message = f"{parts.scheme} is no scheme that envmgr fetches from"
            raise OSError(message)
        bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
        request = urllib.request.Request(bare)  # noqa: S310 - http and https alone
        for name, value in authorization(parts, self._environment).items():
            request.add_unredirected_header(name, value)
        bundle = next((self._environment[n] for n in ("SSL_CERT_FILE", "PIP_CERT") if self._environment.get(n)), None)
        proxies = {
            scheme: self._environment.get(f"{scheme}_proxy") or self._environment.get(f"{scheme.upper()}_PROXY")
            for scheme in ("http", "https")
        }
        opener = urllib.request.build_opener(
            Onward(parts, self._environment),
            urllib.request.ProxyHandler({scheme: url for scheme, url in proxies.items() if url}),
            urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=bundle)),
        )
        with opener.open(request, timeout=self._timeout) as answer:
            yield answer


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Tell a file that has left its index from one whose index does not answer."""
    try:
        yield
    except urllib.error.HTTPError as error:
        gone = error.code in _GONE
        raise BuildError(
            f"{url} has left its index" if gone else f"{url} cannot be fetched",
            f"wanted the file; the index answers: {error.code} {error.reason}",
            "name an index or a wheel folder that has it" if gone else "check the index's address and credentials",
            phase=Phase.DOWNLOAD.value,
            gone=gone,
        ).lacking(url.rpartition("/")[2] if gone else "") from error
    except FileNotFoundError as error:
        raise BuildError(
            f"{url} has left its index",
            "wanted the file; the folder does not hold it",
            "name an index or a wheel folder that has it",
            phase=Phase.DOWNLOAD.value,
            gone=True,
        ).lacking(url.rpartition("/")[2]) from error
    except (OSError, http.client.HTTPException) as error:
        raise BuildError(
            f"{url} cannot be fetched",
            f"wanted the file; found: {getattr(error, 'reason', error)}",
            "check the network, the proxy and the certificate, or name a mirror in pip's or uv's configuration",
            phase=Phase.DOWNLOAD.value,
        ) from error


def _is_safe(name: str) -> bool:
    """Tell whether a member stays inside the folder that it is taken out into.

    >>> _is_safe("wheels/a.whl"), _is_safe("../a"), _is_safe("/a"), _is_safe("C:/a"), _is_safe("a//b")
    (True, False, False, False, False)
    """
    path = PurePosixPath(name)
    parts = name.split("/")
    return not path.is_absolute() and not any(part in _UNSAFE or ":" in part or "\\" in part for part in parts)
