"""Run a runner on a request and end as a probe does: 0 if all is well, else 1 with what failed. Python 3.6, no import
but of the standard library.

    python -I runner_as_probe.py RUNNER REQUEST.json REFERENCE.json [WORD...]

The words are given to the runner before its request.
REFERENCE is empty or holds {"outputs": {NAME: {"shape": [...], "values": [...]}}, "tolerance": T}: the numbers that the
runner's are to agree with. The report is written in the current folder.
"""

import json
import math
import runpy
import sys
from typing import Any, Dict, List

NAMED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def numbers(values: List[Any]) -> List[float]:
    return [NAMED.get(value, value) for value in values]


def differs(found: Any, wanted: Dict[str, Any], tolerance: float) -> str:
    """Return how an output differs from the reference's, empty if it agrees."""
    if found is None:
        return "is missing"
    if list(found["shape"]) != list(wanted["shape"]):
        return "has shape %s instead of %s" % (found["shape"], wanted["shape"])
    have, want = numbers(found["values"]), numbers(wanted["values"])
    finite = [value for value in want if math.isfinite(value)]
    scale = math.sqrt(sum(value * value for value in finite) / len(finite)) if finite else 0.0
    limit = tolerance * (scale or 1.0)
    off = [place for place in range(len(want)) if not abs(have[place] - want[place]) <= limit]
    return "%d of %d numbers off" % (len(off), len(want)) if off else ""


def complaint(report: Dict[str, Any], reference: Dict[str, Any]) -> str:
    """Return what is wrong with a report, empty if nothing is."""
    error = report.get("error")
    if report.get("status") != "ok" or error:
        told = error or {}
        last = "%s: %s" % (told.get("type", "RuntimeError"), told.get("message", "the runner failed"))
        trace = told.get("traceback") or ""
        return trace if last in trace else (trace.rstrip() + "\n" + last).lstrip()
    for check in report.get("checks") or ():
        if not check["passed"]:
            return "AssertionError: check %s: wanted %s" % (check["name"], check.get("wanted"))
    outputs = report.get("outputs") or {}
    for name, wanted in sorted(reference.get("outputs", {}).items()):
        said = differs(outputs.get(name), wanted, reference.get("tolerance", 1e-3))
        if said:
            return "AssertionError: output %s %s" % (name, said)
    return ""


def load(path: str) -> Any:
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def main() -> None:
    runner, request, reference, *words = sys.argv[1:]
    sys.argv = [runner, *words, "--request", request, "--report", "report.json"]
    try:
        runpy.run_path(runner, run_name="__main__")
    except SystemExit as ending:
        if ending.code not in (None, 0):
            raise
    said = complaint(load("report.json"), load(reference) if reference else {})
    if said:
        sys.stderr.write(said + "\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
