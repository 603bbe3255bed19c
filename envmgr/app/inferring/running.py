"""Runs a script itself, because that was asked for: in copies of its folder and an empty HOME, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import take_snapshot
from envmgr.app.experiments.standpoint import Place
from envmgr.app.experiments.variables import probe_environment
from envmgr.app.inferring.quest import Attempt
from envmgr.app.inferring.reading import Script
from envmgr.ports import ProcessRequest

_APART = ("unshare", "--map-root-user", "--net")


def run_script(
    scripts: Sequence[Script], attempt: Attempt, laboratory: Laboratory, place: Place, seconds: float
) -> str:
    """Return in one line how each script ended in an attempt's environment; what they write is thrown away."""
    apart = _APART if place.process.run(ProcessRequest((*_APART, "true"), timeout=20, kept=False)).good else ()
    told = [_ran(script, attempt, laboratory, place, (seconds, apart)) for script in scripts]
    network = "without a network" if apart else "with the network, as this system does not let it be taken away"
    return f"{'; '.join(told)} ({network})"


def _ran(
    script: Script, attempt: Attempt, laboratory: Laboratory, place: Place, limits: tuple[float, Sequence[str]]
) -> str:
    seconds, apart = limits
    built = laboratory.stand(attempt.world)
    with place.files.scratch("infer-run") as room:
        take_snapshot(place.files, place.home, script.path.parent, (), room)
        copy = room / "cwd" / script.path.name
        if copy.suffix != ".py":
            copy = copy.with_suffix(".py")
            place.files.write(copy, script.source.code)
        environment = probe_environment(laboratory.bench, attempt.world, built.venv, room / "home")
        argv = (*apart, str(laboratory.bench.python_of(built.venv)), str(copy))
        writable = (room, Path("/dev"), Path("/proc")) if place.confines else None
        done = place.process.run(ProcessRequest(argv, copy.parent, environment, timeout=seconds, writable=writable))
    if done.good:
        return f"{script.name} ran to its end in {done.elapsed:.0f} s"
    if done.timed_out:
        return f"{script.name} ran for {seconds:.0f} s and was ended"
    last = next((line.strip() for line in reversed(done.stderr.splitlines()) if line.strip()), f"exit {done.exit_code}")
    return f"{script.name} ended with: {last[:300]}"
