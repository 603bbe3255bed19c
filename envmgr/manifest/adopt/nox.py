"""noxfile.py: read as text, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from envmgr.errors import UsageError
from envmgr.manifest.adopt.conda import asked_of_conda
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, settle
from envmgr.manifest.adopt.literals import texts_of
from envmgr.manifest.adopt.requirements import read_requirements

_TWO = 2
_MOST = 48
"""Combinations of parameters of a session that become a manifest each."""


def read_noxfile(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each session that installs something by words that stand in the file."""
    try:
        module = ast.parse(text)
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
    return tuple(draft for draft in drafts if draft.requirements)


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
    asked = list(texts_of(keywords["python"], known)) if "python" in keywords else []
    specifier, variants = python_of_many([minor_of(each) for each in asked])
    lines: list[str] = []
    notes: list[str] = []
    for call in _calls(function, "install", "conda_install"):
        given = [list(texts_of(argument, known)) for argument in call.args]
        if not all(given):
            notes.append(f"left out of session {name}: an argument of line {call.lineno} is known only when it runs")
        words = [text for texts in given for text in texts]
        lines += _as_lines(words, notes) if _is_called(call, "install") else _of_conda(words)
    inner, *_ = read_requirements("\n".join(lines), others)
    kept, unusable = settle(inner.requirements)
    return Draft(
        requirements=kept,
        name="-".join([name, *_parameters(function, known)]),
        python=specifier,
        pythons=variants,
        constraints=inner.constraints,
        notes=(*notes, *inner.notes, *unusable),
    )


def _parameters(function: ast.FunctionDef, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the name and the value of each parameter that stands for something, as a part of a manifest's name."""
    for argument in function.args.args[1:]:
        if argument.arg in known:
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


def _of_conda(words: Iterable[str]) -> Iterator[str]:
    """Yield the requirements that the words after `session.conda_install` mean."""
    for word in words:
        asked = None if word.startswith("-") else asked_of_conda(word)
        if asked is not None:
            yield "".join(asked)


def _as_lines(words: Iterable[str], notes: list[str]) -> Iterator[str]:
    """Yield the words after `session.install` as lines of a requirements file."""
    waiting = ""
    for word in words:
        if waiting:
            yield f"{waiting} {word}"
            waiting = ""
        elif word in {"-r", "-c", "-e", "--requirement", "--constraint", "--editable"}:
            waiting = word
        elif word in {".", "./"} or word.startswith((".[", "./")):
            notes.append(f"left out: {word} is installed from its folder")
        elif not word.startswith("-"):
            yield word


def _constants(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
