"""Everything but the matrix in a terminal: what a host is and can have, devices, manifests, checks, histories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from envmgr.model.env import Check, DeviceListing, StepState, Verification
from envmgr.model.host import HostFacts, Lack, Match
from envmgr.report.look import Look
from envmgr.report.rich_text import new_table, render
from envmgr.report.settings import told_settings
from envmgr.report.text import amount, clean

_GOOD, _BAD, _DIM = "green", "bold red", "dim"


class Listed(NamedTuple):
    """One manifest as `list` shows it: `state` tells how far it is (built, locked, ...)."""

    label: str
    summary: str
    match: Match
    state: str = ""


def doctor(facts: HostFacts, possible: Iterable[tuple[str, Match]], look: Look) -> str:
    """Return what a machine is, what it lacks, and for each version set whether it can have it and why not."""
    parts: list[RenderableType] = [_machine(facts)]
    if facts.accelerators:
        rows = [(item.name, item.vendor, ", ".join(item.apis) or "none", item.detail) for item in facts.accelerators]
        parts += _titled("Accelerators", ("name", "vendor", "through", ""), rows, look)
    if facts.drivers:
        drivers = [
            (item.api, item.name, item.version, item.detail or ("" if item.usable else "not usable"))
            for item in facts.drivers
        ]
        parts += _titled("Drivers", ("api", "name", "version", ""), drivers, look)
    pythons = [
        (
            item.version,
            item.implementation,
            item.arch + (" (translated)" if item.translated else ""),
            item.source,
            item.executable,
        )
        for item in facts.interpreters
    ]
    parts += _titled("Pythons", ("version", "kind", "arch", "from", "executable"), pythons, look)
    settings = list(told_settings(facts.settings))
    if settings:
        parts += _titled("Settings of pip and uv that take part", ("setting", "value", "from"), settings, look)
    parts += _possible(possible, look)
    parts += _lacks(facts.lacks)
    return render(parts, look)


def manifests(listed: Iterable[Listed], look: Look) -> str:
    """Return the version sets there are, with what they are and how far they are."""
    table = new_table(("version set", "here", "state", "summary"), look, folding=(0, 3))
    for one in listed:
        here = _mark(one.match.fits, look, "yes" if one.match.fits else "no")
        table.add_row(clean(one.label), here, clean(one.state), clean(one.summary))
    return render([table], look)


def devices(label: str, listing: DeviceListing, elsewhere: Sequence[tuple[str, str]], look: Look) -> str:
    """Return what a backend offers, and which devices of the host it does not: `elsewhere` is (device, reason)."""
    title = clean(f"{label}: {listing.backend} {listing.version}".rstrip())
    parts: list[RenderableType] = [Text(title, style="bold")]
    if listing.error:
        phase = f" ({listing.error_phase.value})" if listing.error_phase else ""
        parts.append(Text(f"the backend cannot be asked{phase}: {clean(listing.error)}", style=_BAD))
    table = new_table(("device", "api", "kind", "physical", ""), look, folding=(0, 3, 4))
    for device in listing.devices:
        kind = "experimental" if device.experimental else "default"
        state = (
            Text(clean(device.detail))
            if device.valid
            else _mark(good=False, look=look, word=clean(f"not to be opened: {device.detail}"))
        )
        table.add_row(clean(device.id), clean(device.api), kind, clean(device.physical), state)
    if listing.devices:
        parts.append(table)
    for api, built in listing.built.items():
        available = listing.available.get(api, False)
        reason = f": {listing.reasons[api]}" if api in listing.reasons else ""
        told = f"{api}: {'built' if built else 'not built'}, {'available' if available else 'not available'}{reason}"
        parts.append(Text(clean(told), style=_GOOD if available else _DIM))
    if elsewhere:
        parts += _titled("Not offered", ("device", "why"), elsewhere, look)
    return render(parts, look)


def verification(found: Verification, look: Look) -> str:
    """Return every check with its sign, what was wanted and found, and what to do."""
    label = found.manifest if found.variant == "default" else f"{found.manifest}@{found.variant}"
    bad = sum(not check.passed for check in found.checks)
    table = new_table(("", "check", "subject", "wanted", "found"), look, folding=(1, 2, 3, 4))
    for check in found.checks:
        texts = (check.name, check.subject, check.wanted, check.found)
        table.add_row(_mark(check.passed, look), *(clean(text) for text in texts))
    parts: list[RenderableType] = [Text(clean(label), style="bold"), table]
    parts += [Text(f"{clean(check.name)}: {clean(check.hint)}") for check in _hinted(found.checks)]
    parts += _lacks(lack for check in found.checks for lack in check.lacks)
    verdict = f"{bad} of {len(found.checks)} checks failed" if bad else f"all {len(found.checks)} checks passed"
    parts.append(Text(verdict, style=_BAD if bad else _GOOD))
    return render(parts, look)


def steps(states: Sequence[StepState], watched: Sequence[str], look: Look) -> str:
    """Return a history of installs: what each step asked for, what was really there after it, and what came apart.

    `watched` are the distributions whose versions tell the story; without any, those whose version ever changed.
    """
    names = tuple(watched) or _changed(states)
    table = new_table(("step", "asked", *names, "together"), look, folding=range(1, 3 + len(names)))
    for state in states:
        versions = [clean(state.resolved.get(name, "absent")) for name in names]
        failed = [] if state.exit_code == 0 else [f"the installer ended with exit code {state.exit_code}"]
        amiss = "; ".join((*failed, *state.mismatches))
        together = _mark(not amiss, look, clean(amiss) or "yes")
        table.add_row(f"{state.number}", clean(f"{state.installer}: {state.asked}"), *versions, together)
    return render([table], look)


def _machine(facts: HostFacts) -> Text:
    system = " ".join(part for part in (facts.system, facts.os_version, facts.machine, facts.libc) if part)
    processor = f"{facts.processor or 'processor unknown'}, {facts.cores} cores, {amount(facts.memory)}"
    return Text(clean(facts.name), style="bold").append(
        f"\n{clean(system)}\n{clean(processor)}", style="default not bold"
    )


def _possible(possible: Iterable[tuple[str, Match]], look: Look) -> list[RenderableType]:
    table = new_table(("version set", "here", "with, or why not"), look, folding=(0, 2))
    for label, match in possible:
        table.add_row(clean(label), _mark(match.fits, look, "yes" if match.fits else "no"), clean(_means(match)))
    return [Text("\nVersion sets", style="bold"), table]


def _means(match: Match) -> str:
    if match.reason:
        return match.reason
    if match.interpreter:
        translated = ", translated" if match.interpreter.translated else ""
        return f"{match.interpreter.implementation} {match.interpreter.version} {match.interpreter.arch}{translated}"
    return f"Python {match.fetch}, to be fetched by uv"


def _lacks(lacks: Iterable[Lack]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for lack in lacks:
        minimum = f" {lack.minimum} or newer" if lack.minimum else ""
        text = Text(f"lacking {lack.need}: ", style=_BAD)
        text.append(clean(f"{lack.name}{minimum}: {lack.why}"), style="default not bold")
        for manager, command in lack.how.items():
            text.append(f"\n  {clean(manager)}: {clean(command)}", style="default not bold")
        parts.append(text)
    return parts


def _titled(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], look: Look) -> list[RenderableType]:
    table: Table = new_table(heads, look, folding=range(len(heads)))
    for row in rows:
        table.add_row(*(clean(text) for text in row))
    return [Text(f"\n{title}", style="bold"), table]


def _mark(good: bool, look: Look, word: str = "") -> Text:
    sign = ("✓" if good else "✗") if look.unicode else ("+" if good else "x")
    return Text(f"{sign} {word}".rstrip(), style=_GOOD if good else _BAD)


def _hinted(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.hint and not check.passed]


def _changed(states: Sequence[StepState]) -> tuple[str, ...]:
    names = dict.fromkeys(name for state in states for name in state.resolved)
    return tuple(name for name in names if len({state.resolved.get(name) for state in states}) > 1)
