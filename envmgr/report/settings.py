"""What pip and uv are told on a host, in words."""

from __future__ import annotations

from collections.abc import Iterator

from envmgr.model.host import InstallerSettings

_SPELT = {
    "index_url": "index", "extra_index_urls": "further indexes", "find_links": "folders of wheels",
    "native_tls": "certificates", "no_index": "no index",
    "insecure_hosts": "hosts without checks", "index_strategy": "index strategy",
}  # fmt: skip


def told_settings(settings: InstallerSettings) -> Iterator[tuple[str, str, str]]:
    """Yield what installers are told on this host, each with the file or variable that says so."""
    told: dict[str, object] = {
        "index_url": settings.index_url,
        "extra_index_urls": "\n".join(settings.extra_index_urls),
        "find_links": "\n".join(settings.find_links),
        "constraints": "\n".join(settings.constraints),
        "certificate": settings.certificate,
        "native_tls": "the system's" if settings.native_tls else "",
        "no_index": "yes" if settings.no_index else "",
        "keyring": "asked for passwords" if settings.keyring else "",
        "insecure_hosts": "\n".join(settings.insecure_hosts),
        "index_strategy": settings.index_strategy,
        **{f"proxies.{kind}": url for kind, url in settings.proxies.items()},
    }
    for field, value in told.items():
        if value:
            spelt = _SPELT.get(field, field.replace("proxies.", "proxy for "))
            yield spelt, str(value), settings.origins.get(field, "")
    if settings.netrc:
        yield "passwords", "for the hosts that it names", settings.netrc
