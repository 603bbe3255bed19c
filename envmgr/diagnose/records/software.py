"""What any traceback tells: a missing module, a lost name, families apart, variables that take part."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envmgr.diagnose.knowledge import (
    cap_for_lost_module,
    distributions_for,
    families,
    in_standard_library,
    last_python_with,
)
from envmgr.diagnose.records.record import Judgement, Record, older
from envmgr.diagnose.requirement import version_of
from envmgr.model.finding import Cause, Fix, Variables
from envmgr.model.outcome import Phase
from envmgr.model.redaction import shown_variable


def judge(record: Record) -> Iterator[Judgement]:
    """Accuse what the text's last exception and the versions accuse."""
    yield from _pythons(record)
    yield from _missing(record)
    yield from _lost(record)
    yield from _families(record)
    yield from _variables(record)
    yield from _where_it_broke(record)


def _pythons(record: Record) -> Iterator[Judgement]:
    sought = [*record.reading.names, *((module, "") for module in record.reading.modules)]
    for module, name in reversed(sought):
        last = last_python_with(module, name)
        if last and record.python_minor and older(last, record.python_minor):
            what = f"{module}.{name}" if name else module
            why = f"Python {record.python_minor} has no {what} any more; {last} was the last that had it"
            yield Judgement(
                Cause(kind="python", name=record.python_minor, why=why), 0.8, Phase.IMPORT, Fix(python=last)
            )


def _missing(record: Record) -> Iterator[Judgement]:
    if not record.reading.modules:
        return
    top = record.reading.missing.split(".")[0]
    distribution, first_without = cap_for_lost_module(top)
    name = distribution or distributions_for(top)[0]
    if in_standard_library(top) and not distribution:
        return
    line = f"{name}<{first_without}" if first_without else name
    why = f"the module {record.reading.missing} is not there; {line} brings it"
    fix = Fix(requirements=(*record.requirements, line))
    yield Judgement(Cause(kind="missing", name=name, why=why), 0.7, Phase.IMPORT, fix)


def _lost(record: Record) -> Iterator[Judgement]:
    for module, name in reversed(record.reading.names):
        top = module.split(".")[0]
        owners = [owner for owner in (top, *distributions_for(top)) if owner in record.names]
        if top and not last_python_with(module, name):
            owner = owners[0] if owners else distributions_for(top)[0]
            why = f"{module} of {record.told(owner)} has no {name}"
            yield Judgement(Cause(kind="package", name=owner, why=why), 0.6, Phase.IMPORT)


def _families(record: Record) -> Iterator[Judgement]:
    for how, members, why in families():
        there = {name: record.version(name) for name in record.names if name in members and record.version(name)}
        if how == "same_version" and len(set(there.values())) > 1:
            said = " beside ".join(f"{name} {version}" for name, version in there.items())
            oldest = min(there.values(), key=lambda version: version_of(version) or Version("0"))
            pins = tuple(f"{name}=={oldest}" for name in there)
            fix = Fix(requirements=pins)
            yield Judgement(Cause(kind="package", name=min(there), why=f"{said}: {why}"), 0.75, Phase.VERIFY, fix)


def _variables(record: Record) -> Iterator[Judgement]:
    for name, value in record.env.items():
        if name in record.reading.variables or (len(value) > 5 and value in record.reading.message):
            shown = shown_variable(name, value)
            fix = Fix(env=Variables(unset=(name,)))
            yield Judgement(
                Cause(kind="env-state", name=name, why=f"{shown} takes part"), 0.5, Phase.RUN, fix, facts=(shown,)
            )


def _where_it_broke(record: Record) -> Iterator[Judgement]:
    for frame in reversed(record.reading.frames):
        owner = record.owner(frame.file)
        if owner:
            why = f"it breaks in {record.told(owner)} ({record.reading.message[:160]})"
            yield Judgement(Cause(kind="package", name=owner, why=why), 0.3)
            return
