"""Reads scripts, the author's own files beside them that they import, and every clock there is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from envmgr.errors import EnvmgrError, InferError, UsageError
from envmgr.infer.clocks import of_comments, of_dockerfile, of_pins
from envmgr.infer.saved import ENDINGS, of_saved
from envmgr.infer.source import Source, read_source
from envmgr.infer.surface import Surface, surface_of
from envmgr.infer.syntax import Syntax, parse
from envmgr.manifest.adopt.conda import read_environment
from envmgr.model.inference import Clock
from envmgr.ports import Files, Process, ProcessRequest

_CODE = (".py", ".ipynb")
_LEFT_OUT = {
    ".git",
    ".hg",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".ipynb_checkpoints",
    ".envmgr",
    "site-packages",
}
_MOST_SCRIPTS = 200
_MOST_BYTES = 200_000_000
_LONGEST = 5_000_000
"""Characters of code in one script."""

_REQUIREMENTS = re.compile(
    r"(?:requirements|constraints|freeze)[\w.-]*\.(?:txt|in)|environment[\w.-]*\.ya?ml|setup\.py|Pipfile"
)


@dataclass(frozen=True, slots=True)
class Script:
    """One script as it was read: `name` as the user would know it, `path` where it lies."""

    name: str
    path: Path
    source: Source
    syntax: Syntax
    surface: Surface


@dataclass(frozen=True, slots=True)
class Reading:
    """Scripts asked for and the author's own modules that they import; `local` are the names of all such modules.

    `left_out` are files of folders that are no Python.
    """

    scripts: tuple[Script, ...]
    helpers: tuple[Script, ...] = ()
    local: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Script, ...]:
        """The scripts and the modules beside them."""
        return (*self.scripts, *self.helpers)

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """The surfaces of all of them."""
        return tuple(script.surface for script in self.everything)


def read_scripts(paths: Iterable[Path], files: Files) -> Reading:
    """Return the scripts at some paths (a folder stands for those in it), and what they import from beside them.

    Raises UsageError where there is no script, and InferError for Python 2 and for what no Python reads.
    """
    asked = tuple(dict.fromkeys(paths))
    everything = [script for path in asked for script in _at(path, files)]
    left_out = [each for each in everything if each.path not in asked and _is_foreign(each)]
    found = [each for each in everything if each not in left_out]
    if not found:
        raise UsageError("there is no script", "wanted .py or .ipynb files", "envmgr infer SCRIPT")
    for script in found:
        _demand_python3(script)
    local: set[str] = set()
    helpers = _helpers(found, files, local)
    return Reading(tuple(found), helpers, frozenset(local), tuple(each.name for each in left_out))


def clocks_of(reading: Reading, known: Collection[str], files: Files, process: Process) -> Iterator[Clock]:
    """Yield everything that tells the age of scripts; `known` are the distributions and modules that are meant."""
    for script in reading.scripts:
        yield from of_pins(" ".join(script.source.installs), script.name)
        if script.source.kernel and script.source.kernel != "2":
            says = f"kernel of Python {script.source.kernel}"
            yield Clock(kind="notebook", where=script.name, says=says, python=script.source.kernel)
        yield from of_comments(script.source.code, script.name, known)
    for folder in dict.fromkeys(script.path.parent for script in reading.scripts):
        yield from _beside(folder, known, files)
    for script in reading.scripts:
        yield from _history(script, process)


def _at(path: Path, files: Files) -> Iterator[Script]:
    if not files.is_folder(path):
        text = files.read(path) if files.is_file(path) and files.size(path) <= _MOST_BYTES else None
        if text is None:
            wanted = f"wanted a script, a notebook or a folder, of {_MOST_BYTES // 1_000_000} MB at the most"
            raise UsageError(f"{path} cannot be read", wanted, "look at its name")
        yield _script(path.name, path, text)
        return
    pending, seen = [path], {files.identity(path)}
    scripts = 0
    while pending and scripts < _MOST_SCRIPTS:
        for entry in files.list(pending.pop(0)):
            if files.is_folder(entry):
                if entry.name not in _LEFT_OUT and files.identity(entry) not in seen:  # links can lead in a circle
                    seen.add(files.identity(entry))
                    pending.append(entry)
            elif entry.suffix in _CODE and files.is_file(entry):
                scripts += 1
                yield _script(str(entry.relative_to(path)), entry, files.read(entry) or "")


def _script(name: str, path: Path, text: str) -> Script:
    source = read_source(path.name, text)
    syntax = parse(source.code) if len(source.code) <= _LONGEST else Syntax(None, fault="it is too long to be read")
    try:
        surface = surface_of(syntax.tree, name) if syntax.tree is not None else Surface()
    except RecursionError:
        syntax, surface = Syntax(None, fault="an expression in it is nested too deeply to be read"), Surface()
    return Script(name, path, source, syntax, surface)


def _is_foreign(script: Script) -> bool:
    return bool(script.source.language) or (script.syntax.tree is None and script.source.garbled)


def _demand_python3(script: Script) -> None:
    if script.source.language:
        what = f"{script.name} is a notebook in {script.source.language}"
        raise InferError(what, "wanted Python, which alone is read", "leave it out")
    if script.syntax.tree is None and script.source.garbled:
        raise InferError(f"{script.name} is no text", "wanted Python source in UTF-8", "convert it, or leave it out")
    kernel = script.source.kernel == "2"
    if script.syntax.tree is None and (script.syntax.python2 or kernel):
        sign = script.syntax.python2 or "the notebook's kernel"
        raise InferError(
            f"{script.name} is Python 2", f"found {sign}; envmgr builds for Python 3", "convert it: 2to3, or futurize"
        )
    if script.syntax.tree is None:
        raise InferError(
            f"{script.name} is no Python that is known here",
            script.syntax.fault,
            "mend the line, or leave the file out",
        )


def _helpers(scripts: list[Script], files: Files, local: set[str]) -> tuple[Script, ...]:
    """Return the modules beside scripts that they import, one after the other; their names are added to `local`.

    Raises InferError where one that they cannot do without is none that Python 3 reads.
    """
    found: dict[Path, Script] = {}
    pending = list(scripts)
    asked = {script.path for script in scripts}
    vital = set(asked)
    while pending and len(found) < _MOST_SCRIPTS:
        script = pending.pop(0)
        needed = {each.module.split(".")[0] for each in script.surface.imports if each.necessity == "required"}
        for top in dict.fromkeys((*script.surface.tops, *(name.split(".")[0] for name in script.surface.relative))):
            place = _local(script.path.parent, top, files)
            if place is None or (place == script.path and top in script.surface.tops):
                continue
            local.add(top)
            if script.path in vital and top in needed:
                vital |= {place, place / "__init__.py"}
            for path in _python_files(place, files):
                if path not in found and path not in asked:
                    helper = _script(path.name, path, files.read(path) or "")
                    found[path] = helper
                    if path in vital:
                        _demand_python3(helper)
                    pending.append(helper)
    return tuple(found.values())


def _local(folder: Path, top: str, files: Files) -> Path | None:
    module, package = folder / f"{top}.py", folder / top
    if files.is_plain_file(module):
        return module
    has_code = files.is_folder(package) and any(entry.suffix == ".py" for entry in files.list(package))
    return package if has_code else None


def _python_files(place: Path, files: Files) -> tuple[Path, ...]:
    return tuple(entry for entry in files.list(place) if entry.suffix == ".py") if files.is_folder(place) else (place,)


def _beside(folder: Path, known: Collection[str], files: Files) -> Iterator[Clock]:
    for entry in files.list(folder):
        if not files.is_file(entry):
            continue
        if _REQUIREMENTS.fullmatch(entry.name):
            yield from _required(entry, files.read(entry) or "")
        elif entry.name.startswith("Dockerfile") or entry.suffix == ".dockerfile":
            yield from of_dockerfile(files.read(entry) or "", entry.name, known)
        elif entry.name in {".python-version", "runtime.txt"}:
            match = re.search(r"(3\.\d+)", files.read(entry) or "")
            if match:
                yield Clock(kind="pin", where=entry.name, says=f"Python {match[1]}", python=match[1])
        elif entry.name.endswith(ENDINGS) and files.size(entry) <= _MOST_BYTES:
            yield from of_saved(entry.name, files.read(entry) or "")


def _required(path: Path, text: str) -> Iterator[Clock]:
    """Yield the versions and the Python that a list of requirements asks for, one of conda's in its own way."""
    if path.suffix not in {".yml", ".yaml"}:
        yield from of_pins(text, path.name)
        return
    try:
        (draft,) = read_environment(text, {})
    except EnvmgrError:
        return
    yield from of_pins("\n".join(draft.requirements), path.name)
    python = re.fullmatch(r"==(3\.\d+)(?:\..*)?", draft.python)
    if python:
        yield Clock(kind="pin", where=path.name, says=f"Python {python[1]}", python=python[1])


def _history(script: Script, process: Process) -> Iterator[Clock]:
    """Yield the day of the last change that a repository tells."""
    argv = ("git", "log", "-1", "--format=%cs", "--", script.path.name)
    completed = process.run(ProcessRequest(argv, script.path.parent, timeout=20, kept=False))
    day = completed.stdout.strip()
    if completed.good and re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        yield Clock(kind="history", where=script.name, says=f"last changed on {day}", day=day)
