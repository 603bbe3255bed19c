"""What of an environment's files is not as it was installed: lost, altered, or of nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from envmgr.diagnose.reading import Reading
from envmgr.model.finding import Cause

_TOLD = 3
_ENVIRONMENTS_OWN = ("_virtualenv.", "_distutils_hack")


@dataclass(frozen=True, slots=True)
class Damage:
    """Files of one distribution (or of nobody) in one state, as paths below site-packages.

    `gutted` tells that most of what can be imported of a distribution is lost, though it is listed.
    """

    state: Literal["lost", "altered", "foreign"]
    owner: str
    paths: tuple[str, ...]
    gutted: bool = False

    @property
    def told(self) -> tuple[str, ...]:
        """What is wrong, a line for each of the first files."""
        said = {
            "lost": f"is gone; {self.owner} recorded it",
            "altered": f"is not what {self.owner} installed",
            "foreign": "was installed by no distribution",
        }
        return tuple(f"{path} {said[self.state]}" for path in self.paths[:_TOLD])


@dataclass(frozen=True, slots=True)
class Owned:
    """A file below site-packages and the distribution that records it, empty for none."""

    path: str
    owner: str = ""


def damages(
    lost: Iterable[Owned], altered: Iterable[Owned], foreign: Iterable[Owned], recorded: Counter[str], reading: Reading
) -> tuple[Damage, ...]:
    """Return what is wrong, grouped, what the failure's text speaks of first; `recorded` counts files by owner."""
    found = [
        Damage("lost", owner, paths, gutted=2 * len(paths) >= recorded[owner])
        for owner, paths in _grouped(lost, by_owner=True)
    ]
    found += [Damage("altered", owner, paths) for owner, paths in _grouped(altered, by_owner=True)]
    found += [Damage("foreign", "", paths) for _, paths in _grouped(foreign, by_owner=False)]
    return tuple(sorted(found, key=lambda one: -_suspicion(one, reading)))


def as_cause(damage: Damage) -> Cause:
    """Return the cause that a state of files is."""
    if damage.gutted:
        why = (
            f"{damage.owner} is listed, and {damage.paths[0]} with most of its files is gone: something that owned "
            "them too was removed, or they were deleted"
        )
        return Cause(kind="package", name=damage.owner, why=why)
    more = f" (and {len(damage.paths) - 1} more)" if len(damage.paths) > 1 else ""
    said = {
        "lost": f"{damage.owner} recorded it, and it is gone",
        "altered": f"it is not what {damage.owner} installed",
        "foreign": "no distribution installed it",
    }
    return Cause(kind="env-state", name=damage.paths[0], why=f"{damage.paths[0]}{more}: {said[damage.state]}")


def _grouped(files: Iterable[Owned], *, by_owner: bool) -> list[tuple[str, tuple[str, ...]]]:
    groups: dict[str, list[str]] = {}
    for one in files:
        top = PurePosixPath(one.path).parts[0]
        if ".dist-info" in one.path or ".egg-info" in one.path or top.startswith(_ENVIRONMENTS_OWN):
            continue
        groups.setdefault(one.owner if by_owner else top, []).append(one.path)
    return [(key, tuple(sorted(paths))) for key, paths in sorted(groups.items())]


def _suspicion(damage: Damage, reading: Reading) -> float:
    """Return how much speaks for it: the frames and names of the failure, then what it is."""
    frames = [frame.file for frame in reading.frames]
    named = any(file.endswith(path) for path in damage.paths for file in frames)
    tops = {PurePosixPath(path).parts[0].partition(".")[0] for path in damage.paths}
    spoken = bool({reading.missing.split(".")[0], *(module.split(".")[0] for module, _ in reading.names)} & tops)
    starts = any(path.endswith((".pth", "sitecustomize.py", "usercustomize.py")) for path in damage.paths)
    return 4.0 * named + 3.0 * spoken + 2.0 * damage.gutted + 1.0 * starts + 0.5 * (damage.state != "foreign")
