"""What uv 0.13 said in real failures, and what envmgr makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envmgr.lock.trouble import notes_of, resolve_error, unreached
from envmgr.lock.work import Resolver, Wish
from envmgr.model.host import InstallerSettings
from envmgr.model.manifest import Index, Manifest, Target
from envmgr.model.platform import Platform
from envmgr.model.redaction import redact
from envmgr.ports import Completed
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess

CPU = "https://wheels.example/whl/cpu"
MANIFEST = Manifest(
    schema=1,
    name="x",
    python="==3.11.*",
    requirements=("torch",),
    index=(Index(name="cpu", url=CPU, packages=("torch",)),),
)


def wish(platform: Platform = Platform.LINUX_X86_64, **changes: Any) -> Wish:
    manifest = MANIFEST.model_copy(update=changes)
    return Wish(Target(manifest=manifest, variant="default", python="==3.11.*", platform=platform), "3.11")


def resolver(tmp_path: Path, *, offline: bool = False, **settings: Any) -> Resolver:
    environment = {"UV_CACHE_DIR": "/var/cache/uv"}
    return Resolver(
        RealProcess({}),
        RealFiles(tmp_path),
        Path("uv"),
        Path("python"),
        environment,
        InstallerSettings(**settings),
        offline=offline,
    )


def ended(stderr: str, **changes: Any) -> Completed:
    return Completed(("uv",), 2, stderr=stderr, **changes)


DNS = f"""\
error: Request failed after 3 retries in 4.9s
  cause: Failed to fetch: {CPU}/torch/
  cause: error sending request for url ({CPU}/torch/)
  cause: client error (Connect)
  cause: dns error
  cause: failed to lookup address information: Name or service not known
"""
FORBIDDEN = f"""\
error: Failed to fetch: {CPU}/torch/
  cause: HTTP status client error (403 Forbidden) for url ({CPU}/torch/)
"""
BROKEN = f"""\
error: Failed to fetch: {CPU}/torch/
  cause: HTTP status server error (502 Bad Gateway) for url ({CPU}/torch/)
"""
PLATFORM = """\
error: No solution found when resolving dependencies
  cause: Because tensorflow==2.20.0 has no wheels with a matching platform tag (e.g., `macosx_13_0_x86_64`) and you
         require tensorflow==2.20, we can conclude that your requirements are unsatisfiable.

hint: Wheels are available for `tensorflow` (v2.20.0) on the following platforms: `manylinux_2_17_aarch64`
"""
ABI = """\
error: No solution found when resolving dependencies
  cause: Because tensorflow==1.13.1 has no wheels with a matching Python ABI tag (e.g., `cp311`) and you require
         tensorflow==1.13.1, we can conclude that your requirements are unsatisfiable.
"""
TRANSITIVE = """\
error: No solution found when resolving dependencies
  cause: Because scipy>=1.15.0 has no usable wheels and jax>=0.12.0.1 depends on scipy>=1.15, we can conclude that
         jax>=0.12.0.1 cannot be used.
         And because envmgr-target depends on jax==0.12.0.1, we can conclude that your requirements are unsatisfiable.
"""
CONFLICT = """\
error: No solution found when resolving dependencies
  cause: Because only numpy<=1.26 is available and keras==2.2.4 depends on numpy>=1.9.1, we can conclude that you
         require numpy>=1.9.1.
         And because you require numpy<1.9, we can conclude that your requirements are unsatisfiable.
"""
TOO_NEW = """\
error: No solution found when resolving dependencies
  cause: Because only torch<=2.15.0 is available and you require torch>=2.99, we can conclude that your requirements are unsatisfiable.
"""
MISSING = """\
error: No solution found when resolving dependencies
  cause: Because nosuch was not found in the package registry and you require nosuch, we can conclude that your
         requirements are unsatisfiable.
"""
OFFLINE = """\
error: No solution found when resolving dependencies
  cause: Because six was not found in the cache and you require six==1.17.0, we can conclude that your requirements
         are unsatisfiable.

hint: Packages were unavailable because the network was disabled. When the network is disabled, registry packages may
only be read from the cache.
"""
FULL = "error: Failed to write to the cache\n  cause: No space left on device (os error 28)\n"
BUILD = """\
DEBUG Building: absl-py==0.7.1
error: Failed to build `absl-py==0.7.1`
  cause: The build backend returned an error
"""


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (DNS, "the index 'cpu' does not answer", "Check the network"),
        (FORBIDDEN, "the index 'cpu' refuses access", "netrc"),
        (BROKEN, "the index 'cpu' does not answer", "Check the network"),
        (PLATFORM, "tensorflow==2.20.0 has no wheel for linux-x86_64", "Take linux-x86_64 out of `platforms`"),
        (ABI, "tensorflow==1.13.1 has no wheel for Python 3.11", "Choose a Python"),
        (TRANSITIVE, "scipy>=1.15.0 has no wheel for Python 3.11 on linux-x86_64, and may not be", '["scipy"]'),
        (CONFLICT, "no set of distributions meets the requirements", "Loosen one"),
        (TOO_NEW, "there is no torch>=2.99", "Ask for a version"),
        (MISSING, "there is no distribution nosuch", "Check the name"),
        (OFFLINE, "not all that it needs is in the cache", "without --offline"),
        (FULL, "the disk is full", "/var/cache/uv"),
        (BUILD, "absl-py==0.7.1 cannot be built from source", "build-constraints"),
        ("error: something new\n", "uv cannot resolve it", "Look"),
    ],
)
def test_each_failure_is_told(tmp_path: Path, text: str, what: str, hint: str) -> None:
    error = resolve_error(ended(text), wish(), resolver(tmp_path))
    assert error.what.startswith(f"x for linux-x86_64: {what}")
    assert hint in error.hint
    assert "envmgr-target" not in error.why
    assert "DEBUG" not in error.why


def test_the_whole_derivation_is_kept(tmp_path: Path) -> None:
    error = resolve_error(ended(CONFLICT), wish(), resolver(tmp_path))
    assert error.why == CONFLICT.strip()


def test_a_uv_that_was_stopped_or_never_started_is_told(tmp_path: Path) -> None:
    late = resolve_error(ended("", timed_out=True), wish(), resolver(tmp_path))
    assert (late.what, late.why.strip()) == ("x for linux-x86_64: uv took too long", "it had not ended after 1800 s")
    absent = resolve_error(ended("uv: No such file", started=False), wish(), resolver(tmp_path))
    assert absent.what == "x for linux-x86_64: uv cannot be started"


def test_without_network_it_is_the_cache_that_lacks_something(tmp_path: Path) -> None:
    error = resolve_error(ended(DNS), wish(), resolver(tmp_path, offline=True))
    assert error.what == f"x for linux-x86_64: {CPU}/torch/ is not in the cache"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"index_url": "https://me:pw@mirror.example/simple"}, "the index https://mirror.example/simple"),
        ({"extra_index_urls": ("https://mirror.example/simple/",)}, "the further index https://mirror.example/simple/"),
        ({"find_links": ("https://mirror.example/simple",)}, "the wheel page https://mirror.example/simple"),
        ({}, "the default index"),
    ],
)
def test_an_index_is_named_as_the_user_knows_it(tmp_path: Path, settings: dict[str, Any], name: str) -> None:
    text = DNS.replace(CPU, "https://mirror.example/simple")
    error = resolve_error(ended(text), wish(), resolver(tmp_path, **settings))
    assert error.what == f"x for linux-x86_64: {name} does not answer"


def test_no_secret_is_shown(tmp_path: Path) -> None:
    text = DNS.replace("https://", "https://me:s3cret@").replace("/torch/", "/torch/?token=s3cret")
    error = resolve_error(ended(text), wish(), resolver(tmp_path))
    assert "s3cret" not in str(error)
    assert error.what == "x for linux-x86_64: the index 'cpu' does not answer"
    assert (
        redact("see `https://u:p@a.example/b?c=d`, or http://e.example")
        == "see `https://a.example/b`, or http://e.example"
    )


def test_only_a_dead_url_counts_as_unreached() -> None:
    assert unreached(ended(DNS)) == f"{CPU}/torch/"
    assert unreached(ended(MISSING)) is None


def test_warnings_become_notes_and_noise_does_not(tmp_path: Path) -> None:
    text = """\
warning: The requested Python version 3.12 is not available; 3.11.7 will be used to build dependencies instead.
warning: `one==1.0` is yanked (reason: "broken")
Resolved 2 packages in 3ms
"""
    assert notes_of(ended(text), wish(), resolver(tmp_path)) == ('`one==1.0` is yanked (reason: "broken")',)
