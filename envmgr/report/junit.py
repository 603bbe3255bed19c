"""The matrix as JUnit XML (the schema junit-10 that Jenkins' xUnit plugin defines), for continuous integration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import JudgedCell, Run
from envmgr.report.doubts import is_unchecked
from envmgr.report.text import clean, parameters

_SKIPPED = frozenset({*NEUTRAL, Outcome.XFAIL})


def junit(run: Run, judged: Sequence[JudgedCell], logs: Mapping[str, str]) -> str:
    """Return a suite for each runner with its parameters on each host; `logs` is by cell id.

    What fails the matrix is a failure; what the host decides and what is expected is skipped, with its reason.
    """
    groups: dict[tuple[str, str], list[JudgedCell]] = {}
    for each in judged:
        name = f"{each.cell.runner} {parameters(each.cell.parameters)}".strip()
        groups.setdefault((name, each.cell.host), []).append(each)
    root = ET.Element("testsuites", {"name": f"envmgr {clean(run.record.plan.matrix)}", **_counts(judged)})
    for (name, host), cells in groups.items():
        suite = ET.SubElement(root, "testsuite", _suite(run, name, host, cells))
        for each in cells:
            _case(suite, each, logs.get(each.cell.id, ""))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(cells: Sequence[JudgedCell]) -> dict[str, str]:
    failures = sum(each.unexpected for each in cells)
    return {"tests": f"{len(cells)}", "failures": f"{failures}", "errors": "0"}


def _suite(run: Run, name: str, host: str, cells: Sequence[JudgedCell]) -> dict[str, str]:
    skipped = sum(_is_skipped(each) for each in cells)
    return {
        "name": name,
        **_counts(cells),
        "skipped": f"{skipped}",
        "time": _seconds(sum(_elapsed(each) for each in cells)),
        "timestamp": run.record.started_at,
        "hostname": clean(host),
    }


def _case(suite: ET.Element, judged: JudgedCell, log: str) -> None:
    cell = judged.cell
    name = f"{cell.label} {cell.device_name}".strip()
    attributes = {"classname": clean(f"{cell.runner}.{cell.label}"), "name": clean(name)}
    case = ET.SubElement(suite, "testcase", {**attributes, "time": _seconds(_elapsed(judged))})
    observed = judged.observed.value if judged.observed else "not measured"
    message = f"{observed}: {clean(judged.reason)}" if judged.reason else observed
    if judged.unexpected:
        failure = ET.SubElement(case, "failure", {"type": judged.outcome.value, "message": message})
        failure.text = "\n".join(clean(line) for line in log.splitlines()) or message
    elif _is_skipped(judged):
        ET.SubElement(case, "skipped", {"type": judged.outcome.value, "message": message})
    if is_unchecked(judged):
        ET.SubElement(case, "system-out").text = "its numbers were compared with nothing"


def _is_skipped(judged: JudgedCell) -> bool:
    return not judged.unexpected and judged.outcome in _SKIPPED


def _elapsed(judged: JudgedCell) -> float:
    return sum(result.elapsed for result in judged.results)


def _seconds(value: float) -> str:
    return f"{value:.3f}"
