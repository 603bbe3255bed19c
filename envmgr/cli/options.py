"""Options that every command has, and arguments that many have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envmgr.cli.completion import complete_devices, complete_names, complete_pythons
from envmgr.errors import UsageError

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout; talk goes to stderr.")]
ProjectOption = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="The project's folder (else: from here upwards).")
]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

Names = Annotated[
    list[str],
    typer.Argument(metavar="NAME", help="Manifests, as NAME or NAME@VARIANT.", autocompletion=complete_names),
]
OptionalNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", help="Manifests, as NAME or NAME@VARIANT (default: all).", autocompletion=complete_names
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A manifest, as NAME or NAME@VARIANT.", autocompletion=complete_names)
]
PythonOption = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH|VERSION",
        help="The interpreter to use as base.",
        autocompletion=complete_pythons,
    ),
]
NoDownloads = Annotated[
    bool, typer.Option("--no-python-downloads", help="Never fetch a Python; say what is missing instead.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Use nothing but what is cached.")]
EnvNames = Annotated[
    list[str] | None,
    typer.Option(
        "--env", "-e", metavar="NAME", help="Only these manifests (repeatable).", autocompletion=complete_names
    ),
]
DeviceNames = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        metavar="D",
        help="Only these devices, by id or api (repeatable).",
        autocompletion=complete_devices,
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", metavar="D", help="The device, by id or api.", autocompletion=complete_devices),
]


def day(option: str, text: str | None) -> str:
    """Return the day that the value of an option names, as YYYY-MM-DD, empty for none; raises UsageError."""
    from datetime import date

    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"{option} {text} is no day", "wanted one as 2019-07-01", f"{option} 2019-07-01") from None


def seconds_of(option: str, text: str) -> float:
    """Return the seconds that a text as 300s, 5m or 1h names; raises UsageError."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    number = text[:-1] if unit else text
    try:
        found = float(number) * (unit or 1.0)
    except ValueError:
        found = -1.0
    if not found >= 0:
        raise UsageError(f"{option} {text} is no time", "wanted seconds, as 300s or 5m", f"{option} 300s")
    return found


def pair(option: str, text: str) -> tuple[str, str]:
    """Return the name and the value in the NAME=VALUE of an option; raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text} says nothing", "wanted NAME=VALUE", f"{option} {text}=VALUE")
    return name, value
