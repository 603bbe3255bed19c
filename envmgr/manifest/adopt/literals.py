"""Texts that stand in a Python file: read from its syntax, never run."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping


def texts_of(node: ast.expr, known: Mapping[str, ast.expr]) -> Iterator[str]:  # noqa: C901 - one case a kind of node
    """Yield the texts that an expression stands for, as far as they can be read without running it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from texts_of(item, known)
        case ast.Starred(value=value):
            yield from texts_of(value, known)
        case ast.Name(id=name) if name in known:
            yield from texts_of(known[name], {key: value for key, value in known.items() if key != name})
        case (
            ast.Subscript(value=listed, slice=ast.Constant(value=int(place)))
            | ast.Subscript(value=listed, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))))
        ) if is_list(listed, known):
            found = list(texts_of(listed, known))
            yield from found[-place:][:1] if isinstance(node.slice, ast.UnaryOp) else found[place:][:1]
        case ast.JoinedStr(values=parts):
            yield from _joined([list(texts_of(part, known)) for part in parts])
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            yield from texts_of(value, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = [list(texts_of(left, known)), list(texts_of(right, known))]
            yield from [*sides[0], *sides[1]] if is_list(node, known) else _joined(sides)
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            yield from _filled(left, right.elts if isinstance(right, ast.Tuple) else [right], [], known)
        case ast.Call(func=ast.Attribute(value=template, attr="format"), args=values, keywords=keywords):
            yield from _filled(template, values, keywords, known)
        case _:
            return


def is_list(node: ast.expr, known: Mapping[str, ast.expr]) -> bool:
    """Tell whether an expression is a list, or a sum of them, as far as it can be read without running it."""
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            return True
        case ast.Name(id=name) if name in known:
            return is_list(known[name], {key: value for key, value in known.items() if key != name})
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_list(left, known) or is_list(right, known)
        case _:
            return False


def _joined(parts: list[list[str]]) -> Iterator[str]:
    """Yield the text of several expressions, if each of them stands for one."""
    if all(len(part) == 1 for part in parts):
        yield "".join(text for part in parts for text in part)


def _filled(
    template: ast.expr, values: Iterable[ast.expr], keywords: Iterable[ast.keyword], known: Mapping[str, ast.expr]
) -> Iterator[str]:
    """Yield a template with its places (`{}`, `{0}`, `{name}`, `%s`) filled, if all that is put there is known."""
    named = [
        *((str(number), value) for number, value in enumerate(values)),
        *((one.arg, one.value) for one in keywords),
    ]
    found = {key: list(texts_of(value, known)) for key, value in named}
    texts = list(texts_of(template, known))
    if len(texts) != 1 or any(len(each) != 1 for each in found.values()):
        return
    numbers = itertools.count()
    text = re.sub(r"\{\}|%s", lambda _: f"{{{next(numbers)}}}", texts[0])
    filled = re.sub(r"\{(\w+)\}", lambda place: found.get(place[1], [place[0]])[0], text)
    if "{" not in filled:
        yield filled
