"""What stands at a point once its environment is built: what is installed there, and of which source revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.app.bisecting.lines import Spot
from envmgr.diagnose.revision import MODULES, of_module, of_origin, of_version
from envmgr.model.bisection import Trial
from envmgr.model.outcome import Phase
from envmgr.ports import Files


@dataclass(frozen=True, slots=True)
class Standing:
    """A point's environment; one that could not be built has a phase and a reason."""

    python: str
    resolved: Mapping[str, str] = field(default_factory=dict)
    revisions: Mapping[str, str] = field(default_factory=dict)
    phase: Phase | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of the two ends of the line, as far as they have been asked: where they are, what they told."""

    good: Trial | None = None
    bad: Trial | None = None
    good_spot: Spot | None = None
    bad_spot: Spot | None = None


def twin_of(standing: Standing, trials: Iterable[Trial]) -> Trial | None:
    """Return an earlier trial of the very same thing: equal versions, but for equal source revisions."""
    for trial in trials:
        if trial.verdict not in {"good", "bad"} or trial.python != standing.python:
            continue
        if trial.resolved.keys() != standing.resolved.keys():
            continue
        apart = [name for name, version in standing.resolved.items() if trial.resolved[name] != version]
        if all(
            standing.revisions.get(name) and trial.revisions.get(name) == standing.revisions[name] for name in apart
        ):
            return trial
    return None


def revisions_of(
    files: Files, site: Sequence[Path], names: Iterable[str], resolved: Mapping[str, str]
) -> dict[str, str]:
    """Return the source revisions that distributions tell; `site` is what lies in the site-packages."""
    found = {}
    for name in names:
        revision = of_version(resolved.get(name, "")) or _told_in_files(files, site, name)
        if revision:
            found[name] = revision
    return found


def _told_in_files(files: Files, site: Sequence[Path], name: str) -> str:
    info = next((path for path in site if path.name.endswith(".dist-info") and _is_of(path, name)), None)
    if info is None:
        return ""
    origin = of_origin(files.read(info / "direct_url.json") or "")
    if origin:
        return origin
    listed = (files.read(info / "top_level.txt") or "").split() or [name.replace("-", "_"), name.replace("-", "")]
    for module in listed:
        for file in MODULES:
            revision = of_module(files.read(info.parent / module / file) or "")
            if revision:
                return revision
    return ""


def _is_of(info: Path, name: str) -> bool:
    return canonicalize_name(info.name.partition("-")[0]) == canonicalize_name(name)
