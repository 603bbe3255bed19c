"""What a shell offers after Tab for an argument or the value of an option."""

from __future__ import annotations

import typer

_PYTHONS = tuple(f"3.{minor}" for minor in range(15, 5, -1))


def complete_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the manifests in view, after `NAME@` the variants of that one."""
    from envmgr.cli.sight import names

    return names(ctx.params, incomplete)


def complete_matrices(ctx: typer.Context) -> list[str]:
    """Return the matrices in view."""
    from envmgr.cli.sight import matrices

    return matrices(ctx.params)


def complete_runners(ctx: typer.Context) -> list[str]:
    """Return the runners in view."""
    from envmgr.cli.sight import runners

    return runners(ctx.params)


def complete_runs(ctx: typer.Context) -> list[str]:
    """Return the stored runs, the newest first."""
    from envmgr.cli.sight import runs

    return runs(ctx.params)


def complete_cells(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the cells of the latest run, after `RUN#` those of that one."""
    from envmgr.cli.sight import cells

    return cells(ctx.params, incomplete)


def complete_names_and_cells(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the manifests in view, after `RUN#` the cells of that run."""
    from envmgr.cli.sight import names_and_cells

    return names_and_cells(ctx.params, incomplete)


def complete_names_and_runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the manifests and the runs in view."""
    from envmgr.cli.sight import names_and_runs

    return names_and_runs(ctx.params, incomplete)


def complete_devices(ctx: typer.Context) -> list[str]:
    """Return the devices that the manifests in question name or were measured on, then the ways to any."""
    from envmgr.cli.sight import devices

    return devices(ctx.params)


def complete_platforms() -> list[str]:
    """Return the platforms that locks are made for."""
    from envmgr.model.platform import Platform

    return [platform.value for platform in Platform]


def complete_outcomes() -> list[str]:
    """Return what can become of a cell."""
    from envmgr.model.outcome import NEVER_OBSERVED, Outcome

    return [outcome.value for outcome in Outcome if outcome not in NEVER_OBSERVED]


def complete_pythons() -> list[str]:
    """Return the minor versions of Python that a manifest can ask for, newest first."""
    return list(_PYTHONS)
