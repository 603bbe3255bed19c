"""Silent failures: an environment that installs and imports, and still is not what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from packaging.version import Version

from envmgr.diagnose.causes import distinct
from envmgr.diagnose.knowledge import families
from envmgr.diagnose.requirement import key_of, pins, version_of, with_line
from envmgr.model.env import Check
from envmgr.model.finding import Cause, Evidence, Finding, Fix, Variables
from envmgr.model.outcome import Phase


@dataclass(frozen=True, slots=True)
class Asked:
    """What an environment was to be: its requirements, what is installed, and the native Python that could serve.

    `backend_value` is what KERAS_BACKEND must be for the backend that was asked for.
    """

    label: str
    requirements: tuple[str, ...] = ()
    resolved: Mapping[str, str] = field(default_factory=dict)
    backend: str = ""
    backend_value: str = ""
    native_python: str = ""


def finding_of(checks: Iterable[Check], asked: Asked) -> Finding | None:
    """Return one finding for all checks that show a silent failure, None where none does; nothing was tried."""
    told = [(check, _RULES[check.name](check, asked)) for check in checks if not check.passed and check.name in _RULES]
    if not told:
        return None
    causes = distinct(cause for _, (cause, _) in told)
    evidence = [
        Evidence(quote=f"wanted {check.wanted}; found {check.found}", where=f"{check.name} {check.subject}".strip())
        for check, _ in told
    ]
    changes: dict[str, object] = {}
    for _, (_, fix) in reversed(told):
        changes |= {name: value for name, value in fix if value}
    module = asked.backend or "…"
    return Finding(
        phase=Phase.VERIFY,
        cause=causes[0],
        causes=causes,
        check="; ".join(dict.fromkeys(_NAMES.get(check.name, check.name) for check, _ in told)),
        evidence=tuple(evidence),
        fix=Fix.model_validate(changes) if changes else None,
        next=f"envmgr diagnose {asked.label} --probe 'import {module}'",
    )


def _apart(check: Check, asked: Asked) -> tuple[Cause, Fix]:
    """Members of a family that only work at one version: that of the one which was asked for, else the newest."""
    for how, members, why in families():
        there = {name: asked.resolved[name] for name in sorted(members) if name in asked.resolved}
        if how != "same_version" or len(set(there.values())) < 2:
            continue
        anchor = _anchor(there, asked.requirements)
        other = next(name for name in there if there[name] != there[anchor])
        said = f"{other} {there[other]} lies under {anchor} {there[anchor]}: {why}"
        lines = asked.requirements
        for name in there:
            lines = with_line(lines, f"{name}=={there[anchor]}")
        return Cause(kind="package", name=other, why=said), Fix(requirements=lines)
    return Cause(kind="package", name=check.subject, why=check.found), Fix()


def _anchor(there: Mapping[str, str], requirements: Iterable[str]) -> str:
    """Return which of several that belong together was asked for: by its version, by its name, else the newest."""
    lines = tuple(requirements)
    pinned, named = pins(lines), {key_of(line) for line in lines}
    exact = [name for name in there if pinned.get(name) == there[name]]
    chosen = exact or [name for name in there if name in named] or list(there)
    return max(chosen, key=lambda name: version_of(there[name]) or Version("0"))


def _translated(check: Check, asked: Asked) -> tuple[Cause, Fix]:
    why = f"the interpreter is {check.found}, and {check.wanted} could serve"
    name = check.found.partition(",")[0]
    return Cause(kind="python", name=name, why=why), Fix(python=asked.native_python or None)


def _other_backend(check: Check, asked: Asked) -> tuple[Cause, Fix]:
    source = check.found.rpartition("from ")[2] or "KERAS_BACKEND"
    why = f"Keras does not use {check.wanted}: it found {check.found}"
    variables = Variables(set={"KERAS_BACKEND": asked.backend_value}) if asked.backend_value else None
    return Cause(kind="env-state", name=source, why=why), Fix(env=variables)


def _no_device(check: Check, _asked: Asked) -> tuple[Cause, Fix]:
    name, _, version = check.subject.partition(" ")
    why = f"{name} {version} {check.found}; asked for was {check.wanted}".replace("  ", " ")
    program = f"take a build of {name} that has it" if check.name == "device" else check.hint
    return Cause(kind="package", name=name, why=why), Fix(program=program or None)


def _not_as_asked(check: Check, _asked: Asked) -> tuple[Cause, Fix]:
    why = f"wanted {check.wanted}; found {check.found}"
    return Cause(kind="env-state", name=check.subject, why=why), Fix(program=check.hint or None)


Rule = Callable[[Check, Asked], tuple[Cause, Fix]]

_RULES: Mapping[str, Rule] = {
    "family": _apart,
    "core and bridge": _apart,
    "architecture": _translated,
    "keras": _other_backend,
    "device": _no_device,
    "cuda": _no_device,
    "rocm": _no_device,
    "mps": _no_device,
    "asked": _not_as_asked,
    "locked": _not_as_asked,
}
_NAMES = {
    "family": "core and bridge at one version",
    "architecture": "an interpreter of the machine's own architecture",
    "keras": "the backend that was asked for is active",
    "device": "the device that was asked for is listed",
    "asked": "what was asked for is installed",
    "locked": "what is locked is installed",
}
