"""A bisection as text for people: the boundary first, then what proves it, then everything that was tried."""

from __future__ import annotations

from collections.abc import Iterator

from envmgr.model.bisection import Bisection, Trial
from envmgr.report.look import Look
from envmgr.report.rich_text import new_table, render
from envmgr.report.text import clean, processes, seconds

_LISTED = 12


def text(found: Bisection, look: Look) -> str:
    """Return the whole answer, ready to be printed."""
    table = new_table(("point", "of", "verdict", "asked", *_extra_heads(found), "why"), look, folding=(5,))
    for trial in found.tried:
        table.add_row(*_row(found, trial))
    return "".join(f"{line}\n" for line in _head(found)) + "\n" + render([table], look)


def _head(found: Bisection) -> Iterator[str]:
    good, bad = found.last_good, found.first_bad
    yield f"{found.subject}: {found.criterion}"
    yield f"  last good  {_end(good)}"
    yield f"  first bad  {_end(bad)}"
    if found.reason:
        yield f"  why        {clean(found.reason)}"
    if not found.exact:
        yield "  a range    the change came with one of the points after the last good one, up to the first bad one"
    if found.untried:
        yield f"  untried    {_listed(found.untried)}"
    if found.flaky:
        yield f"  flaky      {_listed(found.flaky)}"
    if found.left_out:
        yield f"  left out   {_listed(tuple(f'{each.label} ({each.reason})' for each in found.left_out))}"
    moved = [f"{each.name} {each.good or 'none'} -> {each.bad or 'none'}" for each in found.changed]
    if moved:
        yield f"  changed    {_listed(tuple(moved))}"
    resumed = f", {found.resumed} points known from before" if found.resumed else ""
    repeats = f", {found.repeats} more to rule out chance" if found.repeats else ""
    yield f"  probes     {found.probes} of at most {found.bound} for {found.points} points{repeats}{resumed}"
    if good.run and bad.run:
        yield f"  next       envmgr matrix compare {good.run} {bad.run}"


def _end(trial: Trial) -> str:
    versions = {name: v for name, v in trial.point.versions.items() if v != trial.point.label}
    parts = [trial.point.label, trial.point.date if trial.point.date != trial.point.label else ""]
    parts += [f"{name} {version}" for name, version in versions.items()]
    parts += [f"{name} at {trial.revisions[name]}" for name in trial.point.versions if name in trial.revisions]
    if trial.median is not None:
        parts.append(f"median {trial.median:.4g} of {processes(len(trial.samples))}")
    return "  ".join(part for part in parts if part)


def _extra_heads(found: Bisection) -> tuple[str, ...]:
    return ("median", "ratio") if any(trial.samples for trial in found.tried) else ("took",)


def _row(found: Bisection, trial: Trial) -> tuple[str, ...]:
    same = f"{_likeness(found, trial)} as {trial.same_as}: skipped" if trial.same_as else ""
    asked = str(trial.asked) if trial.asked else "-"
    why = "; ".join(part for part in (same, clean(trial.reason)) if part)
    date = "" if trial.point.date == trial.point.label else trial.point.date
    figures: tuple[str, ...] = (seconds(trial.seconds),)
    if any(each.samples for each in found.tried):
        middle = f"{trial.median:.4g}" if trial.median is not None else ""
        figures = (middle, f"{trial.ratio:.3g}" if trial.ratio is not None else "")
    return (trial.point.label, date, trial.verdict, asked, *figures, why)


def _likeness(found: Bisection, trial: Trial) -> str:
    twin = next((each for each in found.tried if each.point.label == trial.same_as), trial)
    return "same versions" if twin.resolved == trial.resolved else "same revision"


def _listed(items: tuple[str, ...]) -> str:
    rest = f" and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(items[:_LISTED]) + rest
