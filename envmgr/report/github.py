"""What GitHub Actions reads: annotations of a run, and the job matrix by which a workflow fans out over hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform
from envmgr.model.result import JudgedCell
from envmgr.report.text import clean

RUNS_ON: Mapping[Platform, str] = {
    Platform.LINUX_X86_64: "ubuntu-24.04",
    Platform.LINUX_AARCH64: "ubuntu-24.04-arm",
    Platform.MACOS_X86_64: "macos-15-intel",
    Platform.MACOS_ARM64: "macos-15",
    Platform.WINDOWS_X86_64: "windows-2025",
}
"""The hosted machine whose own platform it is."""

_NAMED = 5


def notices(judged: Sequence[JudgedCell], files: Mapping[str, str]) -> tuple[str, ...]:
    """Return one annotation for each reason for which cells fail the run, at the manifest's file where that is known.

    `files` has the file of each manifest, from the repository's root. What is expected, and what the host decides, is
    no annotation.
    """
    groups: dict[tuple[Outcome, str], list[JudgedCell]] = {}
    for each in judged:
        if each.unexpected:
            groups.setdefault((each.outcome, each.reason), []).append(each)
    return tuple(_annotation(outcome, reason, cells, files) for (outcome, reason), cells in groups.items())


def job_matrix(chosen: Sequence[tuple[str, Manifest]]) -> str:
    """Return the value of `strategy.matrix` on one line: a job for each platform that some version set exists on.

    `chosen` are labels with their manifests. Each job has `platform`, `runs-on`, and `arguments` for `matrix run`.
    """
    jobs = []
    for platform, machine in RUNS_ON.items():
        labels = [label for label, manifest in chosen if platform in manifest.platforms]
        if labels:
            arguments = " ".join(f"-e {label}" for label in labels)
            jobs.append({"platform": platform.value, "runs-on": machine, "arguments": arguments})
    return json.dumps({"include": jobs}, separators=(",", ":"))


def _annotation(outcome: Outcome, reason: str, cells: Sequence[JudgedCell], files: Mapping[str, str]) -> str:
    names = [each.cell.name for each in cells]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    title = f"{outcome.value}: {', '.join(names[:_NAMED])}{more}"
    file = files.get(cells[0].cell.manifest)
    place = f"file={_property(file)}," if file else ""
    return f"::error {place}title={_property(clean(title))}::{_data(clean(reason or outcome.value))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return text for a property of a workflow command, which a colon or a comma would end.

    >>> _property("wrong: 100%, a/b")
    'wrong%3A 100%25%2C a/b'
    """
    return _data(text).replace(":", "%3A").replace(",", "%2C")
