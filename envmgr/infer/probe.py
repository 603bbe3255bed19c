"""The probe of an import surface: its source for one set of scripts, and what its output says."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files

from pydantic import ValidationError

from envmgr.infer.surface import Surface
from envmgr.model.inference import MissingName, Proof, ScriptImport

_MARK = "@@surface "
_FOLDER = "@@folder "
_PLACE = "PLAN: Dict[str, Any] = {}"
_LONGEST = 24_000
"""Characters of one argument that every system takes: Linux takes 131,071, Windows 32,767 for all of them."""


@dataclass(frozen=True, slots=True)
class Probe:
    """`code` is what an interpreter is given; `imports` the same imports as plain statements, for who reads source."""

    code: str
    imports: str


def make_probe(
    surfaces: Sequence[Surface],
    unreachable: Collection[str],
    lost: Collection[str] = (),
    *,
    local: Collection[str] = (),
    glance: bool = False,
    folders: Sequence[str] = (),
) -> Probe:
    """Return the probe for some scripts, without top-level modules that are `unreachable`, or `local` and so there.

    Names that are `lost` anyway are looked up and do not fail. With `glance` it first looks at files alone, and
    imports nothing where something is certainly missing; with `folders`, into which wheels were unpacked, it does no
    more than tell what each of them seems to lack (`read_glances`).
    """
    required: list[ScriptImport] = []
    optional: list[ScriptImport] = []
    groups: list[list[list[dict[str, object]]]] = []
    uses: list[dict[str, object]] = []
    left_out = {*unreachable, *local}
    for surface in surfaces:
        for each in surface.imports:
            if _top(each.module) not in left_out and each.necessity != "alternative":
                needed = each.necessity == "required" and not _is_lost(each.module, lost)
                (required if needed else optional).append(each)
        for group in surface.groups:
            reachable = [branch for branch in group if not _touches(branch, unreachable)]
            branches = [[_plain(each) for each in branch if _top(each.module) not in local] for branch in reachable]
            groups += [branches] if branches and all(branches) else []
        uses += [
            {"module": use.module, "path": list(use.path), "required": use.required and not _is_lost(use.name, lost)}
            for use in surface.uses
            if _top(use.module) not in left_out
        ]
    plan = {
        "required": [_plain(each) for each in required],
        "groups": groups,
        "optional": [_plain(each) for each in optional],
        "uses": uses,
        "glance": glance,
        "folders": list(folders),
    }
    text = files("envmgr.infer.probes").joinpath("surface.py").read_text(encoding="utf-8")
    code = text.replace(_PLACE, f"{_PLACE.removesuffix('{}')}json.loads({json.dumps(json.dumps(plan))})")
    return Probe(_as_argument(code), "\n".join(_statement(each) for each in required))


def _as_argument(code: str) -> str:
    """Return code that does the same, packed where it would be too long for a command line."""
    if len(code) <= _LONGEST:
        return code
    packed = base64.b85encode(zlib.compress(code.encode(), 9)).decode("ascii")
    return f"import base64, zlib\nexec(zlib.decompress(base64.b85decode({packed!r})))"


def _is_lost(name: str, lost: Collection[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in lost)


def _plain(found: ScriptImport) -> dict[str, object]:
    return {"module": found.module, "names": list(found.names)}


def _statement(found: ScriptImport) -> str:
    return f"from {found.module} import {', '.join(found.names)}" if found.names else f"import {found.module}"


def _touches(branch: Sequence[ScriptImport], modules: Collection[str]) -> bool:
    return any(_top(each.module) in modules for each in branch)


def _top(module: str) -> str:
    return module.partition(".")[0]


def read_proof(output: str, *, passed: bool) -> Proof | None:
    """Return what a probe told, or None when it told nothing (it did not come to its end, or never began)."""
    lines = [line for line in output.splitlines() if line.startswith(_MARK)]
    if not lines:
        return None
    try:
        told = json.loads(lines[-1].removeprefix(_MARK))
        if not isinstance(told, dict):
            return None
        return Proof(
            passed=passed,
            glanced=bool(told.get("glanced")),
            imported=tuple(dict.fromkeys(told["imported"])),
            resolved=tuple(dict.fromkeys(told["resolved"])),
            missing=tuple(MissingName.model_validate(each) for each in told["missing"]),
        )
    except (ValueError, KeyError, TypeError, ValidationError):
        return None


def read_glances(output: str) -> tuple[frozenset[str], ...]:
    """Return the names that each of the first folders lacks, as far as a probe with `folders` came with telling."""
    lines = [line.removeprefix(_FOLDER) for line in output.splitlines() if line.startswith(_FOLDER)]
    found: list[frozenset[str]] = []
    for line in lines:
        try:
            found.append(frozenset(str(name) for name in json.loads(line)))
        except (ValueError, TypeError):
            break
    return tuple(found)
