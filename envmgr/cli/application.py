"""The command tree."""

from __future__ import annotations

import typer

from envmgr.cli.examples import BEGIN, add_examples, told

_BUILDING = frozenset({"lock", "build", "verify", "devices"})


def application(asked: str = "") -> typer.Typer:
    """Return the whole command line; where a command is asked for that is known to be near, no more than its likes.

    Looking at the options of all commands takes as long as building an environment.
    """
    root = typer.Typer(
        name="envmgr",
        help="Reproducible environments without Docker, and a matrix of machine-learning stacks.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog=told(BEGIN),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(_version)
    if asked in _BUILDING:
        from envmgr.cli import build

        build.register(root)
    else:
        _register_all(root)
    add_examples(root)
    return root


def _register_all(root: typer.Typer) -> None:
    from envmgr.cli import (
        bisect,
        build,
        bundle,
        clean,
        compare,
        diagnose,
        diff,
        ecosystem,
        fleet,
        hand,
        infer,
        manifests,
        matrix,
        pythons,
        report,
        watch,
    )

    for room in (manifests, build, hand, diagnose, bisect, diff, infer, clean, ecosystem, bundle):
        room.register(root)
    matrix_group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Measure version sets on devices; look at what was measured."
    )
    for room in (matrix, compare, report, watch):
        room.register(matrix_group)
    root.add_typer(matrix_group, name="matrix")
    python_group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The Pythons of this host.")
    pythons.register(python_group)
    root.add_typer(python_group, name="python")
    kernel_group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Environments in Jupyter.")
    ecosystem.register_kernel(kernel_group)
    root.add_typer(kernel_group, name="kernel")
    fleet_group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Other hosts that measure for a matrix."
    )
    fleet.register(fleet_group)
    root.add_typer(fleet_group, name="fleet")


def _show_version(asked: bool) -> None:
    if asked:
        from envmgr.app.version import version

        typer.echo(f"envmgr {version()}")
        raise typer.Exit


def _version(
    *,
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
    timings: bool = typer.Option(False, "--timings", help="Tell where the time went (anywhere in the line)."),
    quiet: bool = typer.Option(False, "--quiet", help="No progress on stderr (anywhere in the line)."),
) -> None:
    """Reproducible environments without Docker, and a matrix of machine-learning stacks."""
