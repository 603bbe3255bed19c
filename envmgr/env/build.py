"""Builds an env at its final place, once: a marked env is finished, an unmarked folder is rubbish."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from envmgr.env.accepted import MARKER, lock_of, record_of, remember
from envmgr.env.beside import Beside
from envmgr.env.content import BuildRequest, HistoryContent, LockedContent, Tools, python_of
from envmgr.env.create import create
from envmgr.env.history import Invariants, no_invariants, play
from envmgr.env.inspect import Inspection, inspect_with_report
from envmgr.env.install import install_locked
from envmgr.env.linked import is_linked, look_at_links
from envmgr.env.recording import recipe_of
from envmgr.env.uv import forget_arguments, uv_environment
from envmgr.errors import BuildError
from envmgr.model.env import Env, StepState
from envmgr.ports import Event, Files, ProcessRequest

_SECONDS_TO_FORGET = 120.0
_SIGN = "pyvenv.cfg"
"""By this file an interpreter knows that it belongs to an env."""


def find_built(request: BuildRequest, files: Files) -> Env | None:
    """Return the env if it is built already, as seen by who asks now; no process is started."""
    text = files.read(request.folder / MARKER)
    if text is None:
        return None
    try:
        env = Env.model_validate_json(text)
    except ValidationError:
        return None
    if env.key != request.key or not files.identity(python_of(request.folder, request.interpreter.system)):
        return None
    if not files.identity(request.folder / _SIGN):
        return None
    return env.model_copy(update={"manifest": request.manifest, "variant": request.variant})


def claim_built(request: BuildRequest, files: Files) -> Env | None:
    """Return the env if it is built already, and see to it that nobody removes it while this process runs."""
    if find_built(request, files) is None:
        return None
    with files.lock(lock_of(request.folder)):
        files.claim(request.folder)
        return find_built(request, files)


def unfinish(request: BuildRequest, files: Files) -> None:
    """Let a built env count as unfinished, so that it is built again; raises BuildError while others use it."""
    with files.lock(lock_of(request.folder)):
        if files.is_claimed(request.folder):
            raise BuildError(
                f"{request.manifest} is in use",
                "wanted its environment for building it again; found another process that works in it",
                "wait for the other envmgr to end",
            )
        files.remove(request.folder / MARKER)


def build(request: BuildRequest, tools: Tools, invariants: Invariants = no_invariants) -> Env:
    """Return the built env; a second call does nothing. Raises BuildError."""
    env, _ = build_once(request, tools, invariants)
    return env


def build_once(request: BuildRequest, tools: Tools, invariants: Invariants = no_invariants) -> tuple[Env, bool]:
    """Return the built env, and whether it was this call that built it.

    One process builds while others wait for the lock and then find what it built; nobody removes it while one of them
    runs. What a failed or interrupted build leaves has no marker, can be looked at, and is removed by the next build.
    Raises BuildError.
    """
    found = claim_built(request, tools.files)
    if found is not None:
        return found, False
    with tools.files.lock(lock_of(request.folder)):
        tools.files.claim(request.folder)
        found = find_built(request, tools.files)
        return (found, False) if found is not None else (_build(request, tools, invariants), True)


def _build(request: BuildRequest, tools: Tools, invariants: Invariants) -> Env:
    started = tools.clock.monotonic()
    made = _make_sound(request, tools, invariants)
    python, found = made.python, made.found
    sharing, why = request.switches.sharing, request.switches.sharing_why
    if sharing == "hardlink" and not any(map(is_linked, found.values())):
        sharing, why = "copy", f"{why}, and the system made no hard links into {request.places.uv_cache}"
    inspection, report = made.inspected.outcome()
    tools.inspected[request.key] = inspection
    env = Env(
        key=request.key,
        manifest=request.manifest,
        variant=request.variant,
        path=str(request.folder),
        python=str(python),
        interpreter=request.interpreter,
        lock_digest=request.content.digest,
        resolved=inspection.resolved,
        steps=made.steps,
        built_at=tools.clock.now().isoformat(timespec="seconds"),
        seconds=round(tools.clock.monotonic() - started, 3),
        sharing=sharing,
        sharing_why=why,
    )
    tools.files.write(request.folder / MARKER, env.model_dump_json(by_alias=True, indent=2))
    if found:
        found[MARKER] = tools.files.facts(request.folder / MARKER)
        remember(tools.files, request.folder, found, durable=False)
    recipe = recipe_of(request, env, report, tools.files)
    if recipe is not None:
        tools.recipes[request.key] = recipe
    tools.listener.on_event(Event("built", request.manifest, request.key))
    return env


@dataclass(frozen=True, slots=True)
class _Made:
    """An env that was filled: what its interpreter tells of it, and what is in it where its files are links."""

    python: Path
    steps: tuple[StepState, ...]
    inspected: Beside[tuple[Inspection, str]]
    found: dict[str, str]
    damaged: tuple[str, ...] = ()


def _make_sound(request: BuildRequest, tools: Tools, invariants: Invariants) -> _Made:
    """Make the env; where its files are links, see to it that they are what was released.

    Of several builds that meet a damaged wheel, one brings it anew, and the others find it so.
    """
    made = _make_and_look(request, tools, invariants)
    if not made.damaged:
        return made
    made.inspected.wait()
    with tools.files.lock(request.places.envs / "mending.lock"):
        return _mended(request, made.found, tools, invariants)


def _mended(request: BuildRequest, first: dict[str, str], tools: Tools, invariants: Invariants) -> _Made:
    """Make the env once more, and bring anew what is still damaged; `first` is what was found in it before."""
    made = _make_and_look(request, tools, invariants, first)
    for cure in (_refreshing, _forgetting):
        if made.damaged:
            text = f"uv's cache holds a changed {', '.join(made.damaged)}, which is brought anew"
            tools.listener.on_event(Event("warning", request.manifest, text))
            made.inspected.wait()
            made = _make_and_look(cure(request, made.damaged, tools), tools, invariants, first)
    if made.damaged:
        made.inspected.wait()
        raise _still_damaged(request, made.damaged)
    return made


def _make_and_look(
    request: BuildRequest, tools: Tools, invariants: Invariants, before: dict[str, str] | None = None
) -> _Made:
    """Make the env and look at it; `before` is what an earlier look found.

    Its interpreter tells of it while its files are looked at: where they are links, it can change none of them.
    """
    python, steps = _make(request, tools, invariants)
    tools.listener.on_event(Event("inspect", request.manifest))
    inspected = Beside(lambda: inspect_with_report(python, tools.process, tools.files))
    if request.switches.sharing != "hardlink":
        return _Made(python, steps, inspected, {})
    try:
        found, damaged = look_at_links(request.folder, tools.files, before)
    except BaseException:
        inspected.wait()
        raise
    return _Made(python, steps, inspected, found, damaged)


def _make(request: BuildRequest, tools: Tools, invariants: Invariants) -> tuple[Path, tuple[StepState, ...]]:
    """Make the env from nothing and fill it."""
    tools.files.remove(record_of(request.folder))
    tools.files.remove(request.folder)
    tools.listener.on_event(Event("create", request.manifest, f"Python {request.interpreter.version}"))
    switches, places = request.switches, request.places
    python = create(request.interpreter, request.folder, places.app_data, switches.caller, tools.files)
    return python, _fill(request, python, tools, invariants)


def _refreshing(request: BuildRequest, damaged: tuple[str, ...], _: Tools) -> BuildRequest:
    switches = request.switches.model_copy(update={"refresh": damaged})
    return request.model_copy(update={"switches": switches})


def _forgetting(request: BuildRequest, damaged: tuple[str, ...], tools: Tools) -> BuildRequest:
    """Take out of uv's cache what it does not bring anew: wheels of folders, whose files are the same as before."""
    if not request.switches.offline:
        environment = uv_environment(request.switches, request.places.uv_cache)
        argv = forget_arguments(request.switches, damaged)
        tools.process.run(ProcessRequest(argv, env=environment, timeout=_SECONDS_TO_FORGET))
    return request


def _still_damaged(request: BuildRequest, damaged: tuple[str, ...]) -> BuildError:
    offline = " without --offline" if request.switches.offline else ""
    return BuildError(
        f"uv's cache holds a changed {', '.join(damaged)}",
        f"wanted the files that were released; found others in {request.places.uv_cache}, which uv does not bring anew",
        f"uv cache clean {' '.join(damaged)}, then build again{offline}",
        phase="install",
    )


def _fill(request: BuildRequest, python: Path, tools: Tools, invariants: Invariants) -> tuple[StepState, ...]:
    match request.content:
        case LockedContent() as content:
            install_locked(request, content, python, tools)
            return ()
        case HistoryContent() as history:
            return play(request, history, python, tools, invariants)
