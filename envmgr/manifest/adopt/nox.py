"""noxfile.py: read as text, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, settle
from envmgr.manifest.adopt.requirements import read_requirements


def read_noxfile(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each session that installs something by words that stand in the file."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise UsageError("noxfile.py is no Python", str(error), "mend it first") from None
    known = dict(_constants(module))
    drafts = [
        _draft(function, decorator, known, others)
        for function in module.body
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if _is_session(decorator)
    ]
    return tuple(draft for draft in drafts if draft.requirements)


def _draft(
    function: ast.FunctionDef, decorator: ast.expr, known: Mapping[str, ast.expr], others: Mapping[str, str]
) -> Draft:
    keywords = {each.arg: each.value for each in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    name = "".join(_texts(keywords["name"], known)) if "name" in keywords else function.name
    asked = list(_texts(keywords["python"], known)) if "python" in keywords else []
    specifier, variants = python_of_many([minor_of(each) for each in asked])
    lines: list[str] = []
    notes: list[str] = []
    for call in _installs(function):
        given = [list(_texts(argument, known)) for argument in call.args]
        if not all(given):
            notes.append(f"left out of session {name}: an argument of line {call.lineno} is known only when it runs")
        lines += _as_lines([text for texts in given for text in texts], notes)
    inner, *_ = read_requirements("\n".join(lines), others)
    kept, unusable = settle(inner.requirements)
    return Draft(
        requirements=kept,
        name=name,
        python=specifier,
        pythons=variants,
        constraints=inner.constraints,
        notes=(*notes, *inner.notes, *unusable),
    )


def _is_session(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    named = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return named in {"session", "nox_session"}


def _installs(function: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "install":
            yield node


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


def _texts(node: ast.expr, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the texts that an expression stands for, as far as they can be read without running it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from _texts(item, known)
        case ast.Starred(value=value):
            yield from _texts(value, known)
        case ast.Name(id=name) if name in known:
            yield from _texts(known[name], {key: value for key, value in known.items() if key != name})
        case _:
            return
