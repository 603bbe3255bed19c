"""Evidence: what speaks for a verdict, each item a quote with where it stands; values never show credentials."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Sequence

from envmgr.diagnose.knowledge import in_standard_library, settings
from envmgr.diagnose.reading import telling_lines
from envmgr.diagnose.releases import of_version
from envmgr.diagnose.situation import Situation
from envmgr.diagnose.steering import steers_installers, steers_loading
from envmgr.model.finding import Cause, Evidence
from envmgr.model.redaction import redact, shown_variable

_MOST_FRAMES = 4
_MOST_OF_A_KIND = 6
_LONGEST = 300
_OF_A_DERIVATION = re.compile(r"\b(?:Because|And because|we can conclude|cannot be used|depends on)\b")
_INSTALLERS_FILES = ("pip.conf", "pip.ini", "uv.toml", ".pydistutils.cfg")


def evidence(situation: Situation, causes: Sequence[Cause] = ()) -> tuple[Evidence, ...]:
    """Return what speaks for the verdict: what was said, what is installed, what stands around it, the machine."""
    blamed = {cause.name for cause in causes}
    return tuple(
        dict.fromkeys(
            (
                *_said(situation),
                *_derivation(situation),
                *_ended(situation),
                *_frames(situation),
                *_requirements(situation),
                *_disagreements(situation),
                *_files_owned(situation),
                *_shadows(situation),
                *_variables(situation, blamed),
                *_settings_files(situation, blamed),
                *_host(situation),
            )
        )
    )


def _output(situation: Situation) -> str:
    return "the probe's output" if situation.seen.built else "the installer's output"


def _said(situation: Situation) -> Iterator[Evidence]:
    """The lines that tell most, the last exception of the chain among them."""
    if situation.seen.passed:
        return
    text = situation.reading.text
    places = {line.strip(): number for number, line in enumerate(text.splitlines(), 1)}
    lines = telling_lines(text)
    message = situation.reading.message[:_LONGEST]
    for line in (*lines, message) if message and not any(message in line for line in lines) else lines:
        number = next((places[whole] for whole in places if whole.startswith(line)), 0)
        yield Evidence(
            quote=redact(line), where=f"{_output(situation)}, line {number}" if number else _output(situation)
        )


def _derivation(situation: Situation) -> Iterator[Evidence]:
    """The steps by which a resolver came to see that nothing fits."""
    if situation.seen.built:
        return
    lines = [" ".join(line.split()) for line in situation.reading.text.splitlines() if _OF_A_DERIVATION.search(line)]
    for line in lines[: _MOST_OF_A_KIND * 2]:
        yield Evidence(quote=redact(line)[: _LONGEST * 2], where="the resolver's derivation")


def _ended(situation: Situation) -> Iterator[Evidence]:
    number = situation.seen.signal
    if number:
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = "no name here"
        yield Evidence(quote=f"ended by signal {number} ({name})", where="the probe's exit status")


def _frames(situation: Situation) -> Iterator[Evidence]:
    """The last frames, each with the distribution whose code it is, the version, and when that came out."""
    for frame in [frame for frame in situation.reading.frames if frame.top][-_MOST_FRAMES:]:
        owner = situation.contents.owner_of(frame.module)
        if not owner:
            continue
        version = situation.seen.resolved.get(owner, "")
        release = of_version(situation.releases(owner), version)
        day = f", released {release.uploaded}" if release and release.uploaded else ""
        quote = f"{frame.file}:{frame.line} {frame.function}".strip()
        yield Evidence(quote=quote, where=f"{owner} {version}{day}")


def _requirements(situation: Situation) -> Iterator[Evidence]:
    for unmet in situation.unmet[:_MOST_OF_A_KIND]:
        there = f"there is {unmet.name} {unmet.found}" if unmet.found else "it is not there"
        yield Evidence(quote=f"{unmet.of} requires {unmet.wanted}: {there}", where=f"metadata of {unmet.of}")


def _disagreements(situation: Situation) -> Iterator[Evidence]:
    """Where what was asked for, locked and installed are not the same."""
    installed = situation.seen.resolved if situation.seen.built else {}
    for line in situation.lines:
        there = installed.get(line.key, "")
        if there and line.specifier and not line.admits(there):
            quote = f"{line.text()} was asked for; {there} is installed"
            yield Evidence(quote=quote, where=f"requirements; METADATA of {line.key}")
    apart = [(n, v, installed[n]) for n, v in situation.locked.items() if installed.get(n, v) != v]
    for name, locked, there in apart[:_MOST_OF_A_KIND]:
        yield Evidence(quote=f"{name} {locked} is locked; {there} is installed now", where=f"lock; METADATA of {name}")


def _files_owned(situation: Situation) -> Iterator[Evidence]:
    contents = situation.contents
    for distribution in contents.gutted:
        quote = f"{distribution.lost[0]} of {distribution.name} is not there"
        yield Evidence(quote=quote, where=f"RECORD of {distribution.name}")
    for group in contents.shared()[:_MOST_OF_A_KIND]:
        common = frozenset.intersection(*(contents.by_name[name].files for name in group))
        example = min(common, key=lambda path: (path.count("/"), path))
        yield Evidence(
            quote=f"{example} belongs to {' and '.join(group)}",
            where=" and ".join(f"RECORD of {name}" for name in group),
        )


def _shadows(situation: Situation) -> Iterator[Evidence]:
    """Modules that stand before others: of the folder, of a path variable, and of distributions."""
    wanted = {module.split(".")[0] for module in situation.imported}
    tops = (path.split("/")[1].removesuffix(".py") for path in situation.around.files if _is_module(path))
    for top in dict.fromkeys(tops):
        if in_standard_library(top) or situation.contents.has(top) or top in wanted:
            meant = "of the standard library" if in_standard_library(top) else situation.contents.owner_of(top)
            yield Evidence(quote=f"{top} stands before the module {top} {meant}".strip(), where="the caller's folder")
    for module, name in sorted(situation.around.foreign.items())[:_MOST_OF_A_KIND]:
        variable = shown_variable(name, situation.around.variables.get(name, ""))[:_LONGEST]
        yield Evidence(quote=f"{module} comes in through {variable}", where="the caller's variables")
    for module in sorted(module for module in situation.contents.owners if "." not in module):
        if in_standard_library(module):
            owner = situation.contents.owner_of(module)
            yield Evidence(
                quote=f"{owner} installs a module {module}, as the standard library does", where=f"RECORD of {owner}"
            )


def _is_module(path: str) -> bool:
    parts = path.split("/")
    return parts[0] == "cwd" and (len(parts) == 2 or parts[2:] == ["__init__.py"]) and path.endswith(".py")


def _variables(situation: Situation, blamed: Iterable[str]) -> Iterator[Evidence]:
    """The variables that take part: of Python and the loader, of installers, and of libraries that are here."""
    libraries = {module.split(".")[0].upper().replace("-", "_") for module in situation.contents.owners}
    of_phase = steers_loading if situation.seen.built else steers_installers
    for name, value in sorted(situation.around.variables.items()):
        of_library = name in settings() or name.split("_", maxsplit=1)[0] in libraries or f"{name}_" in libraries
        told = name in blamed or name in situation.reading.variables
        if told or of_phase(name) or (situation.seen.built and of_library) or name in situation.around.dead:
            where = "the caller's variables"
            where += ": nothing is there" if name in situation.around.dead else ""
            yield Evidence(quote=shown_variable(name, value)[:_LONGEST], where=where)


def _settings_files(situation: Situation, blamed: Iterable[str]) -> Iterator[Evidence]:
    """Settings in HOME of what is installed, or of the installers where they stopped."""
    libraries = {module.split(".")[0].lower() for module in situation.contents.owners}
    for path, text in sorted(situation.around.files.items()):
        if not path.startswith("home/") or path.endswith(".netrc") or text.startswith("#!"):
            continue
        name = path.rsplit("/", 1)[-1]
        of_installer = name in _INSTALLERS_FILES
        of_library = libraries & set(re.findall(r"[a-z0-9]+", path.lower()))
        if name in blamed or of_installer or (situation.seen.built and of_library):
            first = redact(" ".join(text.split()))[:_LONGEST]
            yield Evidence(quote=first or "(empty)", where=f"~/{path.removeprefix('home/')}")


def _host(situation: Situation) -> Iterator[Evidence]:
    host = situation.host
    tag = next((tag for tag in host.platforms if not tag.startswith("linux_")), "")
    floor = f", {tag}" if tag else ""
    devices = ", ".join(host.accelerators) or "no accelerator"
    quote = f"{host.system} {host.machine}{floor}, Python {situation.world.python}, {devices}"
    yield Evidence(quote=quote, where="this machine")
