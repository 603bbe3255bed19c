"""Writes what was inferred: a manifest, its lock for this platform, and the proof beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import tomlkit

from envmgr.app.hosting import facts_here, true_settings
from envmgr.app.inferring.proving import prove
from envmgr.app.initiating import furnish
from envmgr.app.locking import LockMaker, LockWishes
from envmgr.app.relocking import make_locks
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError, LockError, UsageError
from envmgr.manifest.expand import DEFAULT, target
from envmgr.manifest.write import RUNNERS, SCHEMA_LINE
from envmgr.model.inference import Inference, Proof
from envmgr.model.platform import platform_of


def name_for(first: Path, asked: str | None) -> str:
    """Return the manifest's name: the one asked for, or that of the first script.

    >>> name_for(Path("My Model (1).ipynb"), None)
    'my-model-1'
    """
    bare = re.sub(r"[^A-Za-z0-9._]+", "-", asked or first.resolve().stem).strip("-._")
    return (bare if asked else bare.lower()) or "inferred"


def demand_new(workplace: Workplace, name: str) -> Path:
    """Return where the manifest will stand; raises UsageError when there is one."""
    root = workplace.project.root or workplace.caller.folder
    path = root / "manifests" / f"{name}.toml"
    if workplace.files.exists(path):
        raise UsageError(f"{path} is there already", "wanted a new manifest", "choose another name with --name NAME")
    return path


def write(workplace: Workplace, path: Path, inference: Inference, scripts: Sequence[Path]) -> Inference:
    """Write manifest, lock and proof, and return the inference with what was written and was seen in the lock's env.

    Raises LockError and BuildError where what is written cannot be locked or built.
    """
    files = workplace.files
    root = path.parent.parent
    files.write(path, manifest_text(inference, path.stem, _platform(workplace)))
    furnish(root, files)
    fresh = Workplace(root, workplace.listener)
    locks, notes = _locked(fresh, path)
    proof = path.parent / "proofs" / f"{path.stem}.json"
    written = (str(path), *locks, str(proof))
    told = inference.model_copy(update={"written": written, "why": (*inference.why, *notes)})
    files.write(proof, _to_be_shared(told, root))
    told = _proved(told, prove(fresh, path, inference, scripts))
    files.write(proof, _to_be_shared(told, root))
    return told


def _to_be_shared(inference: Inference, root: Path) -> str:
    """Return an inference as it is kept in a project: what was written is named from the project's folder."""
    paths = (Path(each) for each in inference.written)
    written = tuple(path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name for path in paths)
    return inference.model_copy(update={"written": written}).model_dump_json(indent=1) + "\n"


def _locked(workplace: Workplace, path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lock a manifest, and return where the locks stand and what is to be said of them; raises LockError.

    What only this host's own folders and further indexes have can be locked for this host alone.
    """
    made = make_locks(workplace, [path.stem], [], ())
    failed = [each for each in made if each.state == "failed"]
    if not failed:
        return tuple(str(path.parent.parent / each.path) for each in made), ()
    settings = true_settings(workplace)
    try:
        if not (settings.find_links or settings.extra_index_urls):
            raise LockError(failed[0].error, failed[0].why, "")
        maker = LockMaker(workplace, facts_here(workplace), settings)
        manifest = workplace.shelf[path.stem]
        found = [maker.make(target(manifest, DEFAULT, each), LockWishes()) for each in manifest.platforms]
    except EnvmgrError as error:
        what = f"{path} is written and cannot be locked"
        raise LockError(what, error.why or error.what, f"envmgr lock {path.stem}") from error
    note = "the lock holds wheels that only this host's settings lead to (its folders of wheels, its further indexes)"
    return tuple(str(each.path) for each in found), (note,)


def _proved(inference: Inference, proof: Proof) -> Inference:
    """Return the inference with the proof of its lock's env, and what is missing there alone."""
    known = {line.partition(": ")[0] for line in inference.unreachable}
    fresh = (f"{each.name}: {each.why}" for each in proof.missing if each.required and each.name not in known)
    return inference.model_copy(update={"proof": proof, "unreachable": (*inference.unreachable, *fresh)})


def manifest_text(inference: Inference, name: str, platform: str) -> str:
    """Return the manifest, with the reasons for it as comments."""
    document = tomlkit.document()
    document.add(tomlkit.comment(SCHEMA_LINE.removeprefix("#")))
    document["schema"] = 1
    document["name"] = name
    document["summary"] = f"inferred from {', '.join(inference.scripts[:3])}"
    for line in inference.why:
        document.add(_comment(line))
    for line in inference.unreachable:
        document.add(_comment(f"never reachable: {line}"))
    document["python"] = f"=={inference.python}.*"
    document["requirements"] = list(inference.requirements)
    if inference.exclude_newer:
        document["exclude-newer"] = tomlkit.date(date.fromisoformat(inference.exclude_newer[:10]).isoformat())
    if platform:
        document["platforms"] = [platform]
    if inference.sources:
        document["allow-source"] = list(inference.sources)
    document["runners"] = list(RUNNERS)
    if inference.variables:
        document["env"] = dict(inference.variables)
    return tomlkit.dumps(document).replace("# :schema", "#:schema", 1)


def _comment(text: str) -> tomlkit.items.Comment:
    """Return a comment of one line, without what TOML allows in none."""
    return tomlkit.comment(" ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split()))


def _platform(workplace: Workplace) -> str:
    facts = facts_here(workplace)
    found = platform_of(facts.system, facts.machine)
    return found.value if found else ""
