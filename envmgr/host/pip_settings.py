"""pip's configuration: its files in pip's order, its sections, its variables; a later place replaces an earlier one."""

from __future__ import annotations

import configparser
from collections.abc import Iterator
from pathlib import Path

from envmgr.errors import HostError
from envmgr.host.setting import Setting
from envmgr.host.surroundings import Means, Surroundings

_SECTIONS = ("global", "install")
_LISTS = frozenset({"extra-index-url", "find-links", "constraint", "trusted-host"})
_WANTED = _LISTS | {"index-url", "cert", "proxy", "no-index", "keyring-provider"}
_NOTHING = frozenset({"/dev/null", "nul", "NUL"})


def pip_options(means: Means, around: Surroundings) -> dict[str, Setting]:
    """Return pip's options as `pip install` would have them; raises HostError for a file that pip could not read."""
    by_section: dict[str, dict[str, Setting]] = {section: {} for section in _SECTIONS}
    for path in pip_files(means, around):
        text = means.read(path)
        if text is not None:
            for section, key, value in parse_pip_config(text, path):
                if section in by_section and key in _WANTED:
                    by_section[section][key] = Setting(_values(key, value), str(path))
    found = {key: setting for section in _SECTIONS for key, setting in by_section[section].items()}
    for key in _WANTED:
        name = f"PIP_{key.replace('-', '_').upper()}"
        value = around.environment.get(name, "")
        if value:
            found[key] = Setting(_values(key, value), name)
    return {key: setting for key, setting in found.items() if setting.values}


def pip_files(means: Means, around: Surroundings) -> tuple[Path, ...]:
    """Return the files that pip reads here, in its order: global, user, the active environment's, PIP_CONFIG_FILE."""
    named = around.environment.get("PIP_CONFIG_FILE", "")
    if named in _NOTHING:
        return ()
    paths = list(_global_files(around))
    if not (named and means.files.exists(Path(named))):
        paths += _user_files(means, around)
    active = around.environment.get("VIRTUAL_ENV", "")
    if active:
        paths.append(Path(active) / _file_name(around))
    return (*paths, Path(named)) if named else tuple(paths)


def parse_pip_config(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield section, option and value of a pip.conf, options spelled as on pip's command line."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        line = getattr(error, "lineno", None)
        where = f"{path}, line {line}" if line else str(path)
        raise HostError(f"{where}: pip's configuration cannot be read", type(error).__name__, "correct it") from None
    for section in parser.sections():
        for key, value in parser.items(section):
            yield section, key.lower().replace("_", "-").removeprefix("--"), value


def _values(key: str, value: str) -> tuple[str, ...]:
    return tuple(value.split()) if key in _LISTS else (value.strip(),)


def _file_name(around: Surroundings) -> str:
    return "pip.ini" if around.system == "windows" else "pip.conf"


def _global_files(around: Surroundings) -> tuple[Path, ...]:
    if around.system == "macos":
        return (Path("/Library/Application Support/pip/pip.conf"),)
    if around.system == "windows":
        return (around.folder("PROGRAMDATA", Path("C:/ProgramData")) / "pip" / "pip.ini",)
    configured = around.folders("XDG_CONFIG_DIRS") or (Path("/etc/xdg"),)
    return (*(folder / "pip" / "pip.conf" for folder in configured), Path("/etc/pip.conf"))


def _user_files(means: Means, around: Surroundings) -> tuple[Path, ...]:
    home = around.home
    if around.system == "windows":
        roaming = around.folder("APPDATA", home / "AppData" / "Roaming")
        return home / "pip" / "pip.ini", roaming / "pip" / "pip.ini"
    folder = around.folder("XDG_CONFIG_HOME", home / ".config") / "pip"
    if around.system == "macos":
        support = home / "Library" / "Application Support" / "pip"
        folder = support if means.files.is_folder(support) else home / ".config" / "pip"
    return home / ".pip" / "pip.conf", folder / "pip.conf"
