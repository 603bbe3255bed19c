"""schema, export, kernel, bug-report: at home among other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from envmgr.cli.bundle import export_bundle
from envmgr.cli.completion import complete_platforms
from envmgr.cli.options import DebugFlag, JsonFlag, Name, ProjectOption
from envmgr.cli.session import Answer, Options, perform, print_json, say

OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there (else: to stdout).")
]


def register(application: typer.Typer) -> None:
    """Add the commands."""
    application.command()(schema)
    application.command()(export)
    application.command("bug-report")(bug_report)


def register_kernel(group: typer.Typer) -> None:
    """Add the commands of the group `kernel`."""
    group.command()(install)
    group.command("list")(list_kernels)
    group.command()(remove)
    group.command(hidden=True)(start)
    group.callback()(_kernel)


def _kernel() -> None:
    """Environments in Jupyter."""


def schema(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="WHAT", help="manifest, matrix, output (of any command), or a command: matrix run."),
    ] = None,
    output: OutputOption = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Print the JSON Schema of manifests, matrices or --json outputs."""
    from envmgr.app.initiating import schema_text
    from envmgr.app.schemas import schema_of
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        name = " ".join(what or ["manifest"])
        found = schema_of(name)
        if output is not None:
            workplace.files.write(workplace.caller.folder / output, schema_text(name))
        return Answer(found, lambda: None if output else print_json(found))

    perform(Options("schema", json, project, debug), action)


def export(
    name: Name,
    to: Annotated[
        Literal["requirements", "pylock", "conda", "bundle"], typer.Option("--to", help="The form.")
    ] = "requirements",
    output: OutputOption = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="P",
            help="Of this platform's lock (else: this host's).",
            autocompletion=complete_platforms,
        ),
    ] = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Write a lock as requirements.txt with hashes, pylock.toml, conda's environment.yml, or a bundle of everything."""
    from envmgr.app.exporting import export as exported
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        if to == "bundle":
            return export_bundle(workplace, name, output, platform)
        made = exported(workplace, name, to, platform)
        if output is not None:
            workplace.files.write(workplace.caller.folder / output, made.text)
        data = {
            "to": to,
            "platform": made.platform,
            "distributions": made.distributions,
            "written": str(output) if output else None,
            "text": None if output else made.text,
            "notes": made.notes,
        }
        return Answer(data, lambda: _show_text(made.text, output, made.notes))

    perform(Options("export", json, project, debug), action)


def bug_report(
    name: Name,
    output: OutputOption = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Write what a maintainer needs to know of a manifest on this host as Markdown, with nothing private in it."""
    from envmgr.app.bug_report import report_bug
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        text = report_bug(workplace, name)
        if output is not None:
            workplace.files.write(workplace.caller.folder / output, text)
        data = {"written": str(output) if output else None, "text": None if output else text}
        return Answer(data, lambda: _show_text(text, output, ("read it before you send it",)))

    perform(Options("bug-report", json, project, debug), action)


def install(name: Name, json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Make an environment a kernel of Jupyter; what ipykernel needs is put beside it, never into it."""
    from envmgr.app.kernels import install_kernel
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        made = install_kernel(workplace, name)

        def show() -> None:
            say(f"kernel {made.name}: {made.display_name}", f"  {made.path}")
            say(*(f"  beside it: {each}" for each in made.added))

        return Answer(made, show)

    perform(Options("kernel install", json, project, debug), action)


def list_kernels(json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """List the kernels that envmgr has given to the user's Jupyter, and of which project each is."""
    from envmgr.app.kernels import kernels_here
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        found = kernels_here(workplace)
        rows = [f"{each.name}: {each.label}" + (f" of {each.project}" if each.project else "") for each in found]
        return Answer({"kernels": found}, lambda: say(*(rows or ["no kernel is envmgr's"])))

    perform(Options("kernel list", json, project, debug), action)


def remove(name: Name, json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Take an environment's kernel out of Jupyter; the environment stays."""
    from envmgr.app.kernels import remove_kernels
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        gone = remove_kernels(workplace, name)
        return Answer({"removed": gone}, lambda: say(*(f"removed {each.name}" for each in gone)))

    perform(Options("kernel remove", json, project, debug), action)


def start(
    name: Name,
    connection_file: Annotated[str, typer.Argument(metavar="FILE", help="What Jupyter wrote for the kernel.")],
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Start an environment's kernel, as Jupyter asks for it."""
    from envmgr.app.kernels import start_kernel
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        code = start_kernel(workplace, name, connection_file)
        return Answer({"exit_code": code}, lambda: None, exit_code=code)

    perform(Options("kernel start", json, project, debug), action)


def _show_text(text: str, output: Path | None, notes: tuple[str, ...]) -> None:
    """Print the text alone, so that it can be piped; with a file, where it went and what it cannot say."""
    if output is None:
        print(text, end="")
        return
    say(f"written  {output}", *(f"  note: {note}" for note in notes))
