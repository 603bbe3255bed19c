"""Which of the caller's variables any installer gets."""

from __future__ import annotations

from collections.abc import Mapping

_PASSED_ON = (
    "PATH",
    "HOME",
    "USERPROFILE",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CLIENT_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NETRC",
    "UV_HTTP_TIMEOUT",
    "UV_HTTP_CONNECT_TIMEOUT",
    "UV_HTTP_RETRIES",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_TIMEOUT",
    "PIP_RETRIES",
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_COMPILERS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "SDKROOT", "MACOSX_DEPLOYMENT_TARGET", "CUDA_HOME")


def passed_on(caller: Mapping[str, str]) -> dict[str, str]:
    """Return paths, certificates, patience, compilers and proxies; none decides what is installed, or from where."""
    names = (*_PASSED_ON, *_COMPILERS, *_PROXIES, *(name.lower() for name in _PROXIES))
    return {name: caller[name] for name in names if name in caller}
