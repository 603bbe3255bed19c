"""How uv is called: its arguments and its clean environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from envmgr.env.content import RequirementGroup, Switches
from envmgr.env.passing import passed_on
from envmgr.model.host import InstallerSettings

_KEYRING = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PYTHON_KEYRING_BACKEND")
"""What `keyring` needs to find the user's passwords."""


def network_environment(settings: InstallerSettings, caller: Mapping[str, str]) -> dict[str, str]:
    """Return what any installer gets: paths, certificates, proxies, who knows passwords, compilers, patience.

    None decides what is installed, or from where.
    """
    passed = passed_on(caller)
    for scheme, url in settings.proxies.items():
        passed[_proxy_variable(scheme)] = url
    if settings.certificate:
        passed["SSL_CERT_FILE"] = settings.certificate
    if settings.keyring:
        passed |= {name: caller[name] for name in _KEYRING if name in caller}
        passed |= {"UV_KEYRING_PROVIDER": "subprocess", "PIP_KEYRING_PROVIDER": "subprocess"}
    if settings.insecure_hosts:
        hosts = " ".join(settings.insecure_hosts)
        passed |= {"UV_INSECURE_HOST": hosts, "PIP_TRUSTED_HOST": hosts}
    if settings.native_tls:
        passed |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
    return passed


def uv_environment(switches: Switches, cache: Path) -> dict[str, str]:
    """Return the complete environment of uv: no setting of the caller for uv, pip or Python gets in."""
    return network_environment(switches.settings, switches.caller) | {
        "UV_CACHE_DIR": str(cache),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


def index_arguments(
    settings: InstallerSettings, explicit: str | None = None, *, folders_only: bool = False
) -> tuple[str, ...]:
    """Return uv's arguments for where artefacts come from, as far as other users of this machine may see them.

    What can hold a credential is in `index_variables`, which belong with them: arguments show in every list of
    processes. Folders of wheels that the host names always count, with `folders_only` they alone.
    """
    arguments: list[str] = []
    if settings.no_index or folders_only:
        arguments.append("--no-index")
    elif explicit is None and settings.extra_index_urls:
        arguments += ["--index-strategy", settings.index_strategy or "unsafe-best-match"]
    if not _holds_credentials(settings.find_links):
        arguments += [part for place in settings.find_links for part in ("--find-links", place)]
    return tuple(arguments)


def index_variables(
    settings: InstallerSettings, explicit: str | None = None, *, folders_only: bool = False
) -> dict[str, str]:
    """Return uv's variables for where artefacts come from, which belong with `index_arguments`.

    An explicit index stands alone. Otherwise the host's indexes are merged as pip merges them, the best version of all,
    unless uv is told another strategy.
    """
    variables: dict[str, str] = {}
    if not settings.no_index and not folders_only:
        default = explicit or settings.index_url
        if default:
            variables["UV_DEFAULT_INDEX"] = default
        if explicit is None and settings.extra_index_urls:
            variables["UV_EXTRA_INDEX_URL"] = " ".join(settings.extra_index_urls)
    if _holds_credentials(settings.find_links):
        variables["UV_FIND_LINKS"] = ",".join(settings.find_links)
    return variables


def _holds_credentials(places: Iterable[str]) -> bool:
    return any("@" in place.partition("://")[2].partition("/")[0] for place in places)


def vendored_arguments(folders: Iterable[str]) -> tuple[str, ...]:
    """Return uv's arguments for taking everything out of folders of kept artefacts, with no index and no network."""
    return ("--no-index", "--offline", *(part for folder in folders for part in ("--find-links", folder)))


def install_arguments(
    switches: Switches, python: Path, requirements: Path, group: RequirementGroup, *, folders_only: bool = False
) -> tuple[str, ...]:
    """Return the command that installs one group with hash checking and nothing resolved."""
    sources = index_arguments(switches.settings, group.url, folders_only=folders_only)
    return _install(switches, python, requirements, (*sources, *(("--offline",) if switches.offline else ())))


def vendored_install_arguments(switches: Switches, python: Path, requirements: Path) -> tuple[str, ...]:
    """Return the command that installs one group out of the kept artefacts alone, with hash checking."""
    return _install(switches, python, requirements, vendored_arguments(switches.vendored))


def forget_arguments(switches: Switches, names: Iterable[str]) -> tuple[str, ...]:
    """Return the command that takes distributions out of uv's cache, so that they are fetched or unpacked again."""
    return (switches.uv, "cache", "clean", "--no-config", *names)


def _install(switches: Switches, python: Path, requirements: Path, sources: tuple[str, ...]) -> tuple[str, ...]:
    return (
        switches.uv,
        "pip",
        "install",
        "--no-deps",
        "--require-hashes",
        "--no-compile-bytecode",
        "--link-mode",
        switches.link_mode,
        "--python",
        str(python),
        *sources,
        *(word for name in switches.refresh for word in ("--refresh-package", name)),
        "-r",
        str(requirements),
    )


def _proxy_variable(scheme: str) -> str:
    """Return the variable for a proxy that a configuration names by scheme or by variable.

    >>> _proxy_variable("https"), _proxy_variable("NO_PROXY")
    ('HTTPS_PROXY', 'NO_PROXY')
    """
    upper = scheme.upper()
    return upper if upper.endswith("_PROXY") else f"{upper}_PROXY"
