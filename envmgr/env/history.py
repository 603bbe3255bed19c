"""Plays an installation history as a user typed it, and records what is really there after each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envmgr.env.content import BuildRequest, HistoryContent, Tools
from envmgr.env.inspect import inspect
from envmgr.env.trouble import interpret
from envmgr.env.uv import index_arguments, index_variables, network_environment, uv_environment
from envmgr.errors import BuildError
from envmgr.model.env import StepState
from envmgr.model.manifest import Step
from envmgr.model.redaction import redact
from envmgr.ports import Completed, Event, ProcessRequest

Invariants = Callable[[Mapping[str, str]], tuple[str, ...]]
"""Tells for installed versions (by normalised name) what does not belong together, one sentence each."""

_SEED = ("setuptools<60; python_version < '3.12'", "setuptools; python_version >= '3.12'", "wheel")
"""What an env of pip's old days had: later setuptools builds old source distributions differently, or not at all."""


class HistoryError(BuildError):
    """A step of a history failed; `states` holds what was recorded up to and including it."""

    states: tuple[StepState, ...] = ()


def no_invariants(_: Mapping[str, str]) -> tuple[str, ...]:
    """Know of nothing that must belong together."""
    return ()


def play(
    request: BuildRequest, history: HistoryContent, python: Path, tools: Tools, invariants: Invariants
) -> tuple[StepState, ...]:
    """Run the steps in order and return the state after each; stops with HistoryError at the first that fails."""
    states: list[StepState] = []
    seeded = ""
    for number, step in enumerate(history.steps, 1):
        asked = asked_by(step)
        tools.listener.on_event(Event("step", request.manifest, asked, number - 1, len(history.steps)))
        if step.installer.startswith("pip") and step.installer != seeded:
            _seed_pip(request, step.installer, python, tools)
            seeded = step.installer
        log = request.folder / f"step-{number}.log"
        completed = _run_step(request, history, step, python, tools)
        output = redact(completed.stdout + completed.stderr)
        tools.files.write(log, output)
        state = _record(step, number, completed, inspect(python, tools.process, tools.files).resolved, invariants)
        state = state.model_copy(update={"log": str(log)})
        states.append(state)
        facts = {"mismatches": "\n".join(state.mismatches), "exit code": str(state.exit_code)}
        tools.listener.on_event(Event("step-done", request.manifest, asked, number, len(history.steps), facts))
        if not completed.good:
            trouble = interpret(output, "the host's indexes")
            error = HistoryError(
                f"step {number} of {len(history.steps)} failed: {asked}",
                f"{trouble.what}; {trouble.why}",
                f"{trouble.hint} (log: {log})",
                phase=trouble.phase.value,
                gone=trouble.gone,
            ).lacking(trouble.lacks)
            error.states = tuple(states)
            raise error
    return tuple(states)


def asked_by(step: Step) -> str:
    """Return the step as a command line.

    >>> asked_by(Step(install=("plaidml-keras==0.7.0",), installer="pip==19.3.1"))
    'pip install plaidml-keras==0.7.0'
    """
    name = "uv pip" if step.installer.startswith("uv") else "pip"
    parts = []
    if step.uninstall:
        parts.append(" ".join((name, "uninstall", *(() if step.install else step.flags), *step.uninstall)))
    if step.install:
        parts.append(" ".join((name, "install", *step.flags, *step.install)))
    return " && ".join(parts)


def _run_step(request: BuildRequest, history: HistoryContent, step: Step, python: Path, tools: Tools) -> Completed:
    completed = Completed((), 0)
    for action, subjects in (("uninstall", step.uninstall), ("install", step.install)):
        if subjects and completed.good:
            flags = step.flags if action == "install" or not step.install else ()
            command = (
                _uv_command(request, history, python, action)
                if step.installer.startswith("uv")
                else _pip_command(python, action)
            )
            environment = (
                uv_environment(request.switches, request.places.uv_cache) | index_variables(request.switches.settings)
                if step.installer.startswith("uv")
                else pip_environment(request)
            )
            latest = tools.process.run(
                ProcessRequest((*command, *flags, *subjects), cwd=request.folder, env=environment)
            )
            completed = Completed(
                latest.argv,
                latest.exit_code,
                latest.signal,
                latest.timed_out,
                latest.started,
                completed.stdout + latest.stdout,
                completed.stderr + latest.stderr,
            )
    return completed


def _uv_command(request: BuildRequest, history: HistoryContent, python: Path, action: str) -> tuple[str, ...]:
    switches = request.switches
    command: tuple[str, ...] = (switches.uv, "pip", action, "--no-config", "--python", str(python))
    if action == "install":
        command += (*index_arguments(switches.settings), "--link-mode", "copy")
        if switches.offline:
            command += ("--offline",)
        if history.exclude_newer:
            command += ("--exclude-newer", history.exclude_newer)
        for constraint in switches.settings.constraints:
            command += ("--constraint", constraint)
    return command


def _pip_command(python: Path, action: str) -> tuple[str, ...]:
    return (str(python), "-m", "pip", action, *(("-y",) if action == "uninstall" else ()))


def pip_environment(request: BuildRequest) -> dict[str, str]:
    """Return pip's complete environment: the host's index settings, a cache of envmgr's own, no other configuration."""
    settings = request.switches.settings
    environment = network_environment(settings, request.switches.caller)
    environment |= {
        "PIP_CONFIG_FILE": "nul" if request.interpreter.system == "windows" else "/dev/null",
        "PIP_CACHE_DIR": str(request.places.pip_cache),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PYTHONNOUSERSITE": "1",
    }
    given = {
        "PIP_INDEX_URL": settings.index_url or "",
        "PIP_EXTRA_INDEX_URL": " ".join(settings.extra_index_urls),
        "PIP_FIND_LINKS": " ".join(settings.find_links),
        "PIP_CONSTRAINT": " ".join(settings.constraints),
        "PIP_CERT": settings.certificate or "",
        "PIP_NO_INDEX": "1" if settings.no_index or request.switches.offline else "",
    }
    return environment | {name: value for name, value in given.items() if value}


def _seed_pip(request: BuildRequest, installer: str, python: Path, tools: Tools) -> None:
    switches = request.switches
    command = (switches.uv, "pip", "install", "--no-config", "--python", str(python), "--link-mode", "copy")
    offline = ("--offline",) if switches.offline else ()
    completed = tools.process.run(
        ProcessRequest(
            (*command, *offline, *index_arguments(switches.settings), installer, *_SEED),
            cwd=request.folder,
            env=uv_environment(switches, request.places.uv_cache) | index_variables(switches.settings),
        )
    )
    if not completed.good:
        trouble = interpret(completed.stdout + completed.stderr, "the host's indexes")
        raise BuildError(
            f"{installer} cannot be put into the environment",
            f"{trouble.what}; {trouble.why}",
            trouble.hint,
            phase=trouble.phase.value,
            gone=trouble.gone,
        ).lacking(trouble.lacks)


def _record(
    step: Step, number: int, completed: Completed, resolved: dict[str, str], invariants: Invariants
) -> StepState:
    broken = invariants(resolved)
    exit_code = completed.exit_code if completed.exit_code is not None else -(completed.signal or 1)
    quotes = _telling_lines(completed.stdout, broken)
    return StepState(
        number=number,
        asked=asked_by(step),
        installer=step.installer,
        exit_code=exit_code,
        resolved=resolved,
        mismatches=(*_unmet(step, resolved), *broken, *(f"{step.installer} says: {line}" for line in quotes)),
    )


def _unmet(step: Step, resolved: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the step asked for by name and version and did not get."""
    unmet = []
    for text in step.install:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        there = resolved.get(canonicalize_name(requirement.name))
        if there is None:
            unmet.append(f"asked for {text}; it is not installed")
        elif not requirement.specifier.contains(there, prereleases=True):
            unmet.append(f"asked for {text}; {there} is installed")
    unmet += [
        f"asked to uninstall {name}; {resolved[canonicalize_name(name)]} is still installed"
        for name in step.uninstall
        if canonicalize_name(name) in resolved and name not in step.install
    ]
    return tuple(unmet)


def _telling_lines(output: str, broken: tuple[str, ...]) -> tuple[str, ...]:
    """Return the installer's own words that it left a distribution alone, for those that the mismatches name."""
    said = []
    for line in output.splitlines():
        _, found, rest = line.partition("Requirement already satisfied: ")
        name = rest.split(" ", 1)[0].split("=")[0].split(">")[0].split("<")[0].strip()
        if found and any(name in sentence.split() for sentence in broken):
            said.append(line.strip())
    return tuple(said)
