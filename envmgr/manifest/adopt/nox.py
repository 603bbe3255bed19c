"""noxfile.py: read as text, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from envmgr.errors import UsageError
from envmgr.manifest.adopt.conda import asked_of_conda
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, with_all_notes
from envmgr.manifest.adopt.literals import texts_of
from envmgr.manifest.adopt.requirements import read_requirements
from envmgr.model.syntax import parsed

_TWO = 2
_CHOSEN_PYTHON = "python="
"""Where the Python of one combination stands among what names stand for: no name of Python's own can be this."""
_WITH_VALUE = frozenset(
    {"-i", "-f", "--index-url", "--extra-index-url", "--find-links", "--only-binary", "--no-binary"}
)
_MOST = 48
"""Combinations of parameters of a session that become a manifest each."""


def read_noxfile(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each session that installs something by words that stand in the file."""
    try:
        module = parsed(text)
    except SyntaxError as error:
        raise UsageError("noxfile.py is no Python", str(error), "mend it first") from None
    known = dict(_constants(module))
    drafts = [
        _draft(function, decorator, known | chosen, others)
        for function in module.body
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if _is_called(decorator, "session", "nox_session")
        for chosen in _combinations(function, known)
    ]
    return with_all_notes(drafts)


def _combinations(function: ast.FunctionDef, known: Mapping[str, ast.expr]) -> list[dict[str, ast.expr]]:
    """Return what the parameters of a session stand for, once for each combination of `nox.parametrize`.

    Of more than a few dozen, and of what is known only when it runs, nothing is said: their uses are told of then.
    """
    found: list[dict[str, ast.expr]] = [{}]
    for decorator in function.decorator_list:
        if (
            not isinstance(decorator, ast.Call)
            or not _is_called(decorator, "parametrize")
            or len(decorator.args) < _TWO
        ):
            continue
        names = [name.strip() for text in texts_of(decorator.args[0], known) for name in text.split(",")]
        listed = decorator.args[1]
        listed = known.get(listed.id, listed) if isinstance(listed, ast.Name) else listed
        items = listed.elts if isinstance(listed, ast.List | ast.Tuple) else []
        names = [_CHOSEN_PYTHON if name == "python" else name for name in names]
        choices = [dict(zip(names, _values(item, len(names)), strict=False)) for item in items]
        found = [{**before, **choice} for choice in choices or [{}] for before in found]
    return found if len(found) <= _MOST else [{}]


def _values(item: ast.expr, count: int) -> list[ast.expr]:
    """Return the values of one choice: `"1.2"`, `("1.2", "x")`, `nox.param("1.2", id="old")`."""
    if isinstance(item, ast.Call) and _is_called(item, "param"):
        return item.args
    return item.elts if count > 1 and isinstance(item, ast.List | ast.Tuple) else [item]


def _draft(
    function: ast.FunctionDef, decorator: ast.expr, known: Mapping[str, ast.expr], others: Mapping[str, str]
) -> Draft:
    keywords = {each.arg: each.value for each in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    name = "".join(texts_of(keywords["name"], known)) if "name" in keywords else function.name
    lines: list[str] = []
    notes: list[str] = []
    specifier, variants = python_of_many(
        _pythons(name, known.get(_CHOSEN_PYTHON, keywords.get("python")), known, notes)
    )
    notes += [
        f"left out of session {name}: what {ast.unparse(call)} installs"
        for call in _calls(function, "run_install", "run_always")
    ]
    for call in _calls(function, "install", "conda_install"):
        given = [list(texts_of(argument, known)) for argument in call.args]
        if not all(given):
            told = f"an argument of {ast.unparse(call)} is known only when it runs"
            notes.append(f"left out of session {name}: {told}")
        words = [text for texts in given for text in texts]
        lines += _as_lines(words, notes) if _is_called(call, "install") else _of_conda(words, notes)
    inner, *_ = read_requirements("\n".join(lines), others)
    return replace(
        inner,
        name="-".join([name, *_chosen_python(known), *_parameters(function, known)]),
        python=specifier,
        pythons=variants,
        notes=(*notes, *inner.notes),
    )


def _pythons(session: str, asked: ast.expr | None, known: Mapping[str, ast.expr], notes: list[str]) -> Iterator[str]:
    """Yield the minor versions that a session is for; what names none, or is known only when it runs, is told."""
    if asked is None or (isinstance(asked, ast.Constant) and not isinstance(asked.value, str)):
        return
    texts = list(texts_of(asked, known))
    if not texts:
        notes.append(f"the Pythons of session {session}, {ast.unparse(asked)}, are known only when it runs")
    for text in texts:
        if minor_of(text):
            yield minor_of(text)
        else:
            notes.append(f"left out of session {session}: Python {text}")


def _chosen_python(known: Mapping[str, ast.expr]) -> list[str]:
    """Return the Python of one combination of parameters as a part of a manifest's name."""
    return ["py" + minor_of(text) for text in texts_of(known[_CHOSEN_PYTHON], known)] if _CHOSEN_PYTHON in known else []


def _parameters(function: ast.FunctionDef, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the name and the value of each parameter that stands for something, as a part of a manifest's name."""
    for argument in function.args.args[1:]:
        if argument.arg in known and argument.arg != "python":
            yield "-".join([argument.arg, *texts_of(known[argument.arg], known)])


def _is_called(node: ast.expr, *names: str) -> bool:
    """Tell whether what is called, or named, has one of some names: `nox.session(...)`, `session`."""
    target = node.func if isinstance(node, ast.Call) else node
    named = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return named in names


def _calls(function: ast.FunctionDef, *names: str) -> list[ast.Call]:
    """Return the calls of methods of those names, in the order in which they stand."""
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_called(node, *names)
    ]
    return sorted(found, key=lambda node: node.lineno)


def _of_conda(words: Iterable[str], notes: list[str]) -> Iterator[str]:
    """Yield the requirements that the words after `session.conda_install` mean."""
    waiting = ""
    for word in words:
        if waiting:
            notes.append(f"not taken over: {waiting} {word}")
            waiting = ""
        elif word in {"-c", "--channel", "--file"}:
            waiting = word
        elif not word.startswith("-"):
            yield "".join(asked_of_conda(word) or [word])


def _as_lines(words: Iterable[str], notes: list[str]) -> Iterator[str]:
    """Yield the words after `session.install` as lines of a requirements file."""
    waiting = ""
    for word in words:
        if waiting:
            yield f"{waiting} {word}"
            waiting = ""
        elif word in {"-r", "-c", "-e", "--requirement", "--constraint", "--editable", *_WITH_VALUE}:
            waiting = word
        elif word in {".", "./"} or word.startswith((".[", "./")):
            notes.append(f"left out: {word} is installed from its folder, with what it depends on")
        elif not word.startswith("-") or re.match(r"-[rce]\S|--[a-z-]+=", word):
            yield word


def _constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
