"""From old scripts to an environment: read, name, search by experiment, and say what was chosen and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.tags import platform_tags

from envmgr.app.diagnosing.cases import place_here
from envmgr.app.diagnosing.diagnose import Question, diagnose
from envmgr.app.experiments.commands import source_arguments
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import Snapshot
from envmgr.app.experiments.standpoint import Place
from envmgr.app.experiments.variables import caches
from envmgr.app.hosting import facts_here
from envmgr.app.inferring.clocks import days_of, read_clocks
from envmgr.app.inferring.foresight import Foresight, glance_with
from envmgr.app.inferring.offers import Offers, lying_wheels
from envmgr.app.inferring.pythons import pythons_for
from envmgr.app.inferring.quest import Attempt, Means, Quest
from envmgr.app.inferring.reading import Reading, read_scripts
from envmgr.app.inferring.releases import move_releases
from envmgr.app.inferring.running import run_script
from envmgr.app.inferring.search import EraSearch
from envmgr.app.inferring.seen import seen_wheels
from envmgr.app.inferring.telling import Story, tell
from envmgr.app.releases_of_index import Releases, default_index
from envmgr.app.workplace import Workplace
from envmgr.diagnose.knowledge import distributions_for, in_standard_library, last_python_with, settings
from envmgr.diagnose.worlds import apply
from envmgr.errors import InferError
from envmgr.infer.naming import Names, Wanted, candidates_of, origins, wanted
from envmgr.infer.probe import make_probe
from envmgr.model.finding import World
from envmgr.model.inference import Clock, Inference, Proof
from envmgr.ports import Event, ProcessRequest

_DOWNLOADS = 600_000_000
_RELEASE_SHARE, _LEISURE_SHARE = 0.8, 0.15
_LEAST_LEFT = 30.0
_PASSED_ON = ("PATH", "LANG", "LC_", "TMPDIR", "SYSTEMROOT")
_NETWORK = ("PIP_", "UV_", "SSL_", "HTTP", "http", "https", "NO_PROXY", "no_proxy", "ALL_PROXY")
_NO_NAME = re.compile(r"has no attribute|cannot import name|no name ")
_PINS = ("pin", "dockerfile")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says; `run` lets the script itself run at the end, for at most `seconds`."""

    scripts: tuple[Path, ...]
    day: str = ""
    python: str = ""
    budget: float = 300.0
    run: bool = False
    seconds: float = 60.0


def infer(workplace: Workplace, asked: Asked) -> Inference:
    """Return the environment in which the import surface of scripts is there; raises InferError where there is none.

    Nothing of the scripts is run, unless that was asked for; what is tried is built in throwaway places.
    """
    reading = read_scripts(asked.scripts, workplace.files)
    facts = facts_here(workplace)
    with workplace.files.scratch("infer") as room:
        place = _hermetic(place_here(workplace, facts), room)
        return _Inferring(workplace, asked, reading, place, room).find()


class _Inferring:
    """One inference, from what was read to what was chosen."""

    def __init__(self, workplace: Workplace, asked: Asked, reading: Reading, place: Place, room: Path) -> None:
        self._workplace = workplace
        self._asked = asked
        self._reading = reading
        self._place = place
        self._room = room
        self._begun = place.clock.monotonic()
        releases = Releases(place.web, default_index(place.uv, place.process, place.environment))
        tops = {top for surface in reading.surfaces for top in surface.tops}
        self._seen = seen_wheels(place.files, workplace.uv_cache, tops)
        lying = lying_wheels(place.files, place.environment.get("PIP_FIND_LINKS", "").split())
        self._names = Names(
            in_standard_library,
            last_python_with,
            distributions_for,
            lambda name: bool(releases(name)) or name in lying,
            self._seen.modules,
        )
        self._offers = Offers(releases, tuple(platform_tags()), bool(place.accelerators), lying)
        self._origins = origins(reading.surfaces, reading.local, self._names)

    def find(self) -> Inference:
        """Search, and tell the result."""
        self._demand_reachable()
        clocks = read_clocks(self._reading, self._origins, self._offers, self._place, self._asked.day)
        quest = self._quest(clocks)
        search = EraSearch(quest, self._means(quest))
        if not quest.wanted:
            return self._told(quest, clocks, search, self._plain(search))
        best = search.search(*days_of(clocks, self._place.clock.now().date(), self._asked.day))
        if best is not None and not best.passed:
            best = move_releases(search, best)
        if best is not None and not best.passed and not _lacks_names_alone(search, best):
            best = self._diagnosed(search, best)
        if best is None or not (best.proof and best.proof.imported):
            raise self._nothing_found(search)
        return self._told(quest, clocks, search, best)

    def _nothing_found(self, search: EraSearch) -> InferError:
        """Return the error that tells what was tried in vain, and what could not be tried."""
        lost = [f"{module}: {why}" for module, why in search.quest.unreachable.items()]
        tried = [f"{each.change}: {each.outcome}, {each.reason}" for each in search.experiments[-6:] if each.reason]
        why = "\n".join((*lost, *tried)) or f"nothing could be tried within {self._asked.budget:.0f} s"
        hint = f"name a later day than {self._asked.day}" if self._asked.day else "name a day with --date"
        return InferError(
            f"nothing was found in which {self._title} can be imported", why, f"{hint}, or another --python"
        )

    @property
    def _title(self) -> str:
        names = [script.name for script in self._reading.scripts]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    def _demand_reachable(self) -> None:
        """Tell of Python 2 by what is imported, and of scripts of which nothing can be had."""
        needed = {
            each.module.split(".")[0]
            for surface in self._reading.surfaces
            for each in surface.imports
            if each.necessity == "required"
        }
        old = [origin.module for origin in self._origins if origin.kind == "python-2" and origin.module in needed]
        if old:
            raise InferError(
                f"{self._title} is Python 2",
                f"found an import of {', '.join(old)}, which the standard library of Python 2 alone has",
                "convert it: 2to3, or futurize",
            )
        foreign = [origin for origin in self._origins if origin.kind in {"distribution", "unreachable"}]
        lost = [origin.module for origin in foreign if origin.kind == "unreachable"]
        if len(lost) == len(foreign) and needed.intersection(lost):
            raise InferError(
                f"nothing that {self._title} imports can be had",
                f"no index here has {', '.join(lost)}: an application brings it, or it is a file of the author's",
                "run it inside that application, or put the file beside the script",
            )

    def _quest(self, clocks: Sequence[Clock]) -> Quest:
        reading = self._reading
        fitness = pythons_for(reading, self._asked.python, self._place, self._title)
        quest = Quest(
            wanted=list(wanted(reading.surfaces, self._origins, self._names)),
            names=self._names,
            pins={clock.name: clock.version for clock in clocks if clock.version and clock.kind in _PINS},
            pythons=fitness.pythons,
            local=reading.local,
            unreachable={origin.module: origin.why for origin in self._origins if origin.kind == "unreachable"},
            lost={each.name: f"no Python here has it ({each.why})" for each in fitness.lost},
        )
        for line in fitness.why:
            quest.note(line)
        self._add_backends(quest)
        return quest

    def _add_backends(self, quest: Quest) -> None:
        """Want the default backend of a library that is never imported without one and requires none."""
        for known in settings().values():
            modules = {one.module for one in quest.wanted}
            backend = known.get("default", "")
            if known["kind"] != "installed" or known["library"] not in modules or backend in modules:
                continue
            candidates = candidates_of(backend, self._names)
            if candidates:
                needed = any(one.required for one in quest.wanted if one.module == known["library"])
                quest.wanted.append(Wanted(backend, candidates, required=needed))
                quest.companions[backend] = candidates[0]
                quest.note(f"{backend} is there for {known['library']}, which is not imported without a backend")

    def _means(self, quest: Quest) -> Means:
        place = self._place
        bench = replace(
            place.bench(("-c", ""), budget=self._asked.budget),
            most_bytes=_DOWNLOADS,
            platforms=self._offers.platforms,
            releases=self._offers.releases,
        )
        snapshot = Snapshot(self._room / "empty", ())
        laboratory = Laboratory(bench, place.process, place.files, place.clock, self._room, snapshot)
        return Means(
            laboratory=laboratory,
            offers=self._offers,
            foresight=self._foresight(quest),
            files=place.files,
            clock=place.clock,
            listener=place.listener,
            probe_for=lambda without, glance: make_probe(
                self._reading.surfaces, without, quest.lost, local=self._reading.local, glance=glance
            ),
            readable=self._readable,
            affordable=lambda: self._elapsed() < self._asked.budget * _RELEASE_SHARE,
            leisurely=lambda: self._elapsed() < self._asked.budget * _LEISURE_SHARE,
        )

    def _foresight(self, quest: Quest) -> Foresight:
        def code_for(folders: Sequence[str]) -> str:
            left_out = frozenset(quest.unreachable)
            return make_probe(self._reading.surfaces, left_out, local=self._reading.local, folders=folders).code

        python = self._place.interpreters[quest.pythons[-1]]
        return Foresight(self._offers, self._seen.folders, glance_with(python, code_for, self._place.process))

    def _readable(self, name: str, above: str, python: str) -> str:
        """Ask uv for the lowest release above one that it can read and has a wheel of."""
        argv = (
            str(self._place.uv),
            "pip",
            "compile",
            "--quiet",
            "--no-header",
            "--no-annotate",
            "--only-binary",
            ":all:",
        )
        interpreter = str(self._place.interpreters[python])
        words = (
            "--resolution",
            "lowest-direct",
            "--python",
            interpreter,
            *source_arguments(self._place.environment),
            "-",
        )
        request = ProcessRequest((*argv, *words), env=self._place.environment, stdin=f"{name}>{above}\n", timeout=60)
        found = re.search(rf"^{re.escape(name)}==(\S+)$", self._place.process.run(request).stdout, re.MULTILINE)
        return found[1] if found else ""

    def _elapsed(self) -> float:
        return self._place.clock.monotonic() - self._begun

    def _plain(self, search: EraSearch) -> Attempt:
        """Probe a bare environment: nothing that is imported comes from an index."""
        era = search.era("")
        if era is None:
            wanted_python = f"wanted {search.quest.highest} or older"
            raise InferError(f"no Python here has what {self._title} needs", wanted_python, "envmgr python list")
        return search.observe(World(python=era.python), era)

    def _diagnosed(self, search: EraSearch, best: Attempt) -> Attempt:
        """Let the engine of `diagnose` try for the rest of the time, from the best world so far."""
        left = self._asked.budget - self._elapsed()
        if left < _LEAST_LEFT:
            return best
        self._place.listener.on_event(Event("diagnosing", self._title))
        probe = search.probe()
        question = Question(best.world, ("-c", probe.code), probe.imports, budget=left, most_bytes=_DOWNLOADS)
        finding = diagnose(question, self._place)
        if finding is None or finding.fix is None:
            return best
        search.experiments += finding.experiments
        world = apply(best.world, finding.fix)
        found = search.observe(world, replace(best.era, python=world.python, day=world.exclude_newer))
        if not found.passed:
            return best
        search.quest.note(f"{finding.cause.name}: {finding.cause.why}")
        return found

    def _told(self, quest: Quest, clocks: tuple[Clock, ...], search: EraSearch, best: Attempt) -> Inference:
        if self._asked.run:
            ran = run_script(self._reading.scripts, best, search.means.laboratory, self._place, self._asked.seconds)
            proof = (best.proof or Proof(passed=best.passed)).model_copy(update={"ran": ran})
            best = replace(best, proof=proof)
        sources = self._offers.built(best.seen.resolved, best.world.python)
        return tell(Story(self._reading, self._origins, clocks, quest, tuple(search.experiments)), best, sources)


def _lacks_names_alone(search: EraSearch, best: Attempt) -> bool:
    """Tell whether all that is missing are names that no day has: then there is no cause to look for."""
    missing = [each for each in (best.proof.missing if best.proof else ()) if each.required]
    return bool(missing) and all(
        each.name in search.lost and "." in each.name and (_NO_NAME.search(each.why) or f"'{each.name}'" in each.why)
        for each in missing
    )


def _hermetic(place: Place, room: Path) -> Place:
    """Return the user's place with a HOME and a folder of its own and no variable that steers a library."""
    environment = {name: value for name, value in place.environment.items() if name.startswith(_PASSED_ON + _NETWORK)}
    environment |= caches(place.environment, place.home, place.system)
    home, folder = room / "user" / "home", room / "user" / "folder"
    for made in (home, folder, room / "empty" / "home", room / "empty" / "cwd"):
        place.files.make_folder(made)
    return replace(place, environment=environment | {"HOME": str(home)}, home=home, folder=folder)
