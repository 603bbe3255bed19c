"""Fills an env from a lock, with hash checking, one index after the other."""

from __future__ import annotations

import json
from pathlib import Path

from envmgr.env.content import BuildRequest, LockedContent, RequirementGroup, SourceBuilds, Tools
from envmgr.env.installer import run_installer
from envmgr.env.trouble import interpret
from envmgr.env.uv import index_variables, install_arguments, uv_environment, vendored_install_arguments
from envmgr.errors import BuildError
from envmgr.ports import Event, Files, ProcessRequest

CONFIGURATION = "uv.toml"
"""The file in scratch that is the whole configuration of uv."""


def requirements_in(scratch: Path, number: int) -> Path:
    """Return the requirements file of a group in scratch."""
    return scratch / f"requirements-{number}.txt"


def install_locked(request: BuildRequest, content: LockedContent, python: Path, tools: Tools) -> None:
    """Install everything that a lock names, and nothing else; raises BuildError with the phase in which it stopped.

    The installer's output stays in the env's folder as `install.log`.
    """
    _check_space(request, tools)
    total = sum(count_of(group.text) for group in content.groups)
    done = 0
    with tools.files.scratch("install") as scratch:
        options = _build_options(content.sources, scratch, tools.files)
        for number, group in enumerate(content.groups):
            count = count_of(group.text)
            if not count:
                continue
            what = Event("install", request.manifest, told_of(group), done, total)
            requirements = requirements_in(scratch, number)
            tools.files.write(requirements, group.text, durable=False)
            if _may_be_here(request, group):
                tools.listener.on_event(what)
            if not _found_vendored(request, python, requirements, options, tools) and not _found_in_folders(
                request, group, python, requirements, tools
            ):
                command = install_arguments(request.switches, python, requirements, group)
                _run(request, group, (*command, *options), what, tools)
            done += count


def _may_be_here(request: BuildRequest, group: RequirementGroup) -> bool:
    """Tell whether there are folders to look into before any index is asked."""
    return bool(request.switches.vendored or (group.url is not None and request.switches.settings.find_links))


def _found_vendored(
    request: BuildRequest, python: Path, requirements: Path, options: tuple[str, ...], tools: Tools
) -> bool:
    """Try the kept artefacts alone, and tell whether they had all of a group; a kept file that was changed is refused.

    What is missing among them is looked for at the indexes, unless these are ruled out.
    """
    if not request.switches.vendored:
        return False
    command = vendored_install_arguments(request.switches, python, requirements)
    environment = uv_environment(request.switches, request.places.uv_cache)
    completed = tools.process.run(ProcessRequest((*command, *options), cwd=request.folder, env=environment))
    if not completed.good and "Hash mismatch" in completed.stderr:
        raise interpret(completed.stdout + completed.stderr, f"the kept copy ({request.switches.vendored[0]})").error()
    return completed.good


def _found_in_folders(
    request: BuildRequest, group: RequirementGroup, python: Path, requirements: Path, tools: Tools
) -> bool:
    """Try the host's wheel folders alone for what an explicit index serves, and tell whether they had all of it.

    The hashes decide, so a folder can only stand in with the very same artefacts; the index need not even answer.
    """
    if group.url is None or not request.switches.settings.find_links:
        return False
    command = install_arguments(request.switches, python, requirements, group, folders_only=True)
    environment = uv_environment(request.switches, request.places.uv_cache)
    environment |= index_variables(request.switches.settings, group.url, folders_only=True)
    return tools.process.run(ProcessRequest((*command, "--no-config", "--no-build"), env=environment)).good


def _build_options(sources: SourceBuilds, scratch: Path, files: Files) -> tuple[str, ...]:
    """Write what uv reads about source builds and return its options: the named ones alone, with pinned tools."""
    files.write(scratch / CONFIGURATION, extra_build_dependencies(sources), durable=False)
    options = wheels_alone(scratch)
    for name in sources.names:
        options += ("--no-binary", name)
    if sources.constraints.strip():
        constraints = scratch / "build-constraints.txt"
        files.write(constraints, sources.constraints, durable=False)
        options += ("--build-constraints", str(constraints))
    return options


def wheels_alone(scratch: Path) -> tuple[str, ...]:
    """Return the options with which uv builds nothing from source and reads no configuration but that in scratch."""
    return ("--config-file", str(scratch / CONFIGURATION), "--only-binary", ":all:")


def extra_build_dependencies(sources: SourceBuilds) -> str:
    """Return the whole configuration of uv: undeclared build requirements, nothing else; each build stays isolated.

    >>> print(extra_build_dependencies(SourceBuilds(requires={"flash-attn": ("torch",)})))
    [extra-build-dependencies]
    "flash-attn" = ["torch"]
    <BLANKLINE>
    """
    if not sources.requires:
        return ""
    lines = [f"{json.dumps(name)} = {json.dumps(list(needs))}" for name, needs in sorted(sources.requires.items())]
    return "\n".join(["[extra-build-dependencies]", *lines, ""])


def _run(request: BuildRequest, group: RequirementGroup, arguments: tuple[str, ...], what: Event, tools: Tools) -> None:
    environment = uv_environment(request.switches, request.places.uv_cache)
    environment |= index_variables(request.switches.settings, group.url)
    completed, output = run_installer(arguments, environment, request.folder, what, tools)
    if completed.good:
        return
    if not completed.started:
        raise BuildError(
            f"{request.switches.uv} cannot be started",
            f"wanted uv to install {request.manifest}; found: {completed.stderr}",
            "python -m pip install --force-reinstall uv",
            phase="install",
        )
    raise interpret(output, group.name).error()


def _check_space(request: BuildRequest, tools: Tools) -> None:
    expected = request.switches.expected_bytes
    free = tools.files.free_space(request.places.envs)
    if expected and free < expected:
        raise BuildError(
            f"there is not enough space on the disk for {request.manifest}",
            f"wanted {expected / 1e9:.1f} GB for its downloads alone; found {free / 1e9:.1f} GB free",
            "free some, for instance with `envmgr clean --dry-run` and `envmgr clean`",
            phase="install",
        )


def told_of(group: RequirementGroup) -> str:
    """Return what progress says of a group."""
    return f"{count_of(group.text)} distributions from {group.name}"


def count_of(requirements: str) -> int:
    """Return how many distributions a requirements file names; a continued line belongs to the one above."""
    lines = requirements.splitlines()
    return sum(1 for line in lines if line and not line[0].isspace() and not line.startswith(("#", "-")))
