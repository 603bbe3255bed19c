"""A world in the making: troubles add to it what they need, and what would mend it."""

import random
import sys
from dataclasses import dataclass, field
from datetime import date, timedelta

_BEGINNINGS = "bl br cl cr dr fl gl gr kl kn pl qu sk sl sm sn sp squ sw thr tw vl wr z zh".split()
_MIDDLES = "a e i o u ai ea ou oo ee ay".split()
_ENDS = "b ck d ff g lk ll mp nd ng nk nt rb rk rm rn sk st th x zz".split()


@dataclass
class Draft:
    """One world: what is asked for and around it, the probe, the true causes, and one way to mend each.

    `swaps` maps requirement lines to what they should be (None: nothing), `added` are lines that are lacking; `build`
    are changes of other keys of a fix (`python`, `build_constraints`, `build_requires`, `steps`).
    """

    shelf: object
    chance: random.Random
    pythons: tuple
    python: str = ""
    kinds: list = field(default_factory=list)
    requirements: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    variables: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    probe: list = field(default_factory=list)
    causes: list = field(default_factory=list)
    keep: list = field(default_factory=list)
    swaps: dict = field(default_factory=dict)
    added: list = field(default_factory=list)
    unset: list = field(default_factory=list)
    wanted: dict = field(default_factory=dict)
    remove: list = field(default_factory=list)
    build: dict = field(default_factory=dict)
    hopeless: bool = False
    names: set = field(default_factory=set)

    def __post_init__(self):
        self.born = date(2018, 1, 1) + timedelta(days=self.chance.randrange(2000))
        self.python = self.python or self.chance.choice(self.pythons)

    def name(self):
        """Return a word that no language has and that this world has not used."""
        while True:
            syllables = self.chance.choice((1, 2, 2))
            word = "".join(self.chance.choice(_BEGINNINGS) + self.chance.choice(_MIDDLES) for _ in range(syllables))
            word += self.chance.choice(_ENDS)
            if word not in self.names and word not in sys.stdlib_module_names:
                self.names.add(word)
                return word

    def day(self, after=0):
        """Return a date, so many days after (or before) the time of what is pinned."""
        return (self.born + timedelta(days=after)).isoformat()

    def version(self):
        """Return a version such as `1.4.2`."""
        return ".".join(str(self.chance.randrange(1, 9)) for _ in range(self.chance.choice((2, 3))))

    def ask(self, line, *, keep=True):
        """Ask for a requirement; a good fix leaves its pin alone unless `keep` is False."""
        self.requirements.append(line)
        if keep:
            self.keep.append(line)

    def blame(self, *causes):
        """Add causes that are right: (kind, name), or (kind, None) for any name."""
        self.causes += causes

    def releases(self, name, good, bad, *, requires=()):
        """Publish some good releases, two on the old side and the bad ones after the pins' day; returns versions.

        `good` and `bad` are files with their text. The first bad version comes last in what is returned.
        """
        major, minors = self.chance.randrange(1, 5), self.chance.randrange(2, 6)
        olds = [f"{major}.{minor}" for minor in range(minors)]
        for at, version in enumerate(olds):
            self.shelf.wheel(name, version, good, day=self.day(-60 * (minors - at)), requires=requires)
        later = self.chance.random() < 0.5  # the break came with a minor, or with a major release
        news = [
            f"{major}.{minors + step}" if later else f"{major + 1}.{step}"
            for step in range(self.chance.randrange(1, 4))
        ]
        for at, version in enumerate(news):
            self.shelf.wheel(name, version, bad, day=self.day(200 + 90 * at), requires=requires)
        return olds[-1], news[0]

    def fix(self):
        """Return the change that mends it, in the words of `envmgr diagnose --json`."""
        found = dict(self.build)
        if self.swaps or self.added:
            lines = [self.swaps.get(line, line) for line in self.requirements]
            found["requirements"] = [line for line in lines if line] + self.added
        if self.unset or self.wanted:
            found["env"] = {"set": self.wanted, "unset": self.unset}
        if self.remove:
            found["files"] = {"remove": self.remove}
        return found


def indented(text, by="    "):
    """Return lines of source, further in."""
    return "".join(f"{by}{line}\n" for line in text.splitlines())
