"""tox.ini."""

from __future__ import annotations

import configparser
import itertools
import re
from collections.abc import Iterable, Mapping

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, settle
from envmgr.manifest.adopt.requirements import read_requirements


def read_tox(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each set of factors that differ in more than the Python, named by those factors."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise UsageError("tox.ini cannot be read", str(error), "mend it first") from None
    head = parser["tox"] if parser.has_section("tox") else {}
    names = _expanded(head.get("envlist") or head.get("env_list") or "")
    names += [section.removeprefix("testenv:") for section in parser.sections() if section.startswith("testenv:")]
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names or ["py"]):
        factors = name.split("-")
        rest = "-".join(factor for factor in factors if not minor_of(factor) and factor != "py")
        groups.setdefault(rest, []).append(name)
    drafts = [_draft(parser, rest, members, others) for rest, members in groups.items()]
    return tuple(draft for draft in drafts if draft.requirements)


def _draft(parser: configparser.ConfigParser, rest: str, members: list[str], others: Mapping[str, str]) -> Draft:
    pythons = [minor_of(factor) for name in members for factor in name.split("-") if minor_of(factor)]
    section = next((f"testenv:{name}" for name in (*members, rest) if parser.has_section(f"testenv:{name}")), "testenv")
    asked = _setting(parser, section, "deps")
    base = minor_of(_setting(parser, section, "basepython") or _setting(parser, section, "base_python"))
    factors = frozenset(rest.split("-"))
    notes: list[str] = []
    lines = [line for text in asked.splitlines() for line in _chosen(_substituted(parser, text, notes), factors)]
    inner, *_ = read_requirements("\n".join(lines), others)
    kept, unusable = settle(inner.requirements)
    specifier, variants = python_of_many(pythons or ([base] if base else []))
    return Draft(
        requirements=kept,
        name=rest,
        python=specifier,
        pythons=variants,
        constraints=inner.constraints,
        notes=(*notes, *inner.notes, *unusable),
    )


def _setting(parser: configparser.ConfigParser, section: str, key: str) -> str:
    for place in (section, "testenv"):
        if parser.has_option(place, key):
            return parser.get(place, key)
    return ""


def _substituted(parser: configparser.ConfigParser, line: str, notes: list[str]) -> str:
    """Return a line with the dependencies of another section in the place of `{[section]key}`."""
    found = re.fullmatch(r"\s*\{\[([^\]]+)\](\w+)\}\s*", line)
    if found and parser.has_option(found[1], found[2]):
        return parser.get(found[1], found[2])
    if "{" in re.sub(r"\{[\w,.-]+\}:", "", line) and not line.strip().startswith("-r{toxinidir}"):
        notes.append(f"left out: {line.strip()}")
        return ""
    return line.replace("{toxinidir}/", "").replace("-r", "-r ", 1) if line.strip().startswith("-r") else line


def _chosen(text: str, factors: frozenset[str]) -> Iterable[str]:
    """Yield the lines that hold for some factors: `django42,django50: requirement`, `!lint: requirement`."""
    for line in text.splitlines():
        condition, colon, requirement = line.strip().partition(": ")
        if not colon or not re.fullmatch(r"[\w!{},.-]+", condition):
            yield line.strip()
        elif any(_holds(alternative, factors) for alternative in _expanded(condition)):
            yield requirement.strip()


def _holds(alternative: str, factors: frozenset[str]) -> bool:
    wanted = [part for part in alternative.split("-") if not minor_of(part.lstrip("!"))]
    return all((part[1:] not in factors) if part.startswith("!") else part in factors for part in wanted)


def _expanded(text: str) -> list[str]:
    """Return the names that a generative list means.

    >>> _expanded("py{38,39}-django{42,50}, lint")
    ['py38-django42', 'py38-django50', 'py39-django42', 'py39-django50', 'lint']
    """
    names: list[str] = []
    for entry in re.split(r"[,\s]+(?![^{]*\})", re.sub(r"\s*([{},])\s*", r"\1", text.strip())):
        parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"(\{[^}]*\})", entry)]
        names += ["".join(each) for each in itertools.product(*parts) if "".join(each)]
    return names
