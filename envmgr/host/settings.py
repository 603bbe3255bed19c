"""What pip's and uv's own configuration on this host says, as those tools read it."""

from __future__ import annotations

import re
from pathlib import Path

from envmgr.host.pip_settings import pip_options
from envmgr.host.setting import Setting
from envmgr.host.surroundings import Means, Surroundings
from envmgr.host.uv_settings import uv_options
from envmgr.model.host import InstallerSettings
from envmgr.model.redaction import redact

_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("http", "https", "all", "no")
_AUTHORITY = re.compile(r"(?P<scheme>https?://)(?P<who>[^/?#\s]*@)?(?P<host>[^/?#\s@]+)")
_ASKING_KEYRING = frozenset({"subprocess", "import"})
"""What uv and pip are told where the program `keyring` is to be asked; pip asks it within its own process, too."""


def read_settings(means: Means, around: Surroundings) -> InstallerSettings:
    """Return the true settings, credentials included: for installers alone, never to be shown or stored.

    Where pip and uv both name one index, uv's counts, as uv installs; lists hold uv's entries, then pip's. Raises
    HostError for a configuration file that its tool could not read either.
    """
    uv, pip = uv_options(means, around), pip_options(means, around)
    origins: dict[str, str] = {}

    def first(field: str, *found: Setting | None) -> str | None:
        setting = next((one for one in found if one is not None), None)
        if setting is None:
            return None
        origins[field] = setting.origin
        return setting.values[0]

    def merged(field: str, *found: Setting | None) -> tuple[str, ...]:
        settings = [one for one in found if one is not None and one.values]
        if settings:
            origins[field] = ", ".join(dict.fromkeys(one.origin for one in settings))
        return tuple(dict.fromkeys(value for one in settings for value in one.values))

    certificates = [*_variables(around, _CERTIFICATES[:1]), pip.get("cert"), *_variables(around, _CERTIFICATES[1:])]
    return InstallerSettings(
        index_url=first("index_url", uv.get("index-url"), pip.get("index-url")),
        extra_index_urls=merged("extra_index_urls", uv.get("extra-index-url"), pip.get("extra-index-url")),
        find_links=merged("find_links", uv.get("find-links"), pip.get("find-links")),
        constraints=merged("constraints", uv.get("constraint"), pip.get("constraint")),
        certificate=first("certificate", *certificates),
        native_tls=_is_true(first("native_tls", uv.get("native-tls"))),
        proxies=_proxies(around, pip.get("proxy"), origins),
        no_index=_is_true(first("no_index", uv.get("no-index"), pip.get("no-index"))),
        keyring=first("keyring", uv.get("keyring-provider"), pip.get("keyring-provider")) in _ASKING_KEYRING,
        netrc=_netrc(means, around),
        insecure_hosts=merged("insecure_hosts", uv.get("allow-insecure-host"), pip.get("trusted-host")),
        index_strategy=first("index_strategy", uv.get("index-strategy")),
        origins=origins,
    )


def with_credentials(address: str, settings: InstallerSettings) -> str:
    """Return the address of an artefact with the credentials that the settings have for an index on its host, if any.

    >>> told = InstallerSettings(index_url="https://ann:pw@own.example/simple")
    >>> with_credentials("https://own.example/files/a.whl", told), with_credentials("https://b.example/a.whl", told)
    ('https://ann:pw@own.example/files/a.whl', 'https://b.example/a.whl')
    """
    asked = _AUTHORITY.match(address)
    if asked is None or asked["who"]:
        return address
    place = asked["scheme"], asked["host"].lower()
    for index in (settings.index_url or "", *settings.extra_index_urls, *settings.find_links):
        known = _AUTHORITY.match(index)
        if known and known["who"] and (known["scheme"], known["host"].lower()) == place:
            return f"{asked['scheme']}{known['who']}{address[asked.start('host') :]}"
    return address


def redact_settings(settings: InstallerSettings) -> InstallerSettings:
    """Return the settings as they may be shown: no URL in them holds a credential."""

    def clean(urls: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(redact(url) for url in urls)

    return settings.model_copy(
        update={
            "index_url": redact(settings.index_url) if settings.index_url else settings.index_url,
            "extra_index_urls": clean(settings.extra_index_urls),
            "find_links": clean(settings.find_links),
            "constraints": clean(settings.constraints),
            "proxies": {kind: redact(url) for kind, url in settings.proxies.items()},
        }
    )


def _variables(around: Surroundings, names: tuple[str, ...]) -> list[Setting | None]:
    values = ((name, around.environment.get(name, "")) for name in names)
    return [Setting((value,), name) if value else None for name, value in values]


def _proxies(around: Surroundings, pip_proxy: Setting | None, origins: dict[str, str]) -> dict[str, str]:
    """Return proxies by kind; lower-case variables win, as they do in the libraries of both tools."""
    found: dict[str, str] = {}
    for kind in _PROXIES:
        name = f"{kind}_proxy"
        settings = _variables(around, (name, name.upper()))
        if kind in {"http", "https"}:
            settings.append(pip_proxy)
        setting = next((one for one in settings if one is not None), None)
        if setting is not None:
            found[kind] = setting.values[0]
            origins[f"proxies.{kind}"] = setting.origin
    return found


def _netrc(means: Means, around: Surroundings) -> str | None:
    """Return the netrc file that both tools read, if it is there."""
    named = around.environment.get("NETRC", "")
    places = [Path(named)] if named else [around.home / ".netrc", around.home / "_netrc"]
    return next((str(path) for path in places if means.files.exists(path)), None)


def _is_true(value: str | None) -> bool:
    return (value or "").strip().lower() in {"1", "true", "yes", "on", "y", "t"}
