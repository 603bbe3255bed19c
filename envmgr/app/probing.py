"""Asking an env's backend which devices there are, in a cell's own surroundings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.confining import outside, writable_of
from envmgr.app.place import HostPlace
from envmgr.backends import attributed, backend_for
from envmgr.backends.keras import PROBE as KERAS_PROBE
from envmgr.env.surroundings import CellPlace, CellWishes, cell_environment
from envmgr.host.surroundings import system_of
from envmgr.model.env import Device, DeviceListing, Env
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Phase
from envmgr.ports import ProcessRequest

_SECONDS = 300.0


def variables_of(
    workplace: HostPlace, env: Env, manifest: Manifest, home: Path, selection: Mapping[str, str]
) -> dict[str, str]:
    """Return the complete environment of a process of this env; `selection` is what chooses backend and device."""
    place = CellPlace(
        env=Path(env.path),
        home=home,
        project=workplace.base,
        system=system_of(workplace.caller.system),
    )
    host = workplace.host_variables(manifest.backend)
    wishes = CellWishes(backend={**host, **selection}, manifest=manifest.env, unset=manifest.unset)
    return cell_environment(workplace.caller.environment, place, wishes)


def selection_of(manifest: Manifest, device: Device | None) -> dict[str, str]:
    """Return the variables that choose the manifest's backend and a device."""
    if manifest.backend is None:
        return {}
    backend = backend_for(manifest.backend)
    return {**backend.base_environment(), **backend.select(device)}


def list_devices(workplace: HostPlace, env: Env, manifest: Manifest, facts: HostFacts) -> DeviceListing:
    """Return what the manifest's backend says in its env; a probe that fails is a listing with an error."""
    if manifest.backend is None:
        return DeviceListing(backend="")
    backend = backend_for(manifest.backend)
    return attributed(_ask(workplace, env, manifest, (backend.name, backend.probe), None), facts)


def try_device(workplace: HostPlace, env: Env, manifest: Manifest, device: Device) -> DeviceListing:
    """Return what the backend's probe says after one small operation on a device."""
    backend = backend_for(manifest.backend or "")
    return _ask(workplace, env, manifest, (backend.name, backend.probe), device)


def ask_keras(workplace: HostPlace, env: Env, manifest: Manifest) -> DeviceListing:
    """Return what Keras in the env says of the backend that it really uses."""
    return _ask(workplace, env, manifest, ("keras", KERAS_PROBE), None)


def _ask(
    workplace: HostPlace, env: Env, manifest: Manifest, probe: tuple[str, Path], device: Device | None
) -> DeviceListing:
    name, script = probe
    files = workplace.files
    with files.scratch("probe") as folder:
        home = folder / "home"
        files.make_folder(home)
        request, report = folder / "in.json", folder / "out.json"
        files.write(request, json.dumps({"device": device.id if device else None}))
        argv = (env.python, "-I", str(script), "--request", str(request), "--report", str(report))
        variables = variables_of(workplace, env, manifest, home, selection_of(manifest, device))
        writable = (folder, *outside(workplace), *writable_of(workplace, env)) if env.linked else None
        done = workplace.process.run(ProcessRequest(argv, folder, variables, timeout=_SECONDS, writable=writable))
        text = files.read(report)
    if text is not None:
        try:
            return DeviceListing.model_validate_json(text)
        except ValidationError as fault:
            return _unanswered(name, f"the probe's report cannot be read: {fault.errors()[0]['msg']}")
    words = (done.stderr.strip().splitlines() or [""])[-1]
    end = f"signal {done.signal}" if done.signal else "its time limit" if done.timed_out else f"exit {done.exit_code}"
    return _unanswered(name, f"the probe of {name} ended with {end}: {words}".rstrip(": "))


def _unanswered(name: str, error: str) -> DeviceListing:
    return DeviceListing(backend=name, error=error, error_phase=Phase.BACKEND)
