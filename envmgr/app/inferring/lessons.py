"""What a failed experiment teaches: libraries to add, an older Python, another build; what to leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.app.contents import read_contents
from envmgr.app.inferring.quest import Attempt, Means, Quest, number_of
from envmgr.diagnose.contents import Contents
from envmgr.diagnose.knowledge import cap_for_lost_module, in_standard_library, last_python_with
from envmgr.infer.naming import Wanted, candidates_of
from envmgr.infer.surface import surface_of
from envmgr.infer.syntax import parse
from envmgr.model.inference import Proof

_UNREADABLE = re.compile(r"Metadata for `([\w.-]+)` \([^)]*\) could not be parsed")


@dataclass(frozen=True)
class Lessons:
    """Changes a quest by what its experiments show."""

    quest: Quest
    means: Means

    def learn(self, attempt: Attempt) -> bool:
        """Take from a failure what can be helped on the same day; tell whether there is something new to try."""
        if attempt.missing is None:
            return self._lift(attempt) or self._drop_optional()
        contents = self._contents(attempt)
        learnt = False
        said = attempt.seen.reading
        for module in dict.fromkeys((*_missing_modules(attempt.proof), *said.modules)):
            top = module.split(".")[0]
            if top in self.quest.local or contents.has(top):
                continue
            learnt |= self._give(top, contents)
        for module, name in said.names:
            learnt |= self._older(last_python_with(module, name), f"{module}.{name}")
        learnt = learnt or any(self._give(top, contents) for top in self._hidden(attempt, contents))
        return learnt or (bool(said.libraries) and self._rival_of(attempt))

    def _lift(self, attempt: Attempt) -> bool:
        """Move distributions up whose metadata no installer of today can read."""
        learnt = False
        for name in dict.fromkeys(_UNREADABLE.findall(attempt.seen.text)):
            key = canonicalize_name(name)
            if key in self.quest.floors or not any(key in one.candidates for one in self.quest.wanted):
                continue
            era = attempt.era
            newest = self.means.offers.fitting(key, era)
            above = str(newest[-1].version) if newest else "0"
            self.quest.floors[key] = self.means.readable(key, above, era.python)
            learnt |= bool(self.quest.floors[key])
            if self.quest.floors[key]:
                self.quest.note(
                    f"{key} {self.quest.floors[key]} is the first whose metadata installers of today can read"
                )
        return learnt

    def _give(self, top: str, contents: Contents) -> bool:
        """Find a distribution for a module that is nowhere in an environment."""
        quest = self.quest
        lost, first_without = cap_for_lost_module(top)
        if lost:
            return self._add_line(f"{lost}<{first_without}" if first_without else lost, top)
        if in_standard_library(top):
            return self._older(last_python_with(top), top)
        for at, one in enumerate(quest.wanted):
            if one.module != top:
                continue
            rest = tuple(name for name in one.candidates if name not in contents.by_name)
            if rest and len(rest) < len(one.candidates):
                quest.wanted[at] = replace(one, candidates=rest)
                quest.note(f"{', '.join(set(one.candidates) - set(rest))} does not install {top}")
            elif one.required and not rest:
                quest.unreachable[top] = (
                    f"{', '.join(one.candidates)} does not install it, and nothing else is known to"
                )
            else:
                return False
            return True
        candidates = candidates_of(top, quest.names)
        if not candidates or top in quest.companions:
            return False
        quest.companions[top] = candidates[0]
        quest.wanted.append(Wanted(top, candidates, required=True))
        quest.note(f"{candidates[0]} is there for {top}, which the libraries import and do not require")
        return True

    def _hidden(self, attempt: Attempt, contents: Contents) -> list[str]:
        """Return what installed code imports where it defines a missing name: without that the name is not there."""
        found: dict[str, None] = {}
        site = {path.name: path for path in self.means.laboratory.site_packages(attempt.seen.folder or Path())}
        for each in attempt.proof.missing if attempt.proof else ():
            *parts, name = each.name.split(".")
            if not each.required or not parts or parts[0] not in site:
                continue
            package = site[parts[0]].joinpath(*parts[1:])
            for path in self.means.files.list(package):
                text = (self.means.files.read(path) or "") if path.suffix == ".py" else ""
                if not re.search(rf"^(?:def|class) {re.escape(name)}\b|^{re.escape(name)} *=", text, re.MULTILINE):
                    continue
                tree = parse(text).tree
                tops = surface_of(tree).tops if tree is not None else ()
                found.update(
                    dict.fromkeys(top for top in tops if not contents.has(top) and not in_standard_library(top))
                )
        return list(found)

    def _add_line(self, line: str, module: str) -> bool:
        if line in self.quest.lines:
            return False
        self.quest.lines.append(line)
        self.quest.note(f"{line} has {module}, which the libraries import")
        return True

    def _older(self, python: str, what: str) -> bool:
        """Remember that what is looked for was last in an older Python."""
        if (
            not python
            or python.startswith("2")
            or (self.quest.highest and number_of(self.quest.highest) <= number_of(python))
        ):
            return False
        self.quest.highest = python
        self.quest.note(f"Python {python} was the last to have {what}")
        return True

    def _rival_of(self, attempt: Attempt) -> bool:
        """Take another build of a distribution whose system libraries this host lacks."""
        broken = {each.module.split(".")[0] for each in (attempt.proof.missing if attempt.proof else ())}
        for at, one in enumerate(self.quest.wanted):
            first, *rest = self.means.offers.candidates(one)
            if one.module in broken and rest:
                self.quest.wanted[at] = replace(one, candidates=(*rest,))
                self.quest.note(f"{rest[0]} instead of {first}, which needs libraries that this host lacks")
                return True
        return False

    def _drop_optional(self) -> bool:
        """Leave out what scripts can do without, when an environment with it cannot be built."""
        optional = {one.module for one in self.quest.wanted if not one.required} - self.quest.dropped
        self.quest.dropped |= optional
        if optional:
            self.quest.note(f"without {', '.join(sorted(optional))}: it cannot be built beside the rest")
        return bool(optional)

    def _contents(self, attempt: Attempt) -> Contents:
        """Return what is installed in an attempt's environment."""
        if attempt.seen.folder is None:
            return Contents()
        return read_contents(self.means.files, self.means.laboratory.site_packages(attempt.seen.folder))


def _missing_modules(proof: Proof | None) -> Iterable[str]:
    if proof is None:
        return ()
    marks = (each.why.partition("No module named ") for each in proof.missing if each.required)
    return [rest.strip("'\" ").split("'")[0] for _, found, rest in marks if found]
