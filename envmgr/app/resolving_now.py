"""What requirements give today, compared with what they gave when something was measured."""

from __future__ import annotations

from envmgr.app.experiments.commands import source_arguments
from envmgr.app.workplace import Workplace
from envmgr.diagnose.requirement import pins, with_line
from envmgr.model.finding import World
from envmgr.model.host import HostFacts
from envmgr.ports import ProcessRequest

_SECONDS = 60.0


def drifted(workplace: Workplace, asked: World, then: World, facts: HostFacts) -> World:
    """Return what was asked for, with pins for what has another version today than `then` (a pinned world).

    What cannot be resolved today is left as it was asked for: that may be the very question.
    """
    here = [one for one in facts.interpreters if asked.python in {one.version, one.minor}]
    if not here or asked.steps:
        return asked
    argv = [str(workplace.uv), "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python"]
    argv += [here[0].executable, *source_arguments(workplace.caller.environment)]
    argv += ["--exclude-newer", asked.exclude_newer] if asked.exclude_newer else []
    argv += [word for index in asked.index for word in ("--index", index.url)]
    environment = {**workplace.caller.environment, "UV_CACHE_DIR": str(workplace.uv_cache)}
    text = "\n".join(asked.requirements) + "\n"
    done = workplace.process.run(ProcessRequest((*argv, "-"), env=environment, stdin=text, timeout=_SECONDS))
    if not done.good:
        return asked
    now, before = pins(done.stdout.splitlines()), pins(then.requirements)
    moved = {name: version for name, version in before.items() if now.get(name) != version}
    lines = asked.requirements
    for name, version in moved.items():
        lines = with_line(lines, f"{name}=={version}")
    return asked.model_copy(update={"requirements": lines})
