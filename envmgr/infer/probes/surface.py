"""Imports what a script imports and looks up the names that it uses; runs no statement of the script itself.

Run by an environment's own Python, back to 3.6. `PLAN` is put in by whoever runs it. On stdout goes one line that
begins with `@@surface `; exit 1, with the first failure's traceback, when something required is not there. A plan may
ask for a glance at the files first: what is certainly not there is told without importing anything.
"""

import ast
import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
import warnings
from typing import Any, Dict, List, Optional, Set, Tuple

PLAN: Dict[str, Any] = {}


READ: Dict[str, "Package"] = {}
WORDS: Dict[str, Set[str]] = {}
STARS = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*\(?[ \t]*\*", re.MULTILINE)
OPEN = "*"
MAKES_NAMES = {"globals", "vars", "exec", "locals"}


def source_of(place: str) -> str:
    """The source of a package or module, empty when it has none that can be read."""
    for path in (os.path.join(place, "__init__.py"), place + ".py"):
        if os.path.isfile(path):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    return file.read()
            except OSError:
                break
    return ""


def taken_whole(text: str, folder: str, root: str) -> Set[str]:
    """All words of the modules that a source takes everything from; `OPEN` is among them when one cannot be read."""
    found: Set[str] = set()
    for dots, module in STARS.findall(text):
        base = folder if dots else root
        for _ in dots[1:]:
            base = os.path.dirname(base)
        place = os.path.join(base, *module.split(".")) if module else base
        if place not in WORDS:
            WORDS[place] = {OPEN}  # until it is read: modules can take from one another in a circle
            other = source_of(place)
            inner = place if os.path.isdir(place) else os.path.dirname(place)
            WORDS[place] = set(re.findall(r"\w+", other)) | taken_whole(other, inner, root) if other else {OPEN}
        found |= WORDS[place]
    return found


class Package:
    """What the source of a package says of a name in it, without importing it.

    `bound` are the names that are given a meaning in it, `taken` all words of the modules that it takes everything
    from. `open` tells that it can have other names, `dynamic` that it can make others as it runs.
    """

    def __init__(self, folder: str, root: str) -> None:
        self.folder = folder
        self.bound: Set[str] = set()
        self.mentioned: Set[str] = set()
        self.dynamic = False
        self.text = source_of(folder)
        self.taken = taken_whole(self.text, folder, root)
        self.open = not self.text or OPEN in self.taken
        try:
            for node in ast.walk(ast.parse(self.text)):
                self.read(node)
        except (SyntaxError, ValueError):
            self.open = True

    def read(self, node: ast.AST) -> None:
        """Note what one node binds."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.bound.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 1:
                self.bound.add(node.module.split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bound.add(node.name)
            self.dynamic = self.dynamic or node.name == "__getattr__"
        elif isinstance(node, ast.Name):
            (self.mentioned if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)
            self.dynamic = self.dynamic or node.id in ("exec", "vars")
        elif isinstance(node, ast.Attribute):
            self.dynamic = self.dynamic or node.attr == "__dict__"
        elif isinstance(node, ast.Call):
            self.read_call(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            holder = node.value.func if isinstance(node.value, ast.Call) else node.value
            written_to = getattr(holder, "id", getattr(holder, "attr", ""))
            self.dynamic = self.dynamic or written_to == "modules" or written_to in MAKES_NAMES

    def read_call(self, node: ast.Call) -> None:
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if called == "setattr" and len(node.args) == 3:
            name = getattr(node.args[1], "s", getattr(node.args[1], "value", None))
            if isinstance(name, str):
                self.bound.add(name)
            else:
                self.dynamic = True
        elif called in ("update", "attach"):
            self.dynamic = True

    def below(self, name: str) -> str:
        """The folder or file of a submodule, empty if there is none."""
        folder = os.path.join(self.folder, name)
        if os.path.isdir(folder):
            return folder
        files = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return next((folder for file in files if file.split(".")[0] == name and not file.endswith(".pyi")), "")

    def lacks(self, name: str) -> bool:
        """True when a name is certainly neither a submodule nor bound in the package."""
        if self.below(name) or self.open or name in self.bound or name in self.taken or name.startswith("__"):
            return False
        if PLAN["folders"]:
            return True  # likely will do: it only says what to try first
        if self.dynamic or name in self.mentioned or self.taken & MAKES_NAMES:
            return False
        return not re.search(r"(?<!\w)%s(?!\w)" % re.escape(name), self.text) or "setattr" not in self.text

    def lacks_module(self, name: str) -> bool:
        """True when a submodule of that name can certainly not be imported."""
        if self.below(name) or "sys.modules" in self.text and "__path__" not in self.text:
            return False
        if "__path__" not in self.text:
            return True
        parts = (part for _, folders, files in os.walk(self.folder) for part in folders + files)
        return not any(part.split(".")[0] == name for part in parts)


def glance(path: List[str], last_is_module: bool) -> str:
    """The part of a dotted path that is certainly not there, empty when nothing is certain."""
    try:
        spec = importlib.util.find_spec(path[0])
    except BaseException:
        return ""
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if len(folders) != 1:
        return ""
    folder = folders[0]
    for at, name in enumerate(path[1:], 1):
        package = READ[folder] = READ.get(folder) or Package(folder, os.path.dirname(folders[0]))
        lacks = package.lacks_module(name) if last_is_module else package.lacks(name)
        if lacks:
            return ".".join(path[: at + 1])
        folder = package.below(name)
        if not os.path.isdir(folder):
            return ""
    return ""


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

    def look(self) -> None:
        """Note what is certainly missing of what is required."""
        paths = [(wanted["module"].split("."), True, wanted["module"]) for wanted in PLAN["required"]]
        for wanted in PLAN["required"]:
            names = [name for name in wanted["names"] if name != "*"]
            paths += [(wanted["module"].split(".") + [name], False, wanted["module"]) for name in names]
        uses = [use for use in PLAN["uses"] if use["required"]]
        paths += [(use["module"].split(".") + use["path"], False, use["module"]) for use in uses]
        seen: Set[str] = set()
        for path, is_module, module in paths:
            lost = glance(path, is_module)
            if lost and lost not in seen:
                seen.add(lost)
                error = ImportError("No module named %r" % lost) if is_module else AttributeError("no name " + lost)
                self.fail(lost, module, True, error)

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

    def tell(self, glanced: bool) -> None:
        told = {"imported": self.imported, "resolved": self.resolved, "missing": self.missing, "glanced": glanced}
        sys.stdout.write("\n@@surface " + json.dumps(told) + "\n")
        sys.stdout.flush()
        if self.first is not None:
            traceback.print_exception(type(self.first), self.first, self.first.__traceback__)
            sys.stderr.flush()
            sys.exit(1)


def glance_at_folders() -> None:
    """Tell what each of some folders with unpacked packages seems to lack; nothing in them is imported."""
    for folder in PLAN["folders"]:
        surface = Surface()
        sys.path.insert(0, folder)
        surface.look()
        sys.path.remove(folder)
        sys.stdout.write("@@folder " + json.dumps([missing["name"] for missing in surface.missing]) + "\n")
        sys.stdout.flush()


def main() -> None:
    warnings.simplefilter("ignore")
    if PLAN["folders"]:
        glance_at_folders()
        return
    surface = Surface()
    if PLAN["glance"]:
        surface.look()
        if surface.missing:
            surface.tell(True)
    for wanted in PLAN["required"]:
        surface.take(wanted, True)
    for branches in PLAN["groups"]:
        surface.choose(branches)
    for wanted in PLAN["optional"]:
        surface.take(wanted, False)
    for use in PLAN["uses"]:
        surface.follow(use)
    surface.tell(False)


main()
