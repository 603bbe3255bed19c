"""What is really in an env: distributions, interpreter, import path and, if asked, every recorded file.

Run by the env's own interpreter: `python -I inspect.py --request in.json --report out.json`. The request is
{"deep": bool}. Only the standard library of Python 3.6 is used.
"""

import csv
import io
import json
import os
import sys
import sysconfig
from typing import Any, Dict, List, Optional, Set, Tuple

Facts = Dict[str, Any]


def read_text(path: str) -> str:
    try:
        with io.open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def site_folders() -> List[str]:
    paths = sysconfig.get_paths()
    folders = []  # type: List[str]
    for name in ("purelib", "platlib"):
        folder = os.path.realpath(paths[name])
        if folder not in folders and os.path.isdir(folder):
            folders.append(folder)
    return folders


def read_headers(text: str) -> Dict[str, List[str]]:
    """The headers of a metadata file by lower-case name; a line that begins with a blank goes on with the one above.

    The email package does more, and takes longer to import than all the rest here.
    """
    headers = {}  # type: Dict[str, List[str]]
    values = []  # type: List[str]
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t") and values:
            values[-1] += "\n" + line
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or " " in name.strip():
            break
        values = headers.setdefault(name.strip().lower(), [])
        values.append(value.lstrip(" \t"))
    return headers


def first(headers: Dict[str, List[str]], name: str) -> str:
    return headers.get(name, [""])[0]


def requires_of_egg(text: str) -> List[str]:
    """Old setuptools keep requirements in sections: [extra:marker] or nothing for the unconditional ones."""
    needs = []  # type: List[str]
    marker = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            extra, _, condition = line[1:-1].partition(":")
            parts = ['extra == "%s"' % extra] if extra else []
            marker = " and ".join(parts + (["(%s)" % condition] if condition else []))
        elif line and not line.startswith("#"):
            needs.append("%s ; %s" % (line, marker) if marker else line)
    return needs


def read_distribution(folder: str, entry: str) -> Optional[Facts]:
    path = os.path.join(folder, entry)
    egg = entry.endswith(".egg-info")
    if egg:
        metadata = read_text(os.path.join(path, "PKG-INFO")) if os.path.isdir(path) else read_text(path)
    else:
        metadata = read_text(os.path.join(path, "METADATA"))
    headers = read_headers(metadata)
    name, version = first(headers, "name"), first(headers, "version")
    if not name or not version:
        return {"damaged": path}
    requires = [" ".join(need.split()) for need in headers.get("requires-dist", [])]
    if egg and not requires:
        requires = requires_of_egg(read_text(os.path.join(path, "requires.txt")))
    wheel = read_headers(read_text(os.path.join(path, "WHEEL")))
    direct = read_text(os.path.join(path, "direct_url.json"))
    try:
        direct_url = json.loads(direct).get("url", "") if direct else ""
    except ValueError:
        direct_url = ""
    return {
        "name": name.strip(),
        "version": version.strip(),
        "installer": read_text(os.path.join(path, "INSTALLER")).strip(),
        "requires": requires,
        "tags": [tag.strip() for tag in wheel.get("tag", [])],
        "direct_url": direct_url,
        "folder": path,
    }


def find_distributions() -> Tuple[List[Facts], List[str]]:
    distributions, damaged = [], []  # type: List[Facts], List[str]
    for folder in site_folders():
        for entry in sorted(os.listdir(folder)):
            path = os.path.join(folder, entry)
            if entry.endswith(".egg") and os.path.isdir(os.path.join(path, "EGG-INFO")):
                found = read_egg(path)
            elif entry.endswith((".dist-info", ".egg-info")):
                found = read_distribution(folder, entry)
            else:
                continue
            if found is not None and "damaged" in found:
                damaged.append(found["damaged"])
            elif found is not None:
                distributions.append(found)
    return distributions, damaged


def read_egg(path: str) -> Optional[Facts]:
    headers = read_headers(read_text(os.path.join(path, "EGG-INFO", "PKG-INFO")))
    if not first(headers, "name"):
        return {"damaged": path}
    return {
        "name": first(headers, "name"),
        "version": first(headers, "version"),
        "installer": "easy_install",
        "requires": requires_of_egg(read_text(os.path.join(path, "EGG-INFO", "requires.txt"))),
        "tags": [],
        "direct_url": "",
        "folder": path,
    }


def joined(folder: str, path: str) -> str:
    """A path from a folder on, without detours; of thousands, hardly any has one."""
    if os.sep != "/" or not path or path.startswith(("/", ".")) or path.endswith("/") or "/." in path or "//" in path:
        return os.path.normpath(os.path.join(folder, path))
    return folder + "/" + path


class Disk:
    """Which files are there; a folder is read once, and what is no plain entry of it is asked for by itself."""

    def __init__(self) -> None:
        self._entries = {}  # type: Dict[str, Set[str]]

    def has(self, path: str) -> bool:
        folder, _, name = path.rpartition(os.sep)
        if folder not in self._entries:
            self._entries[folder] = self._plain_entries(folder)
        return name in self._entries[folder] or os.path.exists(path)

    @staticmethod
    def _plain_entries(folder: str) -> Set[str]:
        try:
            with os.scandir(folder) as entries:
                return {entry.name for entry in entries if not entry.is_symlink()}
        except OSError:
            return set()


def recorded_files(distribution: Facts) -> List[Tuple[str, str]]:
    """Each file that a distribution says it owns, as an absolute path, with its recorded hash or ""."""
    folder = distribution["folder"]
    record = read_text(os.path.join(folder, "RECORD"))
    if record:
        base = os.path.dirname(folder)
        rows = [row for row in csv.reader(io.StringIO(record)) if row]
        return [(joined(base, row[0]), row[1] if len(row) > 1 else "") for row in rows]
    listed = read_text(os.path.join(folder, "installed-files.txt"))
    return [(os.path.normpath(os.path.join(folder, line)), "") for line in listed.splitlines() if line.strip()]


def digest_of(path: str, algorithm: str) -> str:
    import base64
    import hashlib

    digest = hashlib.new(algorithm)
    with io.open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return base64.urlsafe_b64encode(digest.digest()).decode("ascii").rstrip("=")


def is_cache(path: str) -> bool:
    return path.endswith((".pyc", ".pyo")) or "__pycache__" in path


def holds_recorded(path: str, hashes: Set[str]) -> bool:
    """True when the file has one of the recorded hashes; a wheel may list a path twice, and the last one written wins."""
    import hashlib

    for recorded in hashes:
        algorithm, _, wanted = recorded.partition("=")
        if algorithm not in hashlib.algorithms_available or digest_of(path, algorithm) == wanted.rstrip("="):
            return True
    return False


def compare_records(distributions: List[Facts], deep: bool) -> Facts:
    owners = {}  # type: Dict[str, List[Tuple[str, str]]]
    for distribution in distributions:
        for path, recorded in recorded_files(distribution):
            owners.setdefault(path, []).append((distribution["name"], recorded))
    changed, missing, shared = [], [], []  # type: List[Facts], List[Facts], List[Facts]
    checked = 0
    disk = Disk()
    for path, claims in sorted(owners.items()):
        if is_cache(path) or (len(claims) == 1 and not deep and disk.has(path)):
            continue
        names = sorted({name for name, _ in claims})
        hashes = {recorded for _, recorded in claims if recorded}
        if len(names) > 1 and len(hashes) > 1:
            shared.append({"path": path, "owners": names})
        if not disk.has(path):
            missing.append({"distribution": names[0], "path": path})
        elif deep and hashes:
            checked += 1
            if not holds_recorded(path, hashes):
                changed.append({"distribution": names[0], "path": path})
    extra = find_unowned(set(owners)) if deep else []
    return {"checked": checked, "changed": changed, "missing": missing, "extra": extra, "shared": shared}


def find_unowned(owned: Set[str]) -> List[str]:
    unowned = []
    for folder in site_folders():
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(place, name)
                if path not in owned and not is_cache(path):
                    unowned.append(path)
    return unowned


def machine_facts() -> Dict[str, str]:
    """What the system says of itself, as `platform` tells it; where there is uname, without importing that."""
    if hasattr(os, "uname"):
        told = os.uname()
        return {"system": told[0], "release": told[2], "version": told[3], "machine": told[4]}
    import platform

    return {
        "system": platform.system(),
        "release": platform.release(),
        "version": platform.version(),
        "machine": platform.machine(),
    }


def implementation() -> str:
    known = {"cpython": "CPython", "pypy": "PyPy"}.get(sys.implementation.name)
    if known is not None:
        return known
    import platform

    return platform.python_implementation()


def marker_environment(machine: Dict[str, str]) -> Dict[str, str]:
    version = sys.implementation.version
    implementation_version = "%d.%d.%d" % version[:3]
    if version.releaselevel != "final":
        implementation_version += version.releaselevel[0] + str(version.serial)
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": implementation_version,
        "os_name": os.name,
        "platform_machine": machine["machine"],
        "platform_release": machine["release"],
        "platform_system": machine["system"],
        "platform_version": machine["version"],
        "python_full_version": sys.version.split()[0],
        "platform_python_implementation": implementation(),
        "python_version": "%d.%d" % sys.version_info[:2],
        "sys_platform": sys.platform,
    }


def main() -> None:
    given = {sys.argv[place]: sys.argv[place + 1] for place in range(1, len(sys.argv) - 1, 2)}
    with io.open(given["--request"], encoding="utf-8") as stream:
        request = json.load(stream)
    machine = machine_facts()
    distributions, damaged = find_distributions()
    report = {
        "schema": 1,
        "prefix": sys.prefix,
        "base_prefix": getattr(sys, "base_prefix", sys.prefix),
        "version": sys.version.split()[0],
        "machine": machine["machine"],
        "platform": sysconfig.get_platform(),
        "markers": marker_environment(machine),
        "import_path": list(sys.path),
        "records": compare_records(distributions, bool(request.get("deep"))),
        "distributions": [{key: value for key, value in each.items() if key != "folder"} for each in distributions],
        "damaged": damaged,
    }
    aside = given["--report"] + ".part"
    with io.open(aside, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(report))
    os.replace(aside, given["--report"])


if __name__ == "__main__":
    main()
