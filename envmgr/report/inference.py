"""What was inferred, as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from envmgr.model.inference import Inference
from envmgr.report.text import clean

_MOST_CLOCKS = 6
_MOST_NAMES = 8


def show(inference: Inference) -> None:
    """Print what was chosen and why, what was never reachable, and what only a run would tell."""
    console = Console(highlight=False, soft_wrap=True)
    for line in lines_of(inference):
        console.print(line, markup=False)


def lines_of(inference: Inference) -> tuple[str, ...]:
    """Return the lines that tell an inference, the choice first."""
    return tuple(clean(line) for line in _lines(inference))


def _lines(inference: Inference) -> Iterator[str]:
    day = f" as of {inference.exclude_newer}" if inference.exclude_newer else ""
    things = ", ".join(inference.requirements) or "nothing to install, and so no manifest to write"
    yield f"found      Python {inference.python}{day}: {things}"
    yield from (f"because    {line}" for line in inference.why)
    yield from (f"clock      {each.where}: {each.says}" for each in inference.clocks[:_MOST_CLOCKS])
    for origin in inference.modules:
        if origin.kind == "distribution":
            yield f"module     {origin.module} from {origin.distribution}"
        elif origin.kind in {"local", "unreachable", "python-2"}:
            yield f"module     {origin.module} is {origin.kind.replace('-', ' ')}: {origin.why}"
    yield _proof(inference)
    yield from (f"missing    {each}" for each in inference.unreachable)
    if inference.proof.ran:
        yield f"ran        {inference.proof.ran}"
    yield from (f"only a run {each}" for each in inference.open[:_MOST_NAMES])
    for each in inference.experiments:
        reason = f": {each.reason[:120]}" if each.reason else ""
        yield f"tried      {each.change} -> {each.outcome} ({each.seconds:.1f} s){reason}"
    yield from (f"written    {each}" for each in inference.written)


def _proof(inference: Inference) -> str:
    proof = inference.proof
    counts = f"{len(proof.imported)} modules imported, {len(proof.resolved)} names looked up"
    lacking = sum(each.required for each in proof.missing)
    where = " in the locked environment" if proof.locked else ""
    return f"proof      {counts}, " + (f"all there: proved{where}" if proof.passed else f"{lacking} not there{where}")
