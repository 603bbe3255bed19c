"""setup.py: read as text, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft
from envmgr.manifest.adopt.literals import is_list, texts_of
from envmgr.manifest.adopt.project import read_pyproject
from envmgr.manifest.adopt.requirements import read_requirements
from envmgr.manifest.adopt.setup_config import extras_left, python_of_setup, read_setup_config
from envmgr.model.syntax import parsed

_GROWING = frozenset({"append", "extend", "insert"})
_FILES = (".txt", ".in", ".pip")
_PASSING = frozenset({"list", "tuple", "sorted", "set"})


def read_setup_script(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the draft of what stands in the call of `setup`: texts, lists of them, and requirements files it opens.

    Where the call says nothing of requirements, setup.cfg or pyproject.toml beside it do. Raises UsageError where they
    are known only when it runs.
    """
    try:
        module = parsed(text)
    except (SyntaxError, ValueError) as error:
        raise UsageError("setup.py is no Python", str(error), "mend it first") from None
    call = next(
        (node for node in ast.walk(module) if isinstance(node, ast.Call) and _named(node.func) == "setup"), None
    )
    if call is None:
        raise UsageError("setup.py calls no setup()", "wanted setup(..., install_requires=[...])", "envmgr init")
    script = _Script.of(module, others)
    given = script.keywords(call)
    if "install_requires" not in given:
        return _beside(others)
    lines = script.requirements(given["install_requires"])
    inner, *_ = read_requirements("\n".join(lines), others)
    extras = given.get("extras_require")
    return (
        replace(
            inner,
            name=script.text(given.get("name")),
            python=python_of_setup(script.text(given.get("python_requires")), script.texts(given.get("classifiers"))),
            notes=(*script.notes, *inner.notes, *extras_left(script.keys(extras))),
        ),
    )


@dataclass(slots=True)
class _Addition:
    """What a statement adds to a list, and whether it does so whatever is the case."""

    value: ast.expr
    always: bool


@dataclass(slots=True)
class _Script:
    """What the names of a file stand for: those that are given one value in it, and what is added to them later.

    `opened` has, for a value that is given within `with`, what that opens.
    """

    known: dict[str, ast.expr]
    additions: dict[str, list[_Addition]]
    functions: dict[str, ast.FunctionDef]
    opened: dict[ast.expr, list[ast.expr]]
    others: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, module: ast.Module, others: Mapping[str, str]) -> _Script:
        values: dict[str, list[ast.expr]] = {}
        opened: dict[ast.expr, list[ast.expr]] = {}
        additions: dict[str, list[_Addition]] = {}
        for node in ast.walk(module):
            for name, value in _given(node):
                values.setdefault(name, []).append(value)
            if isinstance(node, ast.With):
                inner = [value for each in ast.walk(node) for _, value in _given(each)]
                opened |= {value: [item.context_expr for item in node.items] for value in inner}
            for name, value in _added(node):
                additions.setdefault(name, []).append(_Addition(value, node in module.body))
        functions = {node.name: node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
        known = {name: each[0] for name, each in values.items() if len(each) == 1}
        return cls(known, additions, functions, opened, others)

    def keywords(self, call: ast.Call) -> dict[str, ast.expr]:
        """Return the keywords of a call, those of a table after `**` among them."""
        found: dict[str, ast.expr] = {}
        for keyword in call.keywords:
            found.update({keyword.arg: keyword.value} if keyword.arg else self._table(keyword.value))
        return found

    def text(self, node: ast.expr | None) -> str:
        """Return the one text that an expression stands for, or nothing."""
        found = self.texts(node)
        return found[0] if len(found) == 1 else ""

    def texts(self, node: ast.expr | None) -> list[str]:
        """Return the texts that an expression stands for, as far as they can be read."""
        return [] if node is None else list(texts_of(node, self.known))

    def keys(self, node: ast.expr | None) -> list[str]:
        """Return the keys of a table."""
        return [] if node is None else list(self._table(node))

    def requirements(self, asked: ast.expr) -> list[str]:
        """Return the lines of a requirements file that mean the same; raises UsageError where nothing can be read."""
        lines: list[str] = []
        unread: list[ast.expr] = []
        for item in self._items(asked, frozenset()):
            found = self.texts(item)
            lines += [line for text in found for line in text.splitlines()]
            if not found:
                files = list(dict.fromkeys(self._files(item)))
                lines += [f"-r {file}" for file in files]
                self.notes += [f"taken from {file}, which line {item.lineno} names" for file in files]
                unread += [] if files else [item]
        if unread and not lines:
            raise UsageError(
                "setup.py requires what is known only when it runs",
                "wanted install_requires as texts in the file, which is read and never run; found in line "
                f"{unread[0].lineno}: {ast.unparse(unread[0])}",
                "install it once elsewhere and take its freeze: pip freeze > freeze.txt; envmgr init --from freeze.txt",
            )
        self.notes += [
            f"left out: {ast.unparse(each)} in line {each.lineno} is known only when it runs" for each in unread
        ]
        return lines

    def _items(self, node: ast.expr, seen: frozenset[str]) -> Iterator[ast.expr]:
        """Yield the entries of a list, of what it is made of, and of what is added to it."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                for item in items:
                    yield from self._items(item.value, seen) if isinstance(item, ast.Starred) else (item,)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if is_list(node, self.known) or not self.texts(node):
                yield from self._items(left, seen)
                yield from self._items(right, seen)
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _PASSING:
                yield from self._items(inner, seen)
            case ast.Subscript(value=table, slice=ast.Constant(value=key)) if key in self._table(table):
                yield from self._items(self._table(table)[str(key)], seen)
            case ast.Name(id=name) if name in self.known and name not in seen:
                yield from self._items(self.known[name], seen | {name})
                yield from self._later(name, seen | {name})
            case _:
                yield node

    def _later(self, name: str, seen: frozenset[str]) -> Iterator[ast.expr]:
        for addition in self.additions.get(name, ()):
            if addition.always:
                yield from self._items(addition.value, seen)
            else:
                what = ast.unparse(addition.value).strip("[]")
                self.notes.append(f"left out: line {addition.value.lineno} adds {what} only under a condition")

    def _table(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> dict[str, ast.expr]:
        """Return a table with its keys as texts: `{...}`, `dict(...)`, or a name for one."""
        match node:
            case ast.Dict(keys=keys, values=values):
                named = ((self.text(key), value) for key, value in zip(keys, values, strict=True))
                return {key: value for key, value in named if key}
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                return {each.arg: each.value for each in keywords if each.arg}
            case ast.Name(id=name) if name in self.known and name not in seen:
                return self._table(self.known[name], seen | {name})
            case _:
                return {}

    def _files(self, node: ast.expr) -> Iterator[str]:
        """Yield the files beside, as requirements are kept in, that an expression and what it calls name."""
        texts = list(self._constants(node, frozenset()))
        for number, text in enumerate(texts):
            if text.endswith(_FILES):
                paths = (text, "/".join(texts[max(0, number - 1) : number + 1]))
                yield from [path.removeprefix("./") for path in paths if path.removeprefix("./") in self.others][:1]

    def _constants(self, node: ast.AST, seen: frozenset[str]) -> Iterator[str]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        inner: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Name) and node.id not in seen:
            seen |= {node.id}
            inner += [each for each in (self.known.get(node.id), self.functions.get(node.id)) if each is not None]
        if isinstance(node, ast.expr):
            inner += self.opened.get(node, ())
        for each in inner:
            yield from self._constants(each, seen)


def _beside(others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return what the files say that setuptools reads besides; nothing is asked for where none of them does."""
    for name, read in (("setup.cfg", read_setup_config), ("pyproject.toml", read_pyproject)):
        drafts = read(others[name], others) if name in others else ()
        if any(draft.requirements for draft in drafts):
            return tuple(replace(draft, notes=(f"taken from {name}", *draft.notes)) for draft in drafts)
    return ()


def _named(function: ast.expr) -> str:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a statement gives a value, with it."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case _:
            return


def _added(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of the lists that a statement adds to, with what it adds as a list."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            yield name, value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb), args=[*_, value])):
            if verb in _GROWING:
                yield name, value if verb == "extend" else ast.copy_location(ast.List([value], ast.Load()), value)
        case _:
            return
