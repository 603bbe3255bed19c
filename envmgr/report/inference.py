"""What was inferred, as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from rich.console import Console

from envmgr.model.inference import Inference
from envmgr.report.text import clean

_MOST_SCRIPTS = 2
_MOST_CLOCKS = 6
_MOST_NAMES = 8


def show(inference: Inference) -> None:
    """Print what was chosen and why, what was never reachable, and what only a run would tell."""
    console = Console(highlight=False, soft_wrap=True)
    for line in lines_of(inference):
        console.print(line, markup=False)


def lines_of(inference: Inference) -> tuple[str, ...]:
    """Return the lines that tell an inference, the result first and what to do next last."""
    return tuple(clean(line) for line in _lines(inference))


def _lines(inference: Inference) -> Iterator[str]:
    yield f"result     {_result(inference)}"
    yield f"found      Python {inference.python}: {', '.join(inference.requirements) or 'nothing to install'}"
    yield from (f"because    {line}" for line in inference.why)
    yield from (f"age        {each.where}: {each.says}" for each in inference.clocks[:_MOST_CLOCKS])
    for origin in inference.modules:
        if origin.kind == "distribution" and origin.module.lower() != origin.distribution:
            yield f"module     {origin.module} comes from {origin.distribution}"
        elif origin.kind in {"local", "unreachable", "python-2"}:
            yield f"module     {origin.module} is {origin.kind.replace('-', ' ')}: {origin.why}"
    yield _proof(inference)
    yield from (f"missing    {each}" for each in inference.unreachable)
    if inference.proof.ran:
        yield f"ran        {inference.proof.ran}"
    yield from (f"not known  {each}" for each in inference.open[:_MOST_NAMES])
    for each in inference.experiments:
        reason = f": {each.reason[:120]}" if each.reason else ""
        yield f"tried      {each.change} -> {each.outcome} ({each.seconds:.1f} s){reason}"
    yield from (f"written    {each}" for each in inference.written)
    yield from _next(inference)


def _result(inference: Inference) -> str:
    few = len(inference.scripts) <= _MOST_SCRIPTS
    scripts = " and ".join(inference.scripts) if few else f"{len(inference.scripts)} scripts"
    lacking = sum(each.required for each in inference.proof.missing)
    if not inference.proof.passed:
        return f"the nearest environment that was found for {scripts}; names still missing in it: {lacking or 'all'}"
    if not inference.requirements:
        return f"nothing has to be installed for {scripts}, so no manifest was written"
    but = ", but for what is listed as missing" if inference.unreachable else ""
    return f"an environment in which every module and name that is used in {scripts} is there{but}"


def _next(inference: Inference) -> Iterator[str]:
    manifests = [PurePath(each) for each in inference.written if each.endswith(".toml")]
    if not manifests:
        return
    name = manifests[0].stem
    locks = [PurePath(each) for each in inference.written if each.endswith(".txt")]
    platform = locks[0].stem.removeprefix("default-") if locks else "this platform"
    yield f"locked     for {platform} alone; for another: envmgr lock {name} --platform PLATFORM"
    yield f"next       envmgr run {name} -- python {inference.scripts[0]}"


def _proof(inference: Inference) -> str:
    proof = inference.proof
    counts = f"{len(proof.imported)} modules imported, {len(proof.resolved)} names looked up"
    lacking = sum(each.required for each in proof.missing)
    where = " in the locked environment" if proof.locked else ""
    return f"proof      {counts}, " + (f"all there: proved{where}" if proof.passed else f"{lacking} not there{where}")
