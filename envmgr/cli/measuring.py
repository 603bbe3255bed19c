"""Measuring for people, and what was written meanwhile; apart from showing, which needs nothing of what measures."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from envmgr.app.fleets.fleet import FleetWishes, run_on_fleet
from envmgr.app.matrix import CellLog, MatrixWishes, resume_matrix, run_matrix
from envmgr.app.reporting import reading_of
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.cli.look import look
from envmgr.cli.session import say
from envmgr.cli.show import matrix_text
from envmgr.model.result import Run
from envmgr.report.text import clean


def measured(workplace: Workplace, wishes: MatrixWishes, *, resume: bool, fleet: FleetWishes | None = None) -> Run:
    """Measure a matrix, here or on a fleet; on Ctrl-C, show what there is so far before leaving."""
    before = set(workplace.store.names())
    try:
        if fleet is not None:
            return run_on_fleet(workplace, wishes, fleet, "latest" if resume else None)
        return resume_matrix(workplace, "latest", wishes) if resume else run_matrix(workplace, wishes)
    except KeyboardInterrupt:
        workplace.process.stop_all()
        begun = [name for name in workplace.store.names() if resume or name not in before]
        if begun:
            run = stored_run(workplace, "latest" if resume else max(begun))
            sys.stderr.write("\n" + matrix_text(reading_of(workplace, run), look(stream=sys.stderr)))
            sys.stderr.write("go on with: envmgr matrix run --resume\n")
        raise


def show_logs(logs: Sequence[CellLog]) -> None:
    """Print logs, one after the other, as text that cannot steer the terminal."""
    for log in logs:
        say(f"== {log.cell}, process {log.round}: {log.path}")
        say(*(clean(line) for line in log.text.splitlines()))
