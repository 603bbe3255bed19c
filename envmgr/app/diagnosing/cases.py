"""From what a user asks to a question for the engine: a manifest, a set given by options, or a log with facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envmgr.app.diagnosing.apply import applied
from envmgr.app.diagnosing.diagnose import MOST_AT_ONCE, MOST_BYTES, Question, diagnose
from envmgr.app.diagnosing.foreign_log import diagnose_log
from envmgr.app.diagnosing.origin import own_at, world_from
from envmgr.app.diagnosing.own import diagnose_own
from envmgr.app.experiments.standpoint import Place
from envmgr.app.hosting import facts_here
from envmgr.app.locking import read_lock
from envmgr.app.passwords import web_of
from envmgr.app.releases_of_index import Releases, default_index
from envmgr.app.relocking import make_locks
from envmgr.app.workplace import Workplace
from envmgr.backends import names
from envmgr.diagnose.requirement import key_of
from envmgr.errors import EnvmgrError, HostError, LockError, UsageError
from envmgr.manifest.expand import target
from envmgr.manifest.faults import suggest
from envmgr.manifest.read import parse_manifest
from envmgr.model.finding import Finding, Variables, World
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.platform import platform_of
from envmgr.system.keeper import confines


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    name: str | None = None
    command: tuple[str, ...] = ()
    probe: str | None = None
    python: str | None = None
    requirements: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    exclude_newer: str = ""
    budget: float = 300.0
    most: int = 40
    blind: bool = False
    most_bytes: int | None = MOST_BYTES
    source: Path | None = None
    jobs: int | None = None


def diagnose_here(workplace: Workplace, asked: Asked) -> Finding | None:
    """Diagnose on this machine, by experiment; None when nothing is wrong."""
    if (asked.probe is None) == (not asked.command):
        raise UsageError(
            "nothing to try", "wanted --probe CODE, or -- CMD and not both", "envmgr diagnose NAME --probe 'import …'"
        )
    facts = facts_here(workplace)
    own = own_at(workplace, asked.source)
    world = world_asked(workplace, asked, facts) if own is None else World(python=own.version)
    probe = ("-c", asked.probe) if asked.probe is not None else asked.command
    question = Question(
        world,
        probe,
        asked.probe or "",
        asked.variables,
        asked.budget,
        asked.most,
        asked.blind,
        most_bytes=asked.most_bytes,
        locked=_locked(workplace, asked, facts),
    )
    place = place_here(workplace, facts, asked.jobs)
    return diagnose(question, place) if own is None else diagnose_own(question, own, place)


def _locked(workplace: Workplace, asked: Asked, facts: HostFacts) -> dict[str, str]:
    """Return the versions of the lock that was made for what is asked about, stale or not; nothing if there is none."""
    platform = platform_of(facts.system, facts.machine)
    name, _, variant = (asked.name or "").partition("@")
    if platform is None or name not in workplace.shelf:
        return {}
    try:
        found = read_lock(workplace, target(_manifest(workplace, name), variant or None, platform))
    except EnvmgrError:
        return {}
    return {canonicalize_name(one.name): one.version for one in found.lock.distributions} if found else {}


def apply_fix(workplace: Workplace, name: str, finding: Finding | None) -> str:
    """Write a confirmed fix into a manifest and lock it again for this host; returns what was done, in one line.

    Raises UsageError where there is no confirmed fix, and LockError where what was written cannot be locked.
    """
    if finding is None or finding.fix is None or not finding.confirmed:
        raise UsageError("there is nothing to apply", "wanted a fix that was seen to work", "diagnose without --apply")
    stem = name.partition("@")[0]
    path = workplace.shelf.paths[stem]
    workplace.files.write(path, applied(workplace.files.read(path) or "", finding.fix))
    fresh = Workplace(workplace.project.root, workplace.listener)
    facts = facts_here(fresh)
    platform = platform_of(facts.system, facts.machine)
    made = make_locks(fresh, [stem], [platform.value] if platform else [], ())
    failed = [lock for lock in made if lock.state == "failed"]
    if failed:
        raise LockError(
            f"{path.name} is written and cannot be locked", failed[0].why or failed[0].error, f"envmgr lock {stem}"
        )
    left = "" if finding.fix.files is None else "; files are left to you: see fix.files"
    return f"{fresh.project.shown(path)} holds the fix and is locked again{left}"


def diagnose_recorded(workplace: Workplace, asked: Asked, log: Path, host: Path | None) -> Finding:
    """Diagnose a failure of another machine by its log and facts."""
    if host is None:
        raise UsageError(
            "--log needs the facts of its machine", "wanted --host FACTS.json", "make them there: envmgr doctor --json"
        )
    web = web_of(workplace)
    index = Releases(web, default_index(workplace.uv, workplace.process, workplace.caller.environment))
    return diagnose_log(log, host, asked.requirements, asked.variables, index=index, files=workplace.files)


def world_asked(workplace: Workplace, asked: Asked, facts: HostFacts) -> World:
    """Return the world that the command line describes; raises UsageError where it describes none."""
    if asked.name is not None:
        name, _, variant = asked.name.partition("@")
        if name not in workplace.shelf:
            raise UsageError(f"there is no manifest {name!r}", suggest(name, workplace.shelf), "envmgr list")
        python = asked.python or variant.removeprefix("py")
        return world_of(_manifest(workplace, name), facts, python)
    if asked.source is not None:
        return world_from(workplace, asked.source, asked.python, facts)
    if asked.python is None or not asked.requirements:
        raise UsageError(
            "nothing to diagnose", "wanted NAME, --from X, or --python V with --require R", "envmgr diagnose --help"
        )
    return World(python=asked.python, requirements=asked.requirements, exclude_newer=asked.exclude_newer)


def _manifest(workplace: Workplace, name: str) -> Manifest:
    """Read a manifest without checking that it can be locked: what is wrong with it may be the very question."""
    path = workplace.shelf.paths[name]
    text = workplace.files.read(path) or ""
    return parse_manifest(text, workplace.project.shown(path))


def world_of(manifest: Manifest, facts: HostFacts, python: str = "") -> World:
    """Return the world that a manifest describes, on the newest Python here that it admits."""
    wanted = python or (manifest.variants.python[0] if manifest.variants else "")
    specifier = SpecifierSet(manifest.python)
    fitting = [one.version for one in facts.interpreters if specifier.contains(one.version)]
    fitting.sort(key=Version)
    minor = wanted or (".".join(fitting[-1].split(".")[:2]) if fitting else "")
    if not minor:
        raise HostError(f"no Python here fits {manifest.name}", f"wanted {manifest.python}", "envmgr python list")
    return world_for(manifest, minor)


def world_for(manifest: Manifest, python: str) -> World:
    """Return the world that a manifest asks for on a Python, folders in its variables by their names."""
    return World(
        python=python,
        requirements=manifest.requirements,
        steps=manifest.step,
        exclude_newer=manifest.exclude_newer.isoformat() if manifest.exclude_newer else "",
        overrides=manifest.overrides,
        build_constraints=manifest.build_constraints,
        build_requires=manifest.build_requires,
        index=manifest.index,
        variables=Variables(set=manifest.env, unset=manifest.unset),
    )


def backend_among(requirements: Iterable[str]) -> str | None:
    """Return the backend that is asked for by its own name, or one that begins with it (`plaidml-keras`); or None."""
    asked = [key_of(line) for line in requirements]
    return next((name for name in names() for key in asked if key == name or key.startswith(f"{name}-")), None)


def place_here(workplace: Workplace, facts: HostFacts, jobs: int | None = None) -> Place:
    """Return where the user stands, with the Pythons of this host by minor and by full version.

    `jobs` is how many experiments may be carried out at a time; None: as many as there are processors, within reason.
    """
    interpreters: dict[str, Path] = {}
    native = [one for one in facts.interpreters if one.implementation == "CPython"]
    for one in sorted(native, key=lambda one: (Version(one.version), one.source == "pyenv")):
        interpreters[one.version] = interpreters[one.minor] = Path(one.executable)
    return Place(
        environment=workplace.caller.environment,
        home=workplace.caller.home,
        folder=workplace.caller.folder,
        uv=workplace.uv,
        interpreters=interpreters,
        system=facts.system,
        machine=facts.machine,
        accelerators=tuple(one.name for one in facts.accelerators if one.kind == "gpu"),
        process=workplace.process,
        files=workplace.files,
        clock=workplace.clock,
        web=web_of(workplace),
        listener=workplace.listener,
        confines=confines(),
        project=workplace.base,
        hands=jobs or max(1, min(facts.cores, MOST_AT_ONCE)),
    )
