"""Proves what was inferred once more: in the environment that the written lock builds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from envmgr.app.building import Builder, BuildWishes, Built
from envmgr.app.confining import outside
from envmgr.app.hosting import facts_here
from envmgr.app.inferring.reading import read_scripts
from envmgr.app.probing import variables_of
from envmgr.app.workplace import Workplace
from envmgr.errors import BuildError, EnvmgrError
from envmgr.infer.probe import make_probe, read_proof
from envmgr.manifest.expand import DEFAULT
from envmgr.model.inference import Inference, MissingName, Proof
from envmgr.ports import Event, ProcessRequest

_SECONDS = 300.0


def prove(workplace: Workplace, path: Path, inference: Inference, scripts: Sequence[Path]) -> Proof:
    """Return what the probe sees in the environment of a manifest's lock; raises BuildError where that is not built."""
    name = path.stem
    workplace.listener.on_event(Event("proving", name, "in the environment of its lock"))
    try:
        built = Builder(workplace, facts_here(workplace), BuildWishes()).build(workplace.shelf[name], DEFAULT)
    except EnvmgrError as error:
        what = f"{path} is written and locked, and cannot be built"
        raise BuildError(what, f"{error.what}: {error.why}", f"envmgr build {name}") from error
    proof = _probed(workplace, built, _code(workplace, inference, scripts))
    return proof.model_copy(update={"locked": True, "ran": inference.proof.ran})


def _code(workplace: Workplace, inference: Inference, scripts: Sequence[Path]) -> str:
    """Return the probe for the same scripts, in which the same may be missing as before."""
    reading = read_scripts(scripts, workplace.files)
    unreachable = {origin.module for origin in inference.modules if origin.kind == "unreachable"}
    needed = {each.name for each in inference.proof.missing if each.required}
    spared = {each.name for each in inference.proof.missing} - needed
    return make_probe(reading.surfaces, unreachable, spared, local=reading.local).code


def _probed(workplace: Workplace, built: Built, code: str) -> Proof:
    files, env = workplace.files, built.env
    with files.scratch("proof") as folder:
        home, work, temporary = folder / "home", folder / "work", folder / "tmp"
        for made in (home, work, temporary):
            files.make_folder(made)
        variables = variables_of(workplace, env, built.target.manifest, home, {}) | {"TMPDIR": str(temporary)}
        argv = (env.python, "-B", "-c", code)
        writable = (folder, *outside(workplace))
        done = workplace.process.run(ProcessRequest(argv, work, variables, timeout=_SECONDS, writable=writable))
    last = (done.stderr.strip().splitlines() or [f"exit {done.exit_code}"])[-1]
    nothing = Proof(passed=False, missing=(MissingName(name="the probe", module="", why=last[:300]),))
    said = done.stdout.replace(json.dumps(env.path)[1:-1], "{venv}")  # a proof is kept in the project, and shared
    return read_proof(said, passed=done.good) or nothing
