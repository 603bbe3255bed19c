"""Imports what a script imports and looks up the names that it uses; runs no statement of the script itself.

Run by an environment's own Python, back to 3.6. `PLAN` is put in by whoever runs it. On stdout goes one line that
begins with `@@surface `; exit 1, with the first failure's traceback, when something required is not there.
"""

import inspect
import json
import sys
import traceback
import warnings
from typing import Any, Dict, List, Optional, Tuple

PLAN: Dict[str, Any] = {}


class Surface:
    def __init__(self) -> None:
        self.imported: List[str] = []
        self.resolved: List[str] = []
        self.missing: List[Dict[str, Any]] = []
        self.first: Optional[BaseException] = None

    def fail(self, name: str, module: str, required: bool, error: BaseException) -> None:
        kind = "%s: %s" % (type(error).__name__, error)
        self.missing.append({"name": name, "module": module, "why": kind[:300], "required": required})
        if required and self.first is None:
            self.first = error

    def load(self, wanted: Dict[str, Any]) -> List[Tuple[str, BaseException]]:
        module, names = wanted["module"], wanted["names"]
        try:
            found = __import__(module, fromlist=names if names and names != ["*"] else ["__name__"])
        except BaseException as error:
            return [(module, error)]
        failures: List[Tuple[str, BaseException]] = []
        for name in names:
            if name == "*" or hasattr(found, name):
                continue
            text = "cannot import name %r from %r" % (name, module)
            failures.append((module + "." + name, ImportError(text)))
        return failures

    def take(self, wanted: Dict[str, Any], required: bool) -> None:
        failures = self.load(wanted)
        for name, error in failures:
            self.fail(name, wanted["module"], required, error)
        if not failures:
            self.note(wanted)

    def note(self, wanted: Dict[str, Any]) -> None:
        self.imported.append(wanted["module"])
        self.resolved.extend(wanted["module"] + "." + name for name in wanted["names"] if name != "*")

    def choose(self, branches: List[List[Dict[str, Any]]]) -> None:
        """One branch of alternatives will do; the failures of the last one tried are told if none does."""
        failures: List[Tuple[Dict[str, Any], Tuple[str, BaseException]]] = []
        for branch in branches:
            failures = [(wanted, pair) for wanted in branch for pair in self.load(wanted)]
            if not failures:
                for wanted in branch:
                    self.note(wanted)
                return
        for wanted, (name, error) in failures:
            self.fail(name, wanted["module"], True, error)

    def follow(self, use: Dict[str, Any]) -> None:
        holder: Any = sys.modules.get(use["module"])
        if holder is None:
            return
        name = use["module"]
        for at, step in enumerate(use["path"]):
            inspected = inspect.ismodule(holder) or inspect.isclass(holder)
            if at and not inspected:
                break
            try:
                holder = getattr(holder, step)
            except AttributeError as error:
                if at and inspect.isclass(holder):
                    break
                if inspect.ismodule(holder) and "has no attribute" not in str(error):
                    error = AttributeError("module %r has no attribute %r" % (holder.__name__, step))
                self.fail(name + "." + step, use["module"], use["required"], error)
                return
            except Exception:
                break
            name += "." + step
        self.resolved.append(".".join([use["module"]] + use["path"]))


def main() -> None:
    warnings.simplefilter("ignore")
    surface = Surface()
    for wanted in PLAN["required"]:
        surface.take(wanted, True)
    for branches in PLAN["groups"]:
        surface.choose(branches)
    for wanted in PLAN["optional"]:
        surface.take(wanted, False)
    for use in PLAN["uses"]:
        surface.follow(use)
    told = {"imported": surface.imported, "resolved": surface.resolved, "missing": surface.missing}
    sys.stdout.write("\n@@surface " + json.dumps(told) + "\n")
    sys.stdout.flush()
    if surface.first is not None:
        error = surface.first
        traceback.print_exception(type(error), error, error.__traceback__)
        sys.stderr.flush()
        sys.exit(1)


main()
