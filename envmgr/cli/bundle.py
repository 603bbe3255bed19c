"""import: a bundle from elsewhere; the other half of `export --to bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, perform, say
from envmgr.errors import UsageError


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command("import")(import_bundle)


def import_bundle(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A file that `export --to bundle` wrote.")],
    build: Annotated[
        bool, typer.Option("--build/--no-build", help="Also build what it holds, without network.")
    ] = True,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Take a bundle into this project (or make this folder one), and build it with no network, hash-checked."""
    from envmgr.app.building import BuildWishes
    from envmgr.app.bundling import import_bundle as unbundled
    from envmgr.app.verifying import build_and_verify
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_builds import show_builds

    def action(workplace: Workplace) -> Answer:
        found = unbundled(workplace, bundle, project)
        here = Workplace(Path(found.project), workplace.listener)
        reports = build_and_verify(here, (found.name,), BuildWishes(offline=True)) if build else ()

        def show() -> None:
            state = f", {len(found.unchanged)} files of it were there already" if found.unchanged else ""
            say(f"{found.name} for {found.platform}, Python {found.python}: {found.wheels} wheels{state}")
            say(f"  in      {found.project}")
            show_builds(reports)
            say(f"  next    envmgr matrix run {found.matrix} --offline")

        code = max((each.exit_code(strict=False) for each in reports), default=0)
        return Answer({"imported": found, "builds": reports}, show, exit_code=code)

    perform(Options("import", json, None, debug), action)


def export_bundle(workplace: Any, name: str, output: Path | None, platform: str | None) -> Answer:
    """Answer `export --to bundle`."""
    from envmgr.app.bundling import export_bundle as bundled

    if output is None:
        raise UsageError("where is the bundle to go?", "it is a binary file", f"envmgr export {name} --output FILE")
    made = bundled(workplace, name, output, platform)

    def show() -> None:
        say(
            f"written  {made.written}: {name} for {made.platform}, {made.distributions} distributions in "
            f"{made.wheels} wheels, {made.size / 1e6:.1f} MB",
            f"  sha256 {made.sha256}",
            f"  next   envmgr import {Path(made.written).name}, on the other machine",
        )

    data = {
        "to": "bundle",
        "platform": made.platform,
        "distributions": made.distributions,
        "written": made.written,
        "text": None,
        "notes": [f"sha256 {made.sha256}"],
    }
    return Answer(data, show)
