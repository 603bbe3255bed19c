"""Answers for people about locks and environments; a table's renderer is imported where a table is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from envmgr.app.cleaning import Rubbish
from envmgr.app.listing import Offer
from envmgr.app.relocking import LockMade, LockVerdict
from envmgr.app.verifying import BuildReport
from envmgr.cli.look import look
from envmgr.cli.session import say
from envmgr.model.env import Verification
from envmgr.model.finding import Finding
from envmgr.report.causes import told
from envmgr.report.text import amount, clean, sharing_in_words

_WATCHED = ("plaidml", "plaidml-keras", "torch", "torchvision", "tensorflow", "keras", "jax", "jaxlib")


def show_builds(reports: Sequence[BuildReport]) -> None:
    """Print what became of each build; what is amiss stands under it."""
    for report in reports:
        if report.steps:
            from envmgr.report import tables

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
        if report.fresh:
            say(f"  files: {sharing_in_words(report.sharing, report.sharing_why)}")
        say(*(f"  note: {note}" for note in report.notes))
        for check in report.warnings:
            say(f"  warning: {check.name} {check.subject}: wanted {check.wanted}; found {check.found}")
            say(*(f"    try: {line}" for line in check.hint.splitlines()))
        say(*(f"  finding: {line}" for line in _short(report.finding)))


def _short(finding: Finding | None) -> Iterator[str]:
    """Yield a finding in short: its causes, and the command that proves it."""
    if finding is not None:
        yield from (clean(told(cause)) for cause in finding.causes)
        yield f"to prove it: {finding.next}"


def show_verification(found: Verification) -> None:
    """Print every check."""
    from envmgr.report import tables

    print(tables.verification(found, look()), end="")
    say(*(f"finding: {line}" for line in _short(found.finding)))


def show_devices(found: Offer) -> None:
    """Print what a backend offers and what it does not."""
    from envmgr.report import tables

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
                *(f"  try: {line}" for line in each.hint.splitlines()),
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
