"""Runs in continuous integration: what the service shows of them beside the table."""

from __future__ import annotations

from pathlib import Path

from envmgr.app.planning import Selection
from envmgr.app.reporting import REPORTS, Reading, matrix_markdown
from envmgr.app.workplace import Workplace
from envmgr.manifest.expand import select
from envmgr.report.github import job_matrix, notices

JUNIT = "envmgr-junit.xml"
_SUMMARY_LIMIT = 1_000_000


def tell_service(workplace: Workplace, reading: Reading) -> tuple[str, ...]:
    """Write JUnit XML into the caller's folder and the table into the job's summary; return the annotations to print.

    The summary is the file that GitHub Actions names in GITHUB_STEP_SUMMARY; what other steps wrote there stays.
    """
    workplace.files.write(workplace.caller.folder / JUNIT, REPORTS["junit"](workplace, reading))
    summary = workplace.caller.environment.get("GITHUB_STEP_SUMMARY")
    if summary:
        path = Path(summary)
        before = workplace.files.read(path) or ""
        workplace.files.write(path, before + _limited(matrix_markdown(reading), _SUMMARY_LIMIT - len(before.encode())))
    root = Path(workplace.caller.environment.get("GITHUB_WORKSPACE") or workplace.caller.folder)
    files = {
        name: path.relative_to(root).as_posix()
        for name, path in workplace.shelf.paths.items()
        if path.is_relative_to(root)
    }
    return notices(reading.judged, files)


def jobs_of(workplace: Workplace, selection: Selection) -> str:
    """Return a matrix as jobs of GitHub Actions, one for each platform; nothing of this host takes part in it."""
    matrix = workplace.shelf.matrix(selection.matrix)
    picked = select(selection.names or matrix.manifests, workplace.shelf)
    labels = [(f"{manifest.name}@{variant}" if variant else manifest.name, manifest) for manifest, variant in picked]
    return job_matrix(labels)


def _limited(text: str, room: int) -> str:
    """Return a text, cut at the end of a line where it is longer than the room for it."""
    if len(text.encode()) <= room:
        return text
    told = "\n\n*cut here: the rest is in the JUnit file*\n"
    kept = text.encode()[: max(0, room - len(told))].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1] + told
