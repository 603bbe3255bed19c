"""uv's configuration: variables before the project's files before the user's before the system's; lists add up."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envmgr.errors import HostError
from envmgr.host.setting import Setting
from envmgr.host.surroundings import Means, Surroundings

_LISTS = ("extra-index-url", "find-links", "constraint", "allow-insecure-host")
_SINGLES = ("index-url", "no-index", "native-tls", "keyring-provider", "index-strategy")
_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "extra-index-url": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
    "find-links": ("UV_FIND_LINKS",),
    "constraint": ("UV_CONSTRAINT",),
    "no-index": ("UV_NO_INDEX",),
    "native-tls": ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS"),
    "keyring-provider": ("UV_KEYRING_PROVIDER",),
    "index-strategy": ("UV_INDEX_STRATEGY",),
    "allow-insecure-host": ("UV_INSECURE_HOST",),
}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_TABLE = re.compile(r"^\s*\[\s*tool\s*\.\s*uv\s*[.\]]|^\s*\[\[\s*tool\s*\.\s*uv\s*\.", re.MULTILINE)
_NAMED = re.compile(r"(?:([A-Za-z0-9._-]+)=(?=\S))?(.*)")


def uv_options(means: Means, around: Surroundings) -> dict[str, Setting]:
    """Return uv's options as `uv pip install` would have them in the caller's folder.

    Raises HostError for a file that uv could not read.
    """
    found: dict[str, list[Setting]] = {}
    for key, setting in (*_from_variables(around), *_from_files(means, around)):
        found.setdefault(key, []).append(setting)
    options = {key: settings[0] for key, settings in found.items() if key in _SINGLES}
    for key in _LISTS:
        if key in found:
            values = dict.fromkeys(value for setting in found[key] for value in setting.values)
            origins = dict.fromkeys(setting.origin for setting in found[key])
            options[key] = Setting(tuple(values), ", ".join(origins))
    return options


def uv_files(means: Means, around: Surroundings) -> tuple[Path, ...]:
    """Return the files that uv reads here, the strongest first."""
    if around.environment.get("UV_NO_CONFIG", "").lower() in {"1", "true", "yes", "on", "y", "t"}:
        return ()
    if around.environment.get("UV_CONFIG_FILE"):
        return (Path(around.environment["UV_CONFIG_FILE"]),)
    if around.system == "windows":
        user = around.folder("APPDATA", around.home / "AppData" / "Roaming")
        programs = around.folder("PROGRAMDATA", Path("C:/ProgramData"))
        return (*_project_files(means, around), user / "uv" / "uv.toml", programs / "uv" / "uv.toml")
    user = around.folder("XDG_CONFIG_HOME", around.home / ".config")
    configured = around.folders("XDG_CONFIG_DIRS") or (Path("/etc/xdg"),)
    places = [folder / "uv" / "uv.toml" for folder in (*configured, Path("/etc"))]
    system = [path for path in places if means.files.exists(path)][:1]
    return (*_project_files(means, around), user / "uv" / "uv.toml", *system)


def _project_files(means: Means, around: Surroundings) -> tuple[Path, ...]:
    """Return the nearest uv.toml, or pyproject.toml with a `[tool.uv]`, from the caller's folder upwards."""
    for folder in () if around.place is None else (around.place, *around.place.parents):
        if means.files.exists(folder / "uv.toml"):
            return (folder / "uv.toml",)
        if _TABLE.search(means.read(folder / "pyproject.toml") or ""):
            return (folder / "pyproject.toml",)
    return ()


def parse_uv_config(text: str, path: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    """Yield the options of a uv.toml or a pyproject.toml; what stands under `[pip]` comes first, as it is the stronger.

    Folders are those that uv means: from the file's own folder. A named index gets the credentials that variables of
    its name hold.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at .*\)", str(error))
        why = place[0].strip("()") if place else "no TOML"
        raise HostError(f"{path}: uv's configuration cannot be read", why, "correct it") from None
    if path.name == "pyproject.toml":
        table = table.get("tool", {}).get("uv", {})
    pip = table.get("pip")
    for part in (pip if isinstance(pip, dict) else {}, table):
        for key, setting in _of_table(part, str(path), environment):
            values = (_placed(value, path) for value in setting.values) if key == "find-links" else setting.values
            yield key, Setting(tuple(values), setting.origin)


def _placed(place: str, path: Path) -> str:
    return place if "://" in place else str(path.parent / place)


def _of_table(table: Mapping[str, Any], origin: str, environment: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    for index in table.get("index", []):
        url = index.get("url") if isinstance(index, dict) else None
        if isinstance(url, str) and not index.get("explicit"):
            url = _with_credentials(str(index.get("name") or ""), url, environment)
            yield ("index-url" if index.get("default") else "extra-index-url"), Setting((url,), origin)
    for key in (*_SINGLES, "extra-index-url", "find-links", "allow-insecure-host", "system-certs"):
        value = table.get(key)
        option = "native-tls" if key == "system-certs" else key
        if isinstance(value, bool):
            yield option, Setting((str(value).lower(),), origin)
        elif isinstance(value, str):
            yield option, Setting((value,), origin)
        elif isinstance(value, list) and value:
            yield option, Setting(tuple(str(entry) for entry in value), origin)


def _from_variables(around: Surroundings) -> Iterator[tuple[str, Setting]]:
    for key, names in _VARIABLES.items():
        for name in names:
            text = around.environment.get(name, "").strip()
            parts = text.split(",") if key == "find-links" else text.split()
            values = tuple(_unnamed(part, around) if "index" in key else part.strip() for part in parts)
            if any(values):
                yield key, Setting(tuple(value for value in values if value), name)


def _unnamed(text: str, around: Surroundings) -> str:
    """Return the address in `NAME=URL`, with the credentials that are known by that name."""
    found = _NAMED.fullmatch(text.strip())
    return _with_credentials(found[1] or "", found[2], around.environment) if found else text.strip()


def _with_credentials(name: str, url: str, environment: Mapping[str, str]) -> str:
    """Return an index's address with what `UV_INDEX_NAME_USERNAME` and `UV_INDEX_NAME_PASSWORD` say."""
    spelt = re.sub(r"[^A-Za-z0-9]", "_", name).upper()
    user, password = (environment.get(f"UV_INDEX_{spelt}_{what}", "") for what in ("USERNAME", "PASSWORD"))
    scheme, separator, rest = url.partition("://")
    if not name or not separator or not (user or password) or "@" in rest.partition("/")[0]:
        return url
    return f"{scheme}://{_quoted(user)}:{_quoted(password)}@{rest}"


def _quoted(text: str) -> str:
    """Return a text as a part of an address: nothing in it can be taken for what separates the parts."""
    return "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in text.encode())


def _from_files(means: Means, around: Surroundings) -> Iterator[tuple[str, Setting]]:
    for path in uv_files(means, around):
        text = means.read(path)
        if text is not None:
            yield from parse_uv_config(text, path, around.environment)
