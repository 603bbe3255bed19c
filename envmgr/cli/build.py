"""lock, build, verify, devices: from a manifest to an environment that is what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from envmgr.cli.completion import complete_cells, complete_platforms
from envmgr.cli.options import (
    DebugFlag,
    JsonFlag,
    Name,
    NoDownloads,
    Offline,
    OptionalNames,
    ProjectOption,
    PythonOption,
)
from envmgr.cli.session import Answer, Options, perform
from envmgr.errors import UsageError


def register(application: typer.Typer) -> None:
    """Add the commands."""
    for command in (lock, build, verify, devices):
        application.command()(command)


def lock(
    names: OptionalNames = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform", metavar="P", help="Only for this platform (repeatable).", autocompletion=complete_platforms
        ),
    ] = None,
    upgrade_package: Annotated[
        list[str] | None,
        typer.Option("--upgrade-package", metavar="D", help="Take the newest of this one, keep the rest (repeatable)."),
    ] = None,
    vendor: Annotated[
        bool, typer.Option("--vendor", help="Keep the wheels beside the locks, for when their index is gone.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only tell which locks are stale; needs no network.")] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Resolve manifests into locks with hashes, for every platform on which they can exist."""
    from envmgr.app.relocking import check_locks, make_locks, vendor_locks
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_builds import show_lock_check, show_locks

    def action(workplace: Workplace) -> Answer:
        if check:
            states = check_locks(workplace, names or (), platform or ())
            stale = any(state.drifted for state in states)
            return Answer({"locks": states}, lambda: show_lock_check(states), exit_code=int(stale))
        if vendor:
            made = vendor_locks(workplace, names or (), platform or ())
        else:
            made = make_locks(workplace, names or (), platform or (), upgrade_package or ())
        failed = any(each.error for each in made)
        return Answer({"locks": made}, lambda: show_locks(made), exit_code=3 if failed else 0)

    perform(Options("lock", json, project, debug), action)


def build(
    names: OptionalNames = None,
    from_run: Annotated[
        str | None,
        typer.Option(
            "--from-run",
            metavar="RUN#CELL",
            help="Bring back what a cell of a run was measured in.",
            autocompletion=complete_cells,
        ),
    ] = None,
    offline: Offline = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when the result is not what was asked.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Build anew what is built already.")] = False,
    python: PythonOption = None,
    no_python_downloads: NoDownloads = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Build environments: lock if there is no lock, create, install with hash checking, verify. Twice is once."""
    from envmgr.system.process import RealProcess

    RealProcess({}).warm_up()  # it is on its way while the rest is imported
    from envmgr.app.building import BuildWishes
    from envmgr.app.verifying import BuildReport, build_and_verify, build_from_run, repeatable, settled
    from envmgr.app.workplace import Workplace
    from envmgr.cli.later import LATER
    from envmgr.cli.show_builds import show_builds

    def action(workplace: Workplace) -> Answer:
        wishes = BuildWishes(python, offline, not no_python_downloads, again=again)
        if bool(names) == bool(from_run):
            raise UsageError("what is to be built?", "wanted names, or --from-run", "envmgr build NAME")
        if from_run:
            reports = build_from_run(workplace, from_run, wishes)
        else:
            reports = build_and_verify(workplace, names or (), wishes)
        code = max(each.exit_code(strict=strict) for each in reports)
        lasting = code == 0 and not from_run and settled(workplace, reports)
        recipe = None if from_run else repeatable(workplace, reports)
        repeat = None if recipe is None else (recipe, answer_to([reports[0]._replace(seconds=LATER)]))
        return replace(answer_to(reports), exit_code=code, lasting=lasting, again=repeat)

    def answer_to(reports: Sequence[BuildReport]) -> Answer:
        return Answer({"builds": reports}, lambda: show_builds(reports))

    perform(Options("build", json, project, debug), action)


def verify(
    name: Name,
    deep: Annotated[bool, typer.Option("--deep", help="Also hash every installed file.")] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Compare what was asked, locked and installed; check architecture, backend and devices. Exit 1 on a mismatch."""
    from envmgr.app.verifying import verify_named
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_builds import show_verification

    def action(workplace: Workplace) -> Answer:
        found = verify_named(workplace, name, deep=deep)
        return Answer(found, lambda: show_verification(found), exit_code=int(not found.passed))

    perform(Options("verify", json, project, debug), action)


def devices(
    name: Name,
    opencl_setup: Annotated[
        bool,
        typer.Option(
            "--opencl-setup", help="First make PlaidML see this processor through OpenCL (written to host.toml)."
        ),
    ] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """List what the backend offers here, default and experimental, and which host devices it does not offer."""
    from envmgr.app.listing import offered_devices
    from envmgr.app.opencl import set_up_opencl
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_builds import show_devices

    def action(workplace: Workplace) -> Answer:
        if opencl_setup:
            set_up_opencl(workplace, name)
        found = offered_devices(workplace, name)
        return Answer(found, lambda: show_devices(found), exit_code=int(bool(found.listing.error)))

    perform(Options("devices", json, project, debug), action)
