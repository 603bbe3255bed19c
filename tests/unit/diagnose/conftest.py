"""A small planted world: an oracle that answers from rules instead of processes, and an index in memory."""

import json

import pytest

from envmgr.diagnose.contents import Contents, Distribution
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.releases import parse_page
from envmgr.diagnose.search import Journal
from envmgr.diagnose.situation import HostBrief, Situation, Sources, Surroundings
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

PLATFORMS = ("manylinux2014_x86_64", "linux_x86_64")


class Planted:
    """An index, what is around, and a rule that says of a world what is seen in it."""

    def __init__(self):
        self.index = {}
        self.variables = {}
        self.files = {}
        self.installed = ()
        self.probe = ""
        self.values = ()
        self.accelerators = ()
        self.rule = lambda world: ""
        self.asked = []

    def release(self, name, *versions, tag="py3-none-any", **more):
        """Add releases, given as (version, day)."""
        files = self.index.setdefault(name, [])
        for version, day in versions:
            file = f"{name}-{version}.tar.gz" if tag is None else f"{name.replace('-', '_')}-{version}-{tag}.whl"
            files.append({"filename": file, "upload-time": day, **more})

    def releases(self, name):
        return parse_page(json.dumps({"files": self.index.get(name, [])}))

    def observe(self, worlds):
        """Return what the rule says: empty text passes, text with `resolve:` before it could not be built."""
        self.asked += worlds
        return [self._seen(self.rule(world)) for world in worlds]

    def _seen(self, text):
        resolved = {one.name: one.version for one in self.installed}
        if text.startswith(("resolve:", "build:")):
            return Observation(False, Phase(text.partition(":")[0]), text)
        return Observation(not text, Phase.IMPORT if text else None, text, resolved)

    def situation(self, base, world=None, seen=None):
        world = world or base
        around = Surroundings(self.variables, self.files)
        sources = Sources(self.releases, lambda *_: self.values, lambda _: Contents(self.installed))
        host = HostBrief("linux", "x86_64", self.accelerators, PLATFORMS)
        seen = seen or self._seen(self.rule(world))
        return Situation(base, world, seen, self.probe, around, host, ("3.8", "3.9", "3.10", "3.11"), sources)

    def journal(self, base):
        journal = Journal(base, self.observe, lambda: True, lambda _: None)
        journal.observe([base])
        return journal


@pytest.fixture
def planted():
    return Planted()


@pytest.fixture
def world():
    return World(python="3.10", requirements=("alpha==1.0",))


@pytest.fixture
def distribution():
    return Distribution
