"""diagnose: why something fails, and the smallest change that was seen to make it work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envmgr.cli.completion import complete_devices, complete_names_and_cells, complete_pythons
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption, day, pair, seconds_of
from envmgr.cli.session import Answer, Options, perform
from envmgr.errors import UsageError

OptionalName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME|RUN#CELL|RUN",
        help="A manifest, as NAME or NAME@VARIANT; a cell of a run, or all that failed in it.",
        autocompletion=complete_names_and_cells,
    ),
]
Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- CMD", help="The command that fails, after `--`, instead of --probe."),
]
Probe = Annotated[str | None, typer.Option("--probe", metavar="CODE", help="Python code that fails.")]
Source = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="X",
        help="What you have: a virtual environment, a conda prefix, a requirements file, a freeze.",
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python", metavar="VERSION", help="The Python of a set given by --require.", autocompletion=complete_pythons
    ),
]
Requirements = Annotated[list[str] | None, typer.Option("--require", metavar="R", help="A requirement (repeatable).")]
Variables = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="K=V", help="A variable for the probe; {venv} and {home} are replaced (repeatable)."),
]
Newer = Annotated[str | None, typer.Option("--exclude-newer", metavar="DATE", help="Resolve as of that day.")]
Budget = Annotated[str, typer.Option("--budget", metavar="SECONDS", help="Time for experiments, as 300s or 5m.")]
Most = Annotated[int, typer.Option("--max-experiments", metavar="N", help="Try no more changes than that.")]
Download = Annotated[
    str, typer.Option("--max-download", metavar="SIZE", help="Try nothing that downloads more, as 1.5GB or 300MB.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, help="Experiments at a time; 1: one by one, none before it is needed."
    ),
]
Log = Annotated[Path | None, typer.Option("--log", metavar="FILE", help="The log of a failure on another machine.")]
Host = Annotated[Path | None, typer.Option("--host", metavar="FACTS.json", help="The facts of that machine.")]
Good = Annotated[
    str | None,
    typer.Option("--good", metavar="RUN|LOCK|FREEZE|VENV|DATE", help="What held: the difference itself is searched."),
]
OnDevice = Annotated[
    str | None, typer.Option("--device", metavar="D", help="The device to try it on.", autocompletion=complete_devices)
]
Apply = Annotated[bool, typer.Option("--apply", help="Write the fix into the manifest and lock it again.")]
Blind = Annotated[bool, typer.Option("--blind", hidden=True, help="Keep from the engine what processes print.")]


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command(context_settings={"ignore_unknown_options": False})(diagnose)


def diagnose(
    name: OptionalName = None,
    command: Command = None,
    probe: Probe = None,
    source: Source = None,
    python: Python = None,
    require: Requirements = None,
    env: Variables = None,
    exclude_newer: Newer = None,
    budget: Budget = "300s",
    max_experiments: Most = 40,
    max_download: Download = "1.5GB",
    jobs: Jobs = None,
    log: Log = None,
    host: Host = None,
    good: Good = None,
    device: OnDevice = None,
    apply: Apply = False,
    blind: Blind = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Find by experiment what makes a failure go away, and report the smallest change that was seen to work."""
    from envmgr.app.diagnosing.cases import Asked, apply_fix, diagnose_here, diagnose_recorded
    from envmgr.app.diagnosing.runs import diagnose_runs, with_device
    from envmgr.app.diagnosing.silent_sets import set_without_device
    from envmgr.app.verifying import silently_wrong
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        from envmgr.cli.diagnosed import answer_of_cells
        from envmgr.report.finding import show

        words = tuple(command or ())
        set_by_options = bool(require) or source is not None
        if apply and (set_by_options or not name):
            raise UsageError("--apply has no manifest to write to", "wanted NAME", "envmgr init --from FILE makes one")
        asked = Asked(
            name=None if set_by_options else name,
            command=(name, *words) if set_by_options and name else words,
            probe=probe,
            python=python,
            requirements=tuple(require or ()),
            variables=dict(pair("--env", text) for text in env or ()),
            exclude_newer=day("--exclude-newer", exclude_newer),
            budget=seconds_of("--budget", budget),
            most=max_experiments,
            most_bytes=_bytes(max_download),
            source=source,
            blind=blind,
            jobs=jobs,
        )
        cells = diagnose_runs(workplace, asked, good, device) if log is None else None
        if cells is not None:
            return answer_of_cells(cells)
        asked = with_device(workplace, asked, device)
        finding = diagnose_here(workplace, asked) if log is None else diagnose_recorded(workplace, asked, log, host)
        if finding is None and asked.name is not None:
            finding = silently_wrong(workplace, asked.name, device)
        elif finding is None and device is not None:
            finding = set_without_device(workplace, asked, device)
        said = apply_fix(workplace, name, finding) if apply and name else ""
        data = {"finding": finding.model_dump(mode="json", exclude_none=True) if finding else None}
        return Answer(data, lambda: show(finding, said), exit_code=1 if finding else 0)

    perform(Options("diagnose", json, project, debug), action)


def _bytes(text: str) -> int:
    units = {"kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
    unit = next((unit for unit in units if text.lower().endswith(unit)), "")
    try:
        return int(float(text[: len(text) - len(unit)]) * units.get(unit, 1))
    except (ValueError, OverflowError):
        raise UsageError(
            f"--max-download {text} is no size", "wanted a number of bytes, as 1.5GB", "--max-download 1.5GB"
        ) from None
