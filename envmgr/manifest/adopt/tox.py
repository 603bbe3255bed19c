"""tox.ini."""

from __future__ import annotations

import configparser
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, with_all_notes
from envmgr.manifest.adopt.requirements import read_requirements

COMMANDS_LEFT = "not taken over: the commands; envmgr run NAME -- CMD… runs them"
PROJECT_LEFT = "not taken over: the project itself and what it depends on, which tox installs beside these"
_OTHER_PYTHON = re.compile(r"(pypy|jython|graalpy)[\d.]*")


def read_tox(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each set of factors that differ in more than the Python, named by those factors."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise UsageError("tox.ini cannot be read", str(error), "mend it first") from None
    head = parser["tox"] if parser.has_section("tox") else {}
    names = _expanded(head.get("envlist") or head.get("env_list") or "")
    sections = {
        name: section
        for section in parser.sections()
        if section.startswith("testenv:")
        for name in _expanded(section.removeprefix("testenv:"))
    }
    names += sections
    groups: dict[str, list[str]] = {}
    notes: list[str] = []
    for name in dict.fromkeys(names or ["py"]):
        if is_of_another_python(name):
            notes.append(f"left out: {name}, as envmgr builds environments of CPython")
        else:
            groups.setdefault(without_python(name), []).append(name)
    drafts = [
        _draft(
            parser,
            next((sections[name] for name in (*members, rest) if name in sections), "testenv"),
            rest,
            members,
            others,
        )
        for rest, members in groups.items()
    ]
    first, *rest = with_all_notes(drafts) or (Draft(()),)
    return (replace(first, notes=(*notes, *first.notes)), *rest)


def is_of_another_python(name: str) -> bool:
    """Tell whether an environment of tox is for an interpreter that is not CPython."""
    return any(_OTHER_PYTHON.fullmatch(factor) for factor in name.split("-"))


def without_python(name: str) -> str:
    """Return the factors of an environment's name that are no Python: what tells one manifest from another."""
    return "-".join(factor for factor in name.split("-") if not minor_of(factor) and factor not in {"py", "py3"})


def pythons_in(names: Iterable[str]) -> list[str]:
    """Return the minor versions that the names of environments ask for."""
    return [minor_of(factor) for name in names for factor in name.split("-") if minor_of(factor)]


def _draft(
    parser: configparser.ConfigParser, section: str, rest: str, members: list[str], others: Mapping[str, str]
) -> Draft:
    pythons = pythons_in(members)
    asked = _setting(parser, section, "deps")
    base = minor_of(_setting(parser, section, "basepython", "base_python"))
    factors = frozenset(rest.split("-"))
    notes: list[str] = []
    variables = dict(_variables(_setting(parser, section, "setenv", "set_env"), factors, notes))
    if _setting(parser, section, "commands"):
        notes.append(COMMANDS_LEFT)
    if not _is_true(_setting(parser, section, "skip_install") or _setting(parser, "tox", "skipsdist", "no_package")):
        extras = " ".join(_setting(parser, section, "extras").split())
        notes.append(PROJECT_LEFT + (f", nor are its extras {extras}" if extras else ""))
    notes += [f"not taken over: {key}" for key in ("dependency_groups", "pip_pre") if _setting(parser, section, key)]
    lines = [line for text in asked.splitlines() for line in _chosen(_substituted(parser, text, notes), factors)]
    inner, *_ = read_requirements("\n".join(lines), others)
    specifier, variants = python_of_many(pythons or ([base] if base else []))
    notes += inner.notes
    return replace(inner, name=rest, python=specifier, pythons=variants, variables=variables, notes=tuple(notes))


def _setting(parser: configparser.ConfigParser, section: str, *keys: str) -> str:
    """Return what a section says under the first of some keys, or else what all environments have."""
    places = ((place, key) for place in (section, "testenv") for key in keys)
    return next((parser.get(place, key) for place, key in places if parser.has_option(place, key)), "")


def _is_true(text: str) -> bool:
    return text.strip().lower() in {"1", "true", "yes", "on"}


def _variables(text: str, factors: frozenset[str], notes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are set to a plain text, or that have one where the caller has not set them."""
    for line in _chosen(text, factors):
        if not line:
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        default = re.fullmatch(r"\{env:\w+:([^{}]*)\}", value)
        value = default[1] if default else value
        if equals and re.fullmatch(r"\w+", name) and "{" not in value:
            yield name, value
        else:
            notes.append(f"left out: the variable {line}")


def _substituted(
    parser: configparser.ConfigParser, line: str, notes: list[str], within: frozenset[str] = frozenset()
) -> str:
    """Return a line with the dependencies of another section in the place of `{[section]key}`."""
    found = re.fullmatch(r"\s*\{\[([^\]]+)\](\w+)\}\s*", line)
    if found and found[0].strip() not in within and parser.has_option(found[1], found[2]):
        lines = parser.get(found[1], found[2]).splitlines()
        return "\n".join(_substituted(parser, each, notes, within | {found[0].strip()}) for each in lines)
    line = re.sub(r"\{(toxinidir|tox_root)\}[/\\]", "", line.strip())
    line = re.sub(r"\{env:\w+:([^{}]*)\}", r"\1", line)
    if "{" in re.sub(r"^[\w!{},.-]+: ", "", line):
        notes.append(f"left out: {line}")
        return ""
    return re.sub(r"^((?:[\w!{},.-]+: )?)-([rc])\s*", r"\1-\2 ", line)


def _chosen(text: str, factors: frozenset[str]) -> Iterable[str]:
    """Yield the lines that hold for some factors: `django42,django50: requirement`, `!lint: requirement`."""
    for line in text.splitlines():
        condition, colon, requirement = line.strip().partition(": ")
        if not colon or not re.fullmatch(r"[\w!{},.-]+", condition):
            yield line.strip()
        else:
            held = [alternative for alternative in _expanded(condition) if _holds(alternative, factors)]
            yield from _for_pythons(requirement.strip(), held)


def _for_pythons(requirement: str, held: list[str]) -> Iterator[str]:
    """Yield a requirement, under a marker where all the alternatives that hold name Pythons: `py38,py39: ...`."""
    minors = [[factor for factor in each.split("-") if minor_of(factor.lstrip("!"))] for each in held]
    if held and all(minors) and not requirement.startswith("-"):
        told = [
            (minor_of(each.lstrip("!")), "!=" if each.startswith("!") else "==") for part in minors for each in part
        ]
        marker = " or ".join(f"python_version {operator} '{minor}'" for minor, operator in told)
        bare, semicolon, own = (part.strip() for part in requirement.partition(";"))
        yield f"{bare} ; ({own}) and ({marker})" if semicolon else f"{bare} ; {marker}"
    elif held:
        yield requirement


def _holds(alternative: str, factors: frozenset[str]) -> bool:
    wanted = [part for part in alternative.split("-") if not minor_of(part.lstrip("!"))]
    return all((part[1:] not in factors) if part.startswith("!") else part in factors for part in wanted)


def _expanded(text: str) -> list[str]:
    """Return the names that a generative list means.

    >>> _expanded("py{38,39}-django{42,50}, lint")
    ['py38-django42', 'py38-django50', 'py39-django42', 'py39-django50', 'lint']
    """
    names: list[str] = []
    for entry in re.split(r"[,\s]+(?![^{]*\})", re.sub(r"\s*(,)\s*|(\{)\s+|\s+(\})", r"\1\2\3", text.strip())):
        parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"(\{[^}]*\})", entry)]
        names += ["".join(each) for each in itertools.product(*parts) if "".join(each)]
    return names
