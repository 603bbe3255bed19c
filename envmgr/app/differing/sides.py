"""Portraits of what people compare: environments, locks, freezes, runs, cells, hosts."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from pydantic import ValidationError

from envmgr.app.building import Built
from envmgr.app.installed import python_in, site_packages
from envmgr.app.past import lock_in_run
from envmgr.app.probing import selection_of
from envmgr.app.workplace import Workplace
from envmgr.diagnose.knowledge import distributions_for
from envmgr.diagnose.reading import read
from envmgr.diagnose.requirement import key_of, read_line
from envmgr.env.inspect import Inspection, inspect
from envmgr.errors import LockError, UsageError
from envmgr.lock.parse import parse
from envmgr.model.cell import Cell
from envmgr.model.difference import Portrait
from envmgr.model.env import DeviceListing, Env
from envmgr.model.host import HostFacts, Interpreter
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest
from envmgr.model.platform import platform_of
from envmgr.model.result import Run

_GIB = 1 << 30


def of_built(workplace: Workplace, label: str, built: Built) -> Portrait:
    """Return the portrait of an environment that envmgr built; what is in it is asked of itself."""
    manifest = built.target.manifest
    seen = of_folder(workplace, label, Path(built.env.path))
    return seen.model_copy(
        update={
            "interpreter": {**_interpreter(built.env.interpreter), **(seen.interpreter or {})},
            "platform": built.target.platform.value,
            "artefacts": _artefacts(built.lock) if built.lock else None,
            "variables": _variables(manifest),
            "asked": _asked(manifest),
        }
    )


def of_folder(workplace: Workplace, label: str, folder: Path) -> Portrait:
    """Return the portrait of a virtual environment or conda prefix; nothing in it is changed. Raises EnvmgrError."""
    python = python_in(workplace.files, folder)
    if python is None:
        raise UsageError(
            f"{label} is no environment", "wanted a folder with a Python in it (bin/python)", "envmgr diff VENV VENV"
        )
    seen = inspect(python, workplace.process, workplace.files)
    return Portrait(
        kind="env",
        label=label,
        interpreter=_seen_interpreter(seen, workplace.files.read(folder / "pyvenv.cfg") or ""),
        platform=_platform(seen.markers.get("sys_platform", ""), seen.machine),
        distributions=seen.resolved,
        contents=_contents(workplace, folder),
    )


def of_lock(label: str, lock: Lock, manifest: Manifest | None = None) -> Portrait:
    """Return the portrait of a lock."""
    return Portrait(
        kind="lock",
        label=label,
        interpreter={"minor": lock.python},
        platform=lock.platform.value,
        distributions={each.name: each.version for each in lock.distributions},
        artefacts=_artefacts(lock),
        variables=_variables(manifest) if manifest else None,
        asked=_asked(manifest) if manifest else (),
    )


def of_text(label: str, text: str) -> Portrait:
    """Return the portrait of a file: a lock of envmgr, a pylock.toml, a freeze or requirements, in this order."""
    try:
        return of_lock(label, parse(text, label))
    except LockError:
        pass
    if label.endswith(".toml"):
        return _of_pylock(label, text)
    joined = re.sub(r"\\\r?\n", " ", text)
    told = [(read_line(re.split(r"\s(?:--|#)", raw, maxsplit=1)[0]), raw) for raw in joined.splitlines()]
    lines = [(line, raw) for line, raw in told if line]
    if not lines:
        raise UsageError(f"{label} names no distribution", "wanted a lock, a freeze or requirements", "envmgr diff A B")
    versions = {line.key: line.pin or line.specifier or (f"@ {line.url}" if line.url else "any") for line, _ in lines}
    hashes = {line.key: tuple(re.findall(r"sha256:[0-9a-f]{64}", raw)) for line, raw in lines}
    hashes = {key: found for key, found in hashes.items() if found}
    return Portrait(kind="freeze", label=label, distributions=versions, artefacts=hashes or None, asked=tuple(versions))


def of_run(workplace: Workplace, run: Run, name: str) -> tuple[Portrait, ...]:
    """Return a portrait of each environment of a run."""
    return tuple(
        _of_env(workplace, run, scope, env).model_copy(update={"label": name, "scope": scope})
        for scope, env in sorted(run.record.envs.items())
    )


def of_cell(workplace: Workplace, run: Run, cell: Cell, label: str) -> Portrait:
    """Return the portrait of a cell: its environment, what was measured on what, and where it failed."""
    scope = run.env_name(cell)
    env = run.record.envs.get(scope)
    base = _of_env(workplace, run, scope, env) if env else Portrait(kind="cell", label=label)
    manifest = workplace.shelf.get(cell.manifest)
    told = {name: json.dumps(value) for name, value in cell.parameters.items()}
    variables = dict(_variables(manifest) or {}) | selection_of(manifest, cell.device) if manifest else None
    return base.model_copy(
        update={
            "kind": "cell",
            "label": label,
            "scope": "",
            "variables": variables,
            "parameters": {"runner": cell.runner, "device": cell.device_name, **told},
            "asked": _asked(manifest) if manifest else (),
            "suspects": _suspects(workplace, run, cell, env.resolved if env else {}),
        }
    )


def of_host(label: str, facts: HostFacts) -> Portrait:
    """Return the portrait of a machine."""
    told = {
        "system": facts.system,
        "os version": facts.os_version,
        "machine": facts.machine,
        "libc": facts.libc,
        "processor": facts.processor,
        "cores": str(facts.cores),
        "memory": f"{facts.memory / _GIB:.0f} GiB",
        "index": facts.settings.index_url or "",
        "further indexes": ", ".join(facts.settings.extra_index_urls),
    }
    told |= {f"processor feature {name}": "there" for name in facts.cpu_features}
    told |= {f"accelerator {each.name}": ", ".join(each.apis) or "by no API" for each in facts.accelerators}
    told |= {f"driver {each.api} {each.name}": each.version or "there" for each in facts.drivers if each.usable}
    told |= {f"Python {each.version} {each.arch}": each.source for each in facts.interpreters}
    told |= {f"lacks {each.name}": each.why for each in facts.lacks}
    return Portrait(kind="host", label=label, host={name: value for name, value in told.items() if value})


def read_facts(text: str, label: str) -> HostFacts:
    """Return the host facts in a file: as they are, or as `doctor --json` prints them; raises UsageError."""
    try:
        data: Any = json.loads(text)
        for key in ("data", "facts"):
            data = data.get(key) or data
        return HostFacts.model_validate(data)
    except (ValueError, AttributeError, ValidationError):
        raise UsageError(
            f"{label} holds no host facts", "wanted what `envmgr doctor --json` prints", "envmgr doctor --json > A.json"
        ) from None


def _of_env(workplace: Workplace, run: Run, scope: str, env: Env) -> Portrait:
    lock = lock_in_run(workplace, run, scope)
    return Portrait(
        kind="run",
        label=run.record.id,
        interpreter=_interpreter(env.interpreter),
        platform=_platform(env.interpreter.system, env.interpreter.arch),
        distributions=dict(env.resolved),
        artefacts=_artefacts(lock) if lock else None,
        devices=_devices(run.record.listings.get(scope)),
    )


def _of_pylock(label: str, text: str) -> Portrait:
    try:
        told: Any = tomllib.loads(text).get("packages")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{label} is no TOML", str(error), "envmgr diff A B") from None
    packages = [each for each in told if isinstance(each, dict) and "name" in each] if isinstance(told, list) else []
    versions = {str(canonicalize_name(str(each["name"]))): str(each.get("version", "")) for each in packages}
    if not versions:
        raise UsageError(f"{label} names no distribution", "wanted a pylock.toml", "envmgr diff A B")
    hashes = {str(canonicalize_name(str(each["name"]))): _hashes_in(each) for each in packages}
    return Portrait(kind="lock", label=label, distributions=versions, artefacts=hashes)


def _hashes_in(package: Mapping[str, Any]) -> tuple[str, ...]:
    found = set(re.findall(r"\b[0-9a-f]{64}\b", json.dumps(package, default=str)))
    return tuple(f"sha256:{each}" for each in sorted(found))


def _interpreter(interpreter: Interpreter) -> dict[str, str]:
    return {
        "implementation": interpreter.implementation,
        "version": interpreter.version,
        "minor": interpreter.minor,
        "build": interpreter.build,
        "arch": interpreter.arch,
        "translated": str(interpreter.translated).lower(),
        "abi flags": interpreter.abi_flags,
    }


def _seen_interpreter(seen: Inspection, configuration: str) -> dict[str, str]:
    shared = re.search(r"^include-system-site-packages\s*=\s*(\w+)", configuration, re.MULTILINE | re.IGNORECASE)
    return {
        "implementation": seen.markers.get("platform_python_implementation", ""),
        "version": seen.version,
        "minor": ".".join(seen.version.split(".")[:2]),
        "arch": seen.machine,
        "system site-packages": shared[1].lower() if shared else "false",
    }


def _platform(system: str, machine: str) -> str | None:
    found = platform_of(system, machine)
    return found.value if found else None


def _artefacts(lock: Lock) -> dict[str, tuple[str, ...]]:
    return {each.name: each.hashes for each in lock.distributions}


def _contents(workplace: Workplace, folder: Path) -> dict[str, str]:
    """Return a digest of each distribution's files as its RECORD tells them; metadata and bytecode take no part."""
    found = {}
    for path in site_packages(workplace.files, folder):
        if not path.name.endswith(".dist-info"):
            continue
        rows = (workplace.files.read(path / "RECORD") or "").splitlines()
        own = sorted(row for row in rows if ".dist-info/" not in row and ".pyc" not in row and not row.startswith(".."))
        name = str(canonicalize_name(path.name.removesuffix(".dist-info").rpartition("-")[0]))
        found[name] = hashlib.sha256("\n".join(own).encode()).hexdigest()[:16]
    return found


def _variables(manifest: Manifest) -> dict[str, str]:
    return {**manifest.env, **dict.fromkeys(manifest.unset, "(unset)")}


def _asked(manifest: Manifest) -> tuple[str, ...]:
    lines = (*manifest.requirements, *(text for step in manifest.step for text in step.install))
    return tuple(dict.fromkeys(key_of(line) for line in lines))


def _devices(listing: DeviceListing | None) -> dict[str, str] | None:
    if listing is None:
        return None
    return {each.id: f"{each.api} {each.physical}".strip() for each in listing.devices if each.valid}


def _suspects(workplace: Workplace, run: Run, cell: Cell, resolved: Mapping[str, str]) -> tuple[str, ...]:
    """Return the distributions whose frames stand in the last traceback of a cell's failed processes."""
    found: dict[str, None] = {}
    for result in run.results:
        if result.cell != cell.id or (result.report is not None and result.report.error is None):
            continue
        error = result.report.error if result.report else None
        log = workplace.store.log_path(run.record.id, cell.id, result.round)
        text = error.traceback if error else workplace.files.read(log) or ""
        found.update(dict.fromkeys(_owners((frame.top for frame in reversed(read(text).frames)), resolved)))
    return tuple(found)


def _owners(modules: Iterable[str], resolved: Mapping[str, str]) -> Iterable[str]:
    for module in modules:
        yield from (name for name in distributions_for(module) if module and name in resolved)
