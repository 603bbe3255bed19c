"""clean: give disk space back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from envmgr.cli.options import DebugFlag, JsonFlag, OptionalNames, ProjectOption
from envmgr.cli.session import Answer, Options, perform, say
from envmgr.errors import UsageError


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command()(clean)


def clean(
    names: OptionalNames = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed, with sizes.")] = False,
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Only environments built that many days ago."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Remove built environments (all, or those of the named manifests) and what interrupted builds left."""
    from envmgr.app.cleaning import find_rubbish, remove
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_builds import show_rubbish

    def action(workplace: Workplace) -> Answer:
        found = find_rubbish(workplace, names or (), older_than)
        if not dry_run:
            show_rubbish(found, removed=False, to_stderr=True)
            if not yes and not _agreed(len(found)):
                return Answer({"removed": False, "items": found}, lambda: say("nothing is removed"))
            found = remove(workplace, found, everything=not names and older_than is None)
        return Answer(
            {"removed": not dry_run, "items": found},
            lambda: show_rubbish(found, removed=not dry_run, to_stderr=False),
        )

    perform(Options("clean", json, project, debug), action)


def _agreed(folders: int) -> bool:
    """Ask whoever sits there; raises UsageError where nobody does."""
    print(f"remove {folders} folders? [y/N]: ", end="", file=sys.stderr, flush=True)
    said = sys.stdin.readline()
    if not said:
        print(file=sys.stderr)
        raise UsageError("nobody answered", "wanted y or n", "envmgr clean --yes, or --dry-run")
    return said.strip().lower() in {"y", "yes"}
