"""bisect: where along a line of releases, days or Pythons something changed."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from envmgr.cli.completion import complete_names, complete_outcomes, complete_pythons, complete_runners
from envmgr.cli.options import DebugFlag, DeviceOption, JsonFlag, ProjectOption, pair
from envmgr.cli.session import Answer, Options, perform
from envmgr.errors import UsageError

_ITSELF = "*"

OptionalName = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="A manifest, as NAME or NAME@VARIANT.", autocompletion=complete_names),
]
Package = Annotated[
    str | None, typer.Option("--package", metavar="P", help="Bisect the releases of a package, its family with it.")
]
Days = Annotated[bool, typer.Option("--date", help="Bisect the day as of which everything is resolved.")]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="[VERSION]",
        help="Bisect the Pythons that stand here; with a value: the set's Python.",
        autocompletion=complete_pythons,
    ),
]
Nightly = Annotated[bool, typer.Option("--nightly", help="Bisect the days of what floats in the manifest.")]
Good = Annotated[str, typer.Option("--good", metavar="A", help="The end that is good: a version or a day.")]
Bad = Annotated[str, typer.Option("--bad", metavar="B", help="The end that is bad.")]
Probe = Annotated[str | None, typer.Option("--probe", metavar="CODE", help="Python code: good where it passes.")]
Runner = Annotated[
    str | None,
    typer.Option("--runner", metavar="R", help="A runner instead of a probe.", autocompletion=complete_runners),
]
Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="M", help="Bad is what differs in it: seconds, first_call, or the runner's own."),
]
OutcomeOption = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="O",
        help="Bad is this outcome alone: wrong, crashed, ...",
        autocompletion=complete_outcomes,
    ),
]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", metavar="K=V", help="A parameter of the runner (repeatable).")
]
Requirements = Annotated[
    list[str] | None, typer.Option("--require", metavar="R", help="A requirement, instead of NAME (repeatable).")
]
Variables = Annotated[
    list[str] | None, typer.Option("--env", metavar="K=V", help="A variable for the probe (repeatable).")
]
Newer = Annotated[str | None, typer.Option("--exclude-newer", metavar="DATE", help="Resolve as of that day.")]
Early = Annotated[bool, typer.Option("--pre", help="Pre-releases take part.")]
Sources = Annotated[bool, typer.Option("--sources", help="Releases without a wheel for here are built from source.")]
Processes = Annotated[
    int | None, typer.Option("--processes", metavar="N", min=1, help="Processes of the runner at each point.")
]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="What one process may take.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Probes at a time; 1: one by one, none before it is needed."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from what a killed bisection had tried.")]


class BisectCommand(TyperCommand):
    """Takes `--python` with a value (the set's Python) and without one (bisect the Pythons themselves)."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give a bare `--python` its value."""
        following = [*args[1:], "--"]
        words = [
            f"--python={_ITSELF}" if word == "--python" and after.startswith("-") else word
            for word, after in zip(args, following, strict=False)
        ]
        return super().parse_args(ctx, words)


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command(cls=BisectCommand)(bisect)


def bisect(
    name: OptionalName = None,
    *,
    good: Good,
    bad: Bad,
    package: Package = None,
    date: Days = False,
    python: Python = None,
    nightly: Nightly = False,
    probe: Probe = None,
    runner: Runner = None,
    metric: Metric = None,
    outcome: OutcomeOption = None,
    parameter: Parameters = None,
    device: DeviceOption = None,
    require: Requirements = None,
    env: Variables = None,
    exclude_newer: Newer = None,
    pre: Early = False,
    sources: Sources = False,
    processes: Processes = None,
    timeout: Timeout = 600.0,
    jobs: Jobs = None,
    resume: Resume = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Find where good turned into bad: a package's release, a day, a Python, a nightly; in few probes."""
    from envmgr.app.bisecting.cases import Asked, BisectWishes
    from envmgr.app.bisecting.cases import bisect as bisected
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        from envmgr.cli.look import look
        from envmgr.report.bisection import text

        asked = Asked(
            probe=probe,
            runner=runner,
            metric=metric,
            outcome=outcome,
            parameters=dict(_parameter(each) for each in parameter or ()),
            device=device,
            variables=dict(pair("--env", each) for each in env or ()),
            processes=processes,
            timeout=timeout,
        )
        wishes = BisectWishes(
            kind=_kind({"package": bool(package), "date": date, "python": python == _ITSELF, "nightly": nightly}),
            good=good,
            bad=bad,
            asked=asked,
            package=package or "",
            name=name,
            python=None if python == _ITSELF else python,
            requirements=tuple(require or ()),
            exclude_newer=exclude_newer or "",
            early=pre,
            sources=sources,
            resume=resume,
            jobs=jobs,
            command=tuple(sys.argv[1:]),
        )
        found = bisected(workplace, wishes)
        return Answer({"bisect": found}, lambda: print(text(found, look()), end=""))

    perform(Options("bisect", json, project, debug), action)


def _kind(told: dict[str, bool]) -> Any:
    chosen = [kind for kind, wanted in told.items() if wanted]
    if len(chosen) != 1:
        found = " and ".join(f"--{kind}" for kind in chosen) or "none"
        raise UsageError(
            "one thing is bisected at a time",
            f"wanted one of --package P, --date, --python (without a value), --nightly; found {found}",
            "envmgr bisect NAME --package P --good A --bad B --probe CODE",
        )
    return chosen[0]


def _parameter(text: str) -> tuple[str, Any]:
    """Return a runner's parameter; what reads as JSON (a number, true) is taken so, anything else is text."""
    import json

    name, value = pair("--set", text)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
