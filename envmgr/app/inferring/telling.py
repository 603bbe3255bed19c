"""What a search has found: what was chosen and why, what was never reachable, what only a run would tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envmgr.app.inferring.quest import Attempt, Quest
from envmgr.app.inferring.reading import Reading
from envmgr.diagnose.requirement import read_line
from envmgr.model.finding import Experiment
from envmgr.model.inference import Clock, Inference, ModuleOrigin, Proof


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that led to a result."""

    reading: Reading
    origins: tuple[ModuleOrigin, ...]
    clocks: tuple[Clock, ...]
    quest: Quest
    experiments: tuple[Experiment, ...]


def tell(story: Story, best: Attempt, sources: tuple[str, ...]) -> Inference:
    """Return the result; `sources` are the distributions that were built from source."""
    quest = story.quest
    return Inference(
        scripts=tuple(script.name for script in story.reading.scripts),
        syntax=_syntax(story),
        imports=tuple(each for surface in story.reading.surfaces for each in surface.imports),
        modules=_modules(story, best),
        clocks=story.clocks,
        python=best.world.python,
        requirements=tuple(_pinned(line, best) for line in best.world.requirements),
        exclude_newer=best.world.exclude_newer,
        variables=dict(best.world.variables.set),
        resolved=best.seen.resolved,
        sources=sources,
        why=(_era_why(story, best), *quest.why),
        proof=best.proof or Proof(passed=best.passed),
        experiments=story.experiments,
        unreachable=tuple(_unreachable(story, best)),
        open=tuple(_open(story, best)),
    )


def _syntax(story: Story) -> str:
    limits = [f">={script.syntax.lowest}" for script in story.reading.everything if script.syntax.lowest]
    limits += [f"<={script.syntax.highest}" for script in story.reading.everything if script.syntax.highest]
    return ",".join(dict.fromkeys(limits))


def _modules(story: Story, best: Attempt) -> tuple[ModuleOrigin, ...]:
    """Return the origins with the distributions that were installed, and which modules none turned out to have."""
    chosen = {
        one.module: next((name for name in one.candidates if name in best.seen.resolved), "")
        for one in story.quest.wanted
    }
    found = []
    for origin in story.origins:
        lost = story.quest.unreachable.get(origin.module)
        if lost and origin.kind == "distribution":
            found.append(ModuleOrigin(module=origin.module, kind="unreachable", why=lost))
        elif chosen.get(origin.module):
            found.append(origin.model_copy(update={"distribution": chosen[origin.module]}))
        else:
            found.append(origin)
    return tuple(found)


def _pinned(line: str, best: Attempt) -> str:
    read = read_line(line)
    version = best.seen.resolved.get(read.key) if read else None
    return f"{read.key}=={version}" if read and version else line


def _era_why(story: Story, best: Attempt) -> str:
    era = best.era
    if not best.world.requirements:
        return f"Python {era.python} has everything of its own"
    time = f"releases up to {era.day}" if era.day else "the newest releases"
    clock = next((each for each in story.clocks if each.day), None)
    told = f"{clock.where} says {clock.says} ({clock.day})" if clock else "nothing tells its age"
    result = "have every name that is used" if best.passed else "lack the fewest names"
    return f"{time} on Python {era.python} {result}; {told}"


def _unreachable(story: Story, best: Attempt) -> Iterator[str]:
    yield from (f"{name}: {why}" for name, why in (story.quest.unreachable | story.quest.lost).items())
    for each in best.proof.missing if best.proof else ():
        if each.required:
            yield f"{each.name}: {each.why}"


def _open(story: Story, best: Attempt) -> Iterator[str]:
    """Yield what no look at names can tell."""
    for each in best.proof.missing if best.proof else ():
        if not each.required and each.name not in story.quest.lost:
            yield f"{each.name} is not there; it is optional, or asked for only in a function ({each.why})"
    for surface in story.reading.surfaces:
        for found in surface.imports:
            if "*" in found.names:
                yield f"which names come from `from {found.module} import *`"
    yield from (f"{name}, which was left out: it is no Python in UTF-8" for name in story.reading.left_out)
    for script in story.reading.everything:
        lost = [name for name in script.surface.relative if name.split(".")[0] not in story.reading.local]
        yield from (f"{name}, which {script.name} takes from its own package: it is not beside it" for name in lost)
    for clock in story.clocks:
        if clock.kind == "model" and "Lambda" in clock.says:
            yield f"{clock.where}: {clock.says}"
    yield "arguments and results of calls, attributes of objects, data and weights: envmgr infer --run runs the script"
