"""The user's own command in an env: the cell's home, variables and device, in the caller's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from envmgr.app.building import Builder, BuildWishes, Built
from envmgr.app.hosting import facts_here, pythons_here
from envmgr.app.laying import lay_data
from envmgr.app.other_python import other_python
from envmgr.app.probing import list_devices, selection_of, variables_of
from envmgr.app.sharing import make_own
from envmgr.app.user_shell import at_hand, path_of, shell_of, way_back
from envmgr.app.workplace import Workplace
from envmgr.backends import api_of, backend_for
from envmgr.errors import HostError, UsageError
from envmgr.host.devices import device_reason
from envmgr.manifest.expand import select, variants
from envmgr.manifest.faults import suggest
from envmgr.model.env import Device
from envmgr.model.manifest import Manifest
from envmgr.ports import Event, ProcessRequest
from envmgr.system.programs import find_program

_SIGNAL_BASE = 128


def build_named(workplace: Workplace, name: str, wishes: BuildWishes) -> Built:
    """Return the env of one name as the user types it, built if it is not there yet.

    What floats is not resolved anew here: by hand one wants what was built last.
    """
    manifest, variant = pick_one(workplace, name)
    facts = pythons_here(workplace, wishes.python, downloads=wishes.downloads)
    builder = Builder(workplace, facts, wishes)
    last = builder.find(manifest, variant) if manifest.floating else None
    return last or builder.build(manifest, variant)


def pick_one(workplace: Workplace, name: str) -> tuple[Manifest, str]:
    """Return manifest and variant for a name as the user types it; raises UsageError when it names several."""
    picked = select((name,), workplace.shelf)
    if len(picked) != 1:
        found = ", ".join(manifest.name for manifest, _ in picked)
        raise UsageError(f"{name!r} names {len(picked)} manifests", f"wanted one; found {found}", "name one of them")
    manifest, variant = picked[0]
    return manifest, variant or variants(manifest)[0]


def run_by_hand(
    workplace: Workplace,
    name: str,
    device: str | None,
    argv: Sequence[str] | None,
    *,
    talk_only: bool = False,
    staying: bool = True,
) -> int:
    """Run a command (None: the user's shell) with an env's surroundings in the caller's folder and terminal.

    Returns its exit code. Without `staying` this process becomes the command, where the system can do that: signals,
    job control and whoever waits for it have to do with nothing else.

    The manifest's home is kept from one call to the next, so that nothing is downloaded twice; the data in it is laid
    anew each time. With `talk_only` the command's stdout goes to stderr.
    """
    built = build_named(workplace, name, BuildWishes())
    return enter(workplace, built, device, argv, talk_only=talk_only, staying=staying)


def enter(
    workplace: Workplace,
    built: Built,
    device: str | None,
    argv: Sequence[str] | None,
    *,
    talk_only: bool = False,
    staying: bool = True,
) -> int:
    """Run a command in an env that is built, as `run_by_hand` does."""
    manifest = built.target.manifest
    built = replace(built, env=make_own(workplace, built.env))
    home = workplace.folder_of("homes") / f"{manifest.name}-{built.env.key}"
    workplace.files.make_folder(home)
    _lay_anew(workplace, manifest, home)
    chosen = find_device(workplace, built, device or manifest.device)
    cells = variables_of(workplace, built.env, manifest, home, selection_of(manifest, chosen))
    variables = _by_hand(workplace, manifest, cells) | {"VIRTUAL_ENV_PROMPT": built.target.label}
    if argv is None:
        argv, prompt = _shell(workplace, built.target.label, home)
        variables |= prompt
    else:
        _warn_of_other_python(workplace, built, argv[0], variables["PATH"])
    workplace.listener.on_terminal_taken()
    request = ProcessRequest(
        tuple(argv),
        cwd=workplace.caller.folder,
        env=variables | way_back(workplace.caller.environment, variables),
        shared_terminal=True,
        talk_only=talk_only,
    )
    done = workplace.process.run(request) if staying else workplace.process.become(request)
    if not done.started:
        raise UsageError(f"{argv[0]} cannot be started", done.stderr, f"is {Path(argv[0]).name} in the environment?")
    return done.exit_code or 0 if done.signal is None else _SIGNAL_BASE + done.signal


def _warn_of_other_python(workplace: Workplace, built: Built, name: str, path: str) -> None:
    """Tell who asks for a program that the env lacks, and gets another Python's instead, before it is started."""
    found = find_program(name, path) if PurePath(name).name == name else None
    python = other_python(found.place, found.head, PurePath(built.env.python).parent) if found else None
    if found and python:
        run_by = "" if python == str(found.place) else f" (Python: {python})"
        text = f"has no program {name}; this is {found.place}{run_by}, which sees nothing of the environment"
        workplace.listener.on_event(Event("warning", built.target.label, text))


def _by_hand(workplace: Workplace, manifest: Manifest, variables: Mapping[str, str]) -> dict[str, str]:
    """Return a cell's variables with what a command by hand has besides: the caller's programs, windows and agents."""
    caller, system = workplace.caller.environment, workplace.caller.system
    kept = {name: value for name, value in at_hand(caller, system).items() if name not in manifest.unset}
    own = variables["PATH"].partition(";" if system == "win32" else ":")[0]
    return {**kept, **variables, "PATH": path_of(own, caller, system)}


def _shell(workplace: Workplace, label: str, home: Path) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the command and the variables of the user's shell, with what it reads in the env's home put there."""
    shell = shell_of(workplace.caller.environment, workplace.caller.system, label)
    for name, text in shell.files.items():
        if not workplace.files.exists(home / name):
            workplace.files.write(home / name, text)
    return shell.argv, shell.variables


def _lay_anew(workplace: Workplace, manifest: Manifest, home: Path) -> None:
    """Put fresh copies of the manifest's data into its home, and take out those that it no longer names."""
    record = home / ".envmgr-data.json"
    for path in json.loads(workplace.files.read(record) or "[]"):
        workplace.files.remove(home / path)
    laid = lay_data(workplace, manifest, home)
    workplace.files.write(record, json.dumps([path.relative_to(home).as_posix() for path in laid]))


def find_device(workplace: Workplace, built: Built, asked: str | None) -> Device | None:
    """Return the device that a name means in an env; raises HostError when the backend does not list it."""
    manifest = built.target.manifest
    if asked is None:
        return None
    if manifest.backend is None:
        raise UsageError(
            f"{manifest.name} has no backend, so no device can be chosen",
            f"wanted {asked}",
            'give the manifest a backend = "..."',
        )
    backend = backend_for(manifest.backend)
    facts = facts_here(workplace)
    listing = list_devices(workplace, built.env, manifest, facts)
    found = next((each for each in listing.devices if each.valid and backend.matches(asked, each)), None)
    if found is not None:
        return found
    reason = device_reason(api_of(asked), facts, built.env.interpreter, built.env.resolved)
    _, reason = backend.absent(asked, listing, facts, reason)
    known = [each.id for each in listing.devices]
    listed = ", ".join(known) or listing.error or "none"
    meant = suggest(asked, {*known, *backend.apis})
    raise HostError(
        f"{manifest.name} has no device {asked} here",
        f"{reason}; it lists: {listed}" + (f"; {meant}" if meant.startswith("did you mean") else ""),
        f"envmgr devices {manifest.name}",
    )
