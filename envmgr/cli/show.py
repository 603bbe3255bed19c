"""Answers for people: what use cases found, through the reports' renderers, on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from envmgr.app.catalog import CatalogueEntry, Details
from envmgr.app.cleaning import Rubbish
from envmgr.app.doctoring import Examination
from envmgr.app.listing import Offer
from envmgr.app.matrix import CellLog, MatrixWishes, resume_matrix, run_matrix
from envmgr.app.relocking import LockMade, LockVerdict
from envmgr.app.reporting import Reading, matrix_markdown, reading_of
from envmgr.app.verifying import BuildReport
from envmgr.app.workplace import Workplace
from envmgr.cell.judge import exit_code
from envmgr.cli.session import Answer, say
from envmgr.errors import ManifestError
from envmgr.model.cell import Plan
from envmgr.model.env import Verification
from envmgr.model.host import HostFacts
from envmgr.model.result import Run
from envmgr.report import tables, terminal
from envmgr.report.json import run_data
from envmgr.report.look import Look, look_for
from envmgr.report.text import amount, clean
from envmgr.system.caller import terminal_width

_WATCHED = ("plaidml", "plaidml-keras", "torch", "torchvision", "tensorflow", "keras", "jax", "jaxlib")


def look(*, wide: bool = False, stream: TextIO | None = None) -> Look:
    """Return how the output stream wants things to look."""
    stream = stream or sys.stdout
    return look_for(
        os.environ,
        terminal=stream.isatty(),
        encoding=stream.encoding or "ascii",
        columns=terminal_width(120),
        wide=wide,
    )


def measured(workplace: Workplace, wishes: MatrixWishes, *, resume: bool) -> Run:
    """Measure a matrix; on Ctrl-C, show what there is so far before leaving."""
    before = set(workplace.store.names())
    try:
        return resume_matrix(workplace, "latest", wishes) if resume else run_matrix(workplace, wishes)
    except KeyboardInterrupt:
        workplace.process.stop_all()
        begun = [name for name in workplace.store.names() if resume or name not in before]
        if begun:
            run = workplace.store.load(max(begun))
            sys.stderr.write("\n" + _matrix_text(reading_of(workplace, run), look(stream=sys.stderr)))
            sys.stderr.write("go on with: envmgr matrix run --resume\n")
        raise


def answer_of_run(workplace: Workplace, run: Run, *, wide: bool = False, markdown: bool = False) -> Answer:
    """Return a run as an answer: the table and what it means for the exit code."""
    reading = reading_of(workplace, run)
    text = _matrix_markdown if markdown else _matrix_text
    return Answer(
        lambda: run_data(run, reading.judged, reading.summaries),
        lambda: print(text(reading, look(wide=wide)), end=""),
        exit_code(reading.judged),
    )


def _matrix_text(reading: Reading, how: Look) -> str:
    return terminal.matrix(reading.view, how) + "".join(
        "\n" + terminal.original(each, how) for each in reading.originals
    )


def _matrix_markdown(reading: Reading, _how: Look) -> str:
    return matrix_markdown(reading)


def show_plan(planned: Plan) -> None:
    """Print the cells of a plan."""
    print(terminal.plan(planned, look()), end="")


def show_logs(logs: Sequence[CellLog]) -> None:
    """Print logs, one after the other, as text that cannot steer the terminal."""
    for log in logs:
        say(f"== {log.cell}, process {log.round}: {log.path}")
        say(*(clean(line) for line in log.text.splitlines()))


def show_catalogue(entries: Sequence[CatalogueEntry], broken: Sequence[ManifestError]) -> None:
    """Print the list of manifests, and which of them cannot be read."""
    listed = [
        tables.Listed(
            label=entry.name if entry.variant == "default" else f"{entry.name}@{entry.variant}",
            summary=entry.summary,
            match=entry.match,
            state="built" if entry.built else ("locked" if entry.locked else ""),
        )
        for entry in entries
    ]
    print(tables.manifests(listed, look()), end="")
    for error in broken:
        say("", f"broken: {error.what}", *(f"  {line}" for line in error.why.splitlines()))


def show_details(found: Details) -> None:
    """Print one manifest, its locks and its env."""
    manifest = found.manifest
    say(f"{manifest.name}  {manifest.summary}", f"  file          {found.path}", f"  python        {manifest.python}")
    say(f"  requirements  {', '.join(manifest.requirements) or 'a history of steps'}")
    say(*(f"  step          {' '.join(step.install + step.uninstall)} ({step.installer})" for step in manifest.step))
    say(f"  backend       {manifest.backend or 'none'}", f"  runners       {', '.join(manifest.runners) or 'none'}")
    for lock in found.locks:
        state = f"stale: {lock.stale}" if lock.stale else f"{len(lock.distributions)} distributions"
        say(f"  lock          {lock.variant} {lock.platform}: {state}")
    if found.env:
        say(f"  built         {found.env.path}")
        say(*(f"                {name} {version}" for name, version in sorted(found.env.resolved.items())))


def show_examination(found: Examination) -> None:
    """Print what doctor found."""
    print(tables.doctor(found.facts, [(each.label, each.match) for each in found.manifests], look()), end="")
    for what in found.broken:
        say(f"broken: {what}")


def show_pythons(facts: HostFacts) -> None:
    """Print the Pythons of a host."""
    for each in facts.interpreters:
        translated = ", translated" if each.translated else ""
        say(f"{each.version:<10} {each.implementation} {each.arch}{translated:<14} {each.source:<12} {each.executable}")
    for rejected in facts.rejected_interpreters:
        say(f"not usable {rejected.executable}: {rejected.reason}")
    if facts.fetchable_pythons:
        say(f"uv can fetch: {', '.join(facts.fetchable_pythons)}")


def show_builds(reports: Sequence[BuildReport]) -> None:
    """Print what became of each build; what is amiss stands under it."""
    for report in reports:
        if report.steps:
            told = [name for name in _WATCHED if any(name in state.resolved for state in report.steps)]
            print(tables.steps(report.steps, told, look()), end="")
        if report.failure is not None:
            say(f"{report.name}: not built", f"  error: {report.failure.what}")
            say(*(f"    {line}" for line in report.failure.why.splitlines()))
            say(*(f"    try: {line}" for line in report.failure.hint.splitlines()))
            continue
        state = f"built in {report.seconds:.1f} s" if report.fresh else "nothing to do: it is built"
        version = report.interpreter.version if report.interpreter else ""
        say(f"{report.name}: {state} ({len(report.resolved)} distributions, Python {version})", f"  {report.path}")
        say(*(f"  note: {note}" for note in report.notes))
        for check in report.warnings:
            say(f"  warning: {check.name} {check.subject}: wanted {check.wanted}; found {check.found}")
            say(*(f"    try: {line}" for line in check.hint.splitlines()))


def show_verification(found: Verification) -> None:
    """Print every check."""
    print(tables.verification(found, look()), end="")


def show_devices(found: Offer) -> None:
    """Print what a backend offers and what it does not."""
    elsewhere = [(card.name, f"here through {', '.join(card.apis) or 'no API'}") for card in found.not_offered]
    print(tables.devices(found.manifest, found.listing, elsewhere, look()), end="")
    for check in found.checks:
        if not check.passed or check.lacks:
            say(f"{check.name}: wanted {check.wanted}; found {check.found}")
            say(*(f"  try: {line}" for line in check.hint.splitlines()))
            say(*(f"  {lack.name}: {lack.why}" for lack in check.lacks))


def show_locks(made: Sequence[LockMade]) -> None:
    """Print which locks were made."""
    for each in made:
        if each.error:
            say(
                f"not locked  {each.label} {each.platform}: {each.error}",
                *(f"  {line}" for line in each.why.splitlines()),
            )
        else:
            say(f"{each.state:<10}  {each.label} {each.platform}: {each.distributions} distributions, {each.path}")
        say(*(f"  note: {note}" for note in each.notes))


def show_lock_check(verdicts: Sequence[LockVerdict]) -> None:
    """Print the verdict on every lock."""
    for each in verdicts:
        say(f"{each.state:<8}  {each.label} {each.platform}" + (f": {each.reason}" if each.reason else ""))


def show_rubbish(found: Sequence[Rubbish], *, removed: bool, to_stderr: bool) -> None:
    """Print folders with their sizes, and the sum."""
    stream = sys.stderr if to_stderr else sys.stdout
    for item in found:
        print(f"{amount(item.size):>10}  {item.manifest or item.what:<28} {item.path}", file=stream)
    word = "removed" if removed else "would be removed"
    print(f"{amount(sum(item.size for item in found)):>10}  {word}, {len(found)} folders", file=stream)
