"""Writes down how a build that went well can be made again."""

from __future__ import annotations

import json
from pathlib import Path

from envmgr.env.content import BuildRequest, LockedContent, RequirementGroup
from envmgr.env.create import blank_of
from envmgr.env.install import CONFIGURATION, count_of, requirements_in, told_of, wheels_alone
from envmgr.env.passing import passed_on
from envmgr.env.recipe import SCRATCH, Recipe
from envmgr.env.uv import index_variables, install_arguments, uv_environment
from envmgr.model.env import Env
from envmgr.model.redaction import redact
from envmgr.ports import Files


def recipe_of(request: BuildRequest, env: Env, report: str, files: Files) -> Recipe | None:
    """Return how an env can be made again; None for one that takes more than one plain call of uv.

    What may hold a secret, as the address of an index or a proxy can, is not written down: then there is none either.
    """
    group = _only_group(request)
    if group is None or env.linked != (request.switches.sharing == "hardlink"):
        return None
    switches, scratch = request.switches, Path(SCRATCH)
    variables = uv_environment(switches, request.places.uv_cache) | index_variables(switches.settings, group.url)
    same = passed_on(switches.caller)
    fixed = {name: value for name, value in variables.items() if same.get(name) != value}
    if switches.settings.keyring or any("@" in value or redact(value) != value for value in fixed.values()):
        return None
    command = install_arguments(switches, Path(env.python), requirements_in(scratch, 0), group)
    return Recipe(
        folder=env.path,
        python=env.python,
        blank=str(blank_of(request.interpreter, request.folder, request.places.app_data, files)),
        manifest=request.manifest,
        label=request.manifest if request.variant == "default" else f"{request.manifest}@{request.variant}",
        version=request.interpreter.version,
        told=told_of(group),
        count=count_of(group.text),
        arguments=(*command, *wheels_alone(scratch)),
        files={CONFIGURATION: "", requirements_in(scratch, 0).name: group.text},
        variables=fixed,
        uv_cache=str(request.places.uv_cache),
        sharing=files.ways_to_share(request.places.uv_cache, request.places.envs),
        link=env.linked,
        needed=switches.expected_bytes,
        report=json.loads(report),
        mark=env.model_dump(mode="json", by_alias=True),
    )


def _only_group(request: BuildRequest) -> RequirementGroup | None:
    """Return the one group of requirements that is all of an env, where nothing is built, vendored or mended."""
    content, switches = request.content, request.switches
    if not isinstance(content, LockedContent) or switches.vendored or switches.refresh:
        return None
    if content.sources.names or content.sources.requires or content.sources.constraints.strip():
        return None
    groups = [group for group in content.groups if count_of(group.text)]
    return groups[0] if len(groups) == 1 and groups[0].url is None else None
