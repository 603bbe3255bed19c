"""What was locked on one day is resolved to the same again: the dates in the manifests see to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

import envmgr
from envmgr.lock.parse import parse
from envmgr.lock.resolve import resolve
from envmgr.lock.work import Resolver, Wish
from envmgr.manifest.expand import target
from envmgr.manifest.read import parse_manifest
from envmgr.model.host import InstallerSettings
from envmgr.model.platform import Platform
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

pytestmark = [pytest.mark.network, pytest.mark.timeout(300)]

FOLDER = Path(envmgr.__file__).parent.parent / "manifests"
PASSED_ON = ("PATH", "HOME", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def interpreter(minor: str) -> Path | None:
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    return next(iter(sorted(versions.glob(f"{minor}.*/bin/python"))), None)


@pytest.mark.parametrize(
    ("name", "variant", "platform"),
    [
        ("plaidml-0.7.0", "py3.8", Platform.LINUX_X86_64),
        ("plaidml-0.6.4", "py3.7", Platform.WINDOWS_X86_64),
        ("keras-jax", "default", Platform.MACOS_ARM64),
        ("torch-stable", "default", Platform.LINUX_X86_64),
        ("keras-2.2.4-tensorflow-1.13", "default", Platform.LINUX_X86_64),
        ("keras-2.2.4-tensorflow-1.13", "default", Platform.WINDOWS_X86_64),
    ],
)
def test_a_committed_lock_is_resolved_again(name: str, variant: str, platform: Platform, tmp_path: Path) -> None:
    source = FOLDER / f"{name}.toml"
    manifest = parse_manifest(source.read_text("utf-8"), str(source))
    path = FOLDER / "locks" / name / f"{variant}-{platform}.txt"
    committed = parse(path.read_text("utf-8"), str(path))
    environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ} | {
        "UV_CACHE_DIR": str(tmp_path / "c")
    }
    resolver = Resolver(
        process=RealProcess(environment),
        files=RealFiles(tmp_path / "scratch"),
        uv=Path(find_uv_bin()),
        any_python=Path(sys.executable),
        environment=environment,
        settings=InstallerSettings(),
        host_sources=False,
        timeout=200,
    )
    found = interpreter(committed.python)
    if manifest.allow_source and found is None:
        pytest.skip(f"building sources takes a Python {committed.python}")
    # An index may come to have what is older than the manifest's date only after that date, so the versions of the lock
    # are preferred, as `envmgr lock` prefers them: they must still fit, and all else must come out as it stands there.
    wish = Wish(target(manifest, variant, platform), committed.python, found, previous=committed)
    made = resolve(wish, resolver)
    assert made.lock.model_copy(update={"uv": committed.uv}) == committed
    assert made.notes == ()
