"""The import surface of a script: what it imports, how badly it needs each, and the names it uses from each module."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from envmgr.model.inference import Necessity, ScriptImport

_IMPORT_FAULTS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_NAME_FAULTS = {"AttributeError", "Exception", "BaseException"}
_VERSION_WORDS = {"version_info", "PY2", "PY3", "TYPE_CHECKING", "hexversion", "python_version"}


@dataclass(frozen=True, slots=True)
class Use:
    """A chain of names that a script looks up from a module: `numpy` and (`linalg`, `norm`)."""

    module: str
    path: tuple[str, ...]
    required: bool = True
    line: int = 0

    @property
    def name(self) -> str:
        """The chain as it reads."""
        return ".".join((self.module, *self.path))


@dataclass(frozen=True, slots=True)
class Surface:
    """What a script takes from elsewhere.

    `groups` are alternatives behind `except ImportError`: in each one branch of imports suffices. `relative` are the
    modules that it imports from its own package.
    """

    imports: tuple[ScriptImport, ...] = ()
    groups: tuple[tuple[tuple[ScriptImport, ...], ...], ...] = ()
    uses: tuple[Use, ...] = ()
    relative: tuple[str, ...] = ()

    @property
    def tops(self) -> tuple[str, ...]:
        """Every top-level module that is imported, in order."""
        return tuple(dict.fromkeys(each.module.split(".")[0] for each in self.imports))


def surface_of(tree: ast.Module, script: str = "") -> Surface:
    """Return the surface of a parsed script."""
    reader = _Reader(script)
    reader.visit(tree)
    groups: dict[int, dict[int, list[ScriptImport]]] = {}
    for group, branch, found in reader.grouped:
        groups.setdefault(group, {}).setdefault(branch, []).append(found)
    alternatives = tuple(tuple(tuple(branch) for branch in each.values()) for each in groups.values())
    return Surface(tuple(reader.imports), alternatives, tuple(_uses(tree, reader)), tuple(reader.relative))


@dataclass(slots=True)
class _Binding:
    """What a name in the script stands for."""

    module: str
    path: tuple[str, ...]
    necessity: Necessity


@dataclass
class _Reader(ast.NodeVisitor):
    """Walks over a script and notes imports with the circumstances they stand in."""

    script: str
    imports: list[ScriptImport] = field(default_factory=list)
    grouped: list[tuple[int, int, ScriptImport]] = field(default_factory=list)
    relative: list[str] = field(default_factory=list)
    bindings: dict[str, list[_Binding]] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)
    lenient: set[int] = field(default_factory=set)
    _depth: int = 0
    _optional: int = 0
    _group: int = -1
    _branch: int = 0
    _groups: int = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            necessity = self._note(alias.name, (), node.lineno)
            bound = alias.asname or alias.name.split(".")[0]
            module = alias.name if alias.asname else alias.name.split(".")[0]
            self._bind(bound, _Binding(module, (), necessity))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            self.relative += [node.module] if node.module else [alias.name for alias in node.names]
            self.rebound |= {alias.asname or alias.name for alias in node.names}
            return
        if node.module is None or node.module == "__future__":
            return
        necessity = self._note(node.module, tuple(alias.name for alias in node.names), node.lineno)
        for alias in node.names:
            if alias.name != "*":
                self._bind(alias.asname or alias.name, _Binding(node.module, (alias.name,), necessity))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._enter(node, node.args)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node, node.args)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._enter(node, node.args)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.rebound.add(node.name)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.rebound.add(node.id)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.rebound.add(node.name)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        words = {
            child.attr if isinstance(child, ast.Attribute) else child.id
            for child in ast.walk(node.test)
            if isinstance(child, ast.Attribute | ast.Name)
        }
        if words & ({"hasattr"} | _VERSION_WORDS):
            self.lenient |= {id(child) for child in ast.walk(node)}
        self.visit(node.test)
        self._branches((node.body, node.orelse), optional=bool(words & _VERSION_WORDS))

    def visit_Try(self, node: ast.Try) -> None:
        caught = {name for handler in node.handlers for name in _caught(handler)}
        if caught & _NAME_FAULTS:
            self.lenient |= {id(child) for part in node.body for child in ast.walk(part)}
        if not caught & _IMPORT_FAULTS:
            self.generic_visit(node)
            return
        handlers = [handler for handler in node.handlers if _caught(handler) & _IMPORT_FAULTS]
        if any(_imports(handler.body) for handler in handlers):
            self._alternatives(node)
        elif all(_gives_up(handler.body) for handler in handlers):
            self.generic_visit(node)
        else:
            self._branches((node.body,), optional=True)
            for part in (*node.handlers, *node.orelse, *node.finalbody):
                self.visit(part)

    def _alternatives(self, node: ast.Try) -> None:
        outer = self._group
        if outer < 0:
            self._group, self._groups, self._branch = self._groups, self._groups + 1, 0
        for part in (*node.body, *node.orelse):
            self.visit(part)
        for handler in node.handlers:
            self._branch += 1
            self.visit(handler)
        self._group = outer
        for part in node.finalbody:
            self.visit(part)

    def _branches(self, bodies: Iterable[list[ast.stmt]], *, optional: bool) -> None:
        self._optional += optional
        for body in bodies:
            for part in body:
                self.visit(part)
        self._optional -= optional

    def _enter(self, node: ast.AST, arguments: ast.arguments) -> None:
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self.rebound |= {one.arg for one in listed if one is not None}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.rebound.add(node.name)
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    def _note(self, module: str, names: tuple[str, ...], line: int) -> Necessity:
        necessity: Necessity = "required"
        if self._depth:
            necessity = "function"
        elif self._optional:
            necessity = "optional"
        elif self._group >= 0:
            necessity = "alternative"
        found = ScriptImport(module=module, names=names, line=line, necessity=necessity, script=self.script)
        self.imports.append(found)
        if necessity == "alternative":
            self.grouped.append((self._group, self._branch, found))
        return necessity

    def _bind(self, name: str, binding: _Binding) -> None:
        self.bindings.setdefault(name, []).append(binding)


def _uses(tree: ast.Module, reader: _Reader) -> Iterator[Use]:
    """Yield each chain of attributes that begins with an imported name that means one thing only, once."""
    seen: dict[tuple[str, tuple[str, ...]], Use] = {}
    inner: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or id(node) in inner or not isinstance(node.ctx, ast.Load):
            continue
        names: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            inner.add(id(base))
            names.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name) or base.id in reader.rebound:
            continue
        meanings = {(each.module, each.path) for each in reader.bindings.get(base.id, ())}
        if len(meanings) != 1:
            continue
        module, path = next(iter(meanings))
        needed = (
            any(each.necessity == "required" for each in reader.bindings[base.id]) and id(node) not in reader.lenient
        )
        use = Use(module, (*path, *reversed(names)), needed, node.lineno)
        before = seen.get((use.module, use.path))
        if before is None or (needed and not before.required):
            seen[use.module, use.path] = use
    yield from seen.values()


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {
        kind.id if isinstance(kind, ast.Name) else kind.attr
        for kind in kinds
        if isinstance(kind, ast.Name | ast.Attribute)
    }


def _imports(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Import | ast.ImportFrom) for part in body for node in ast.walk(part))


def _gives_up(body: list[ast.stmt]) -> bool:
    """Tell whether a handler ends the script: it raises, or calls something named exit or quit."""
    for node in (node for part in body for node in ast.walk(part)):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in {"exit", "_exit", "quit", "abort"}:
                return True
    return False
