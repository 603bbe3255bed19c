"""Import what one is told, in a fresh interpreter, and report where each module came from."""

# /// script
# requires-python = ">=3.6"
# dependencies = []
#
# [tool.envmgr]
# backends = []
# needs-device = false
# neutral = []
#
# [tool.envmgr.parameters]
# modules = ""
# code = ""
#
# [tool.envmgr.metrics]
# ///
import sys

if sys.version_info < (3, 6):
    sys.stderr.write("envmgr-runner: too old a Python: wanted 3.6 or newer, found %d.%d\n" % sys.version_info[:2])
    raise SystemExit(86)

# [shared: prologue] The same text stands in every runner: a runner imports no sibling.
# ruff: noqa: B905 -- zip knows `strict` since Python 3.10 only
import argparse
import contextlib
import faulthandler
import importlib
import importlib.util
import json
import math
import os
import re
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

PROTOCOL = 1
Parameters = Dict[str, Tuple[Any, str]]  # name: (default, help)
Report = Dict[str, Any]


class PhaseError(Exception):
    """A failure that knows its phase; `cause` is what really happened."""

    def __init__(self, phase_name: str, cause: BaseException) -> None:
        super().__init__(phase_name, cause)
        self.phase_name = phase_name
        self.cause = cause


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """A failure of the block belongs to this phase, unless an inner block has claimed it."""
    try:
        yield
    except PhaseError:
        raise
    except (Exception, SystemExit) as error:
        raise PhaseError(name, error) from error


def installed_versions() -> Dict[str, str]:
    """Versions of all distributions on sys.path, by normalised name, and of Python itself."""
    versions = {}  # type: Dict[str, str]
    for folder in sys.path:
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            match = re.match(r"(.+?)-(\d[^-]*)(-.+)?\.(dist|egg)-info$", entry)
            if match:
                versions.setdefault(re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2))
    versions["python"] = "{}.{}.{}".format(*sys.version_info[:3])
    return versions


def peak_memory() -> Optional[int]:
    """The most memory that this process has held, in bytes; None where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    # On Linux this figure begins with what the parent had held when it started this process.
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(largest) if sys.platform == "darwin" else int(largest) * 1024


def strict(value: Any) -> Any:
    """The same value for strict JSON: a float that is not finite becomes "nan", "inf" or "-inf"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return value


def write_report(path: str, report: Report) -> None:
    """The report is at its place whole, or not at all."""
    aside = "{}.{}.part".format(path, os.getpid())
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(strict(report), file, indent=1, allow_nan=False)
    os.replace(aside, path)


def print_table(report: Report) -> None:
    """The report for a reader: one line a fact, long lists cut, outputs by their shapes."""
    rows = [(key, report[key]) for key in ("status", "backend", "device", "first_call", "warmup", "samples")]
    rows += [("median of samples", sorted(report["samples"])[len(report["samples"]) // 2])] if report["samples"] else []
    rows += [(key, report[key]) for key in ("items_per_sample", "peak_memory")]
    rows += sorted(report["metrics"].items())
    rows += [("output " + name, output["shape"]) for name, output in sorted(report["outputs"].items())]
    rows += [("check " + check["name"], "passed" if check["passed"] else check) for check in report["checks"]]
    rows += [("module " + name, origin) for name, origin in report.get("modules", {}).items()]
    rows += [("note", note) for note in report["notes"]]
    for name, value in rows:
        if isinstance(value, list):
            shown = ["{:.6g}".format(item) if isinstance(item, float) else str(item) for item in value]
            value = ", ".join(shown if len(shown) <= 12 else shown[:5] + ["..."] + shown[-5:])
        print("{:24} {:.6g}".format(name, value) if isinstance(value, float) else "{:24} {}".format(name, value))
    if report["error"]:
        print("{traceback}\nfailed in phase {phase}: {type}: {message}".format(**report["error"]))


def chosen_parameters(known: Parameters, given: Dict[str, Any]) -> Dict[str, Any]:
    """The defaults with what is given in their place; a ValueError names what does not fit."""
    for name, value in given.items():
        if name not in known:
            raise ValueError("unknown parameter {!r}; known are {}".format(name, ", ".join(sorted(known))))
        default = known[name][0]
        kinds = {float: (float, int), str: (str, list)}.get(type(default), (type(default),))
        if type(value) not in kinds:
            raise ValueError("parameter {!r} is {!r}; wanted the kind of {!r}".format(name, value, default))
    chosen = {name: default for name, (default, _) in known.items()}
    chosen.update(given)
    return chosen


def read_request(description: str, known: Parameters) -> Tuple[Dict[str, Any], Optional[str]]:
    """The request, from its file or from the command line, and the path for the report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--request", help="JSON file with the request; without it, the options below")
    parser.add_argument("--report", help="JSON file to write; without it, a table on stdout")
    parser.add_argument("--device", help="as the backend names it; without it, the backend's first choice")
    for name, (default, meaning) in known.items():
        shown = "{} (default: {})".format(meaning, json.dumps(default))
        parser.add_argument("--" + name, dest=name, type=type(default), help=shown)
    options = vars(parser.parse_args())
    request_path, report_path = options.pop("request"), options.pop("report")
    if request_path is None:
        device = options.pop("device")
        parameters = {name: value for name, value in options.items() if value is not None}
        return {"protocol": PROTOCOL, "cell": "by hand", "device": device, "parameters": parameters}, report_path
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    if request.get("protocol") != PROTOCOL:
        parser.error("the request speaks protocol {!r}; wanted {}".format(request.get("protocol"), PROTOCOL))
    return request, report_path


def run(description: str, known: Parameters, measure: Callable[[Dict[str, Any], Optional[str], Report], None]) -> int:
    """Measure, and report it whatever happens; the exit status of the process."""
    faulthandler.enable()  # the stack of a crash goes to stderr: evidence
    request, report_path = read_request(description, known)
    report = {"protocol": PROTOCOL, "cell": request.get("cell"), "status": "ok", "error": None}  # type: Report
    report.update({"backend": None, "device": None, "versions": installed_versions(), "first_call": None})
    report.update({"warmup": [], "samples": [], "items_per_sample": None, "peak_memory": None})
    report.update({"outputs": {}, "checks": [], "metrics": {}, "notes": []})
    try:
        with phase("run"):
            measure(chosen_parameters(known, request.get("parameters", {})), request.get("device"), report)
    except PhaseError as failure:
        cause = failure.cause
        lines = traceback.format_exception(type(cause), cause, cause.__traceback__)
        report["status"] = "failed"
        report["error"] = {"phase": failure.phase_name, "type": type(cause).__name__, "message": str(cause)}
        report["error"]["traceback"] = "".join(lines)
    report["peak_memory"] = peak_memory()
    if report_path is None:
        print_table(report)
        return 0 if report["status"] == "ok" and all(check["passed"] for check in report["checks"]) else 1
    write_report(report_path, report)
    return 0


def output(shape: List[int], values: List[float]) -> Dict[str, Any]:
    """An output of the report: its shape and its values, row by row."""
    return {"shape": list(shape), "values": [float(value) for value in values]}


def timed(call: Callable[[], Any]) -> Tuple[float, Any]:
    """The seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def is_warm(seconds: List[float], quiet: int) -> bool:
    """Whether warm-up is over after these calls, the first one included.

    It is over when the last `quiet` calls brought no progress (none was more than 5 % faster than the fastest before
    it), and after 10 times `quiet` calls at the latest.
    """
    if len(seconds) > 10 * quiet:
        return True
    last = range(len(seconds) - quiet, len(seconds))
    return len(seconds) > quiet and all(seconds[place] > 0.95 * min(seconds[:place]) for place in last)


def warm_up(call: Callable[[], Any], first_call: float, quiet: int) -> List[float]:
    """The seconds of the calls after the first one until the rule of `is_warm` ends the warm-up."""
    seconds = [first_call]
    while not is_warm(seconds, quiet):
        seconds.append(timed(call)[0])
    return seconds[1:]


# [end of shared: prologue]


PARAMETERS = {
    "modules": ("", "names of modules, with commas between; a list in a request"),
    "code": ("", "statements to execute before the modules are imported"),
}  # type: Parameters


def module_names(given: Any) -> List[str]:
    """The names of a list, or of a string with commas."""
    return [name.strip() for name in (given.split(",") if isinstance(given, str) else given) if name.strip()]


def origin(module: Any) -> Dict[str, Optional[str]]:
    """Where a module came from, and the version that it gives itself; a namespace package has folders for a file."""
    file = getattr(module, "__file__", None) or ", ".join(str(folder) for folder in getattr(module, "__path__", ()))
    version = getattr(module, "__version__", None)
    return {"file": file or None, "version": None if version is None else str(version)}


def measure(parameters: Dict[str, Any], _device: Optional[str], report: Report) -> None:
    """Execute the code, import the modules in their order, and report where each one came from.

    After a failure the report still names the modules that are there by then.
    """
    names = module_names(parameters["modules"])
    if not names and not parameters["code"]:
        raise ValueError("nothing to import: wanted the parameter modules or code")
    report["modules"] = {}
    start = time.perf_counter()
    try:
        with phase("import"):
            if parameters["code"]:
                exec(compile(parameters["code"], "<code>", "exec"), {"__name__": "__main__"})
            for name in names:
                importlib.import_module(name)
    finally:
        report["first_call"] = time.perf_counter() - start
        report["modules"] = {name: origin(sys.modules[name]) for name in names if name in sys.modules}


if __name__ == "__main__":
    raise SystemExit(run(__doc__, PARAMETERS, measure))
