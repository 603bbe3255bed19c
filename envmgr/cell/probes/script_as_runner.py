"""Run a script that knows nothing of envmgr as a runner: it is timed, and it is good if it ends without an error.
Python 3.6, no import but of the standard library.

    python -I script_as_runner.py SCRIPT --request in.json --report out.json

The parameters of the request are its options: {"size": 3, "fast": true, "names": ["a", "b"]} is
`--size 3 --fast --names a b`.
"""

import json
import os
import re
import runpy
import sys
import time
import traceback
from typing import Any, Dict, List, Optional

PROTOCOL = 1


def options(parameters: Dict[str, Any]) -> List[str]:
    """Return parameters as words of a command line."""
    words = []  # type: List[str]
    for name, value in parameters.items():
        if value is None or value is False:
            continue
        values = [] if value is True else value if isinstance(value, list) else [value]
        words += ["--" + name] + [each if isinstance(each, str) else json.dumps(each) for each in values]
    return words


def versions() -> Dict[str, str]:
    """Return the versions of all distributions on sys.path, by normalised name, and of Python itself."""
    found = {}  # type: Dict[str, str]
    for folder in sys.path:
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            match = re.match(r"(.+?)-(\d[^-]*)(-.+)?\.(dist|egg)-info$", entry)
            if match:
                found.setdefault(re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2))
    found["python"] = "{}.{}.{}".format(*sys.version_info[:3])
    return found


def run(script: str, words: List[str]) -> Optional[Dict[str, str]]:
    """Run a script as its own program, and return what failed, None if nothing did."""
    sys.argv = [script] + words
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ending:
        if ending.code in (None, 0):
            return None
        said = "exit status %d" % ending.code if isinstance(ending.code, int) else str(ending.code)
        return {"phase": "run", "type": "SystemExit", "message": said, "traceback": said}
    except BaseException as error:
        phase = "import" if isinstance(error, ImportError) else "run"
        told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        sys.stderr.write(told)
        return {"phase": phase, "type": type(error).__name__, "message": str(error), "traceback": told}
    return None


def main() -> int:
    script, request_path, report_path = sys.argv[1], sys.argv[3], sys.argv[5]
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    if request.get("protocol") != PROTOCOL:
        sys.stderr.write("the request speaks protocol {!r}; wanted {}\n".format(request.get("protocol"), PROTOCOL))
        return 2
    report = {"protocol": PROTOCOL, "cell": request["cell"], "backend": None, "device": None}  # type: Dict[str, Any]
    report.update({"warmup": [], "samples": [], "items_per_sample": None, "peak_memory": None})
    report.update({"outputs": {}, "checks": [], "metrics": {}, "notes": [], "versions": versions()})
    start = time.perf_counter()
    error = run(script, options(request.get("parameters", {})))
    report["first_call"] = time.perf_counter() - start
    report.update({"status": "failed" if error else "ok", "error": error})
    sys.stdout.flush()
    aside = "{}.{}.part".format(report_path, os.getpid())
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    os.replace(aside, report_path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
