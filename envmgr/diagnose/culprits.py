"""Which of many changes broke what held before: found by halving, mixtures that cannot be had passed over.

Before the changes something passes, after all of them it fails. A culprit is a smallest set of them that makes it fail
in that way. Adding a change to a set that fails is taken to leave it failing; what is found is true all the same, for
every set that is reported was seen to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)

PASSES = ""
"""What is seen where nothing fails."""


class SpentError(Exception):
    """There is no time for another question; raised by who is asked."""


@dataclass(frozen=True, slots=True)
class Culprit(Generic[Item]):
    """The changes that only together make it fail, each of them needed; `failure` is how it fails then.

    `along` are changes that had to be made besides, because the others cannot be had without them. `doubtful` are
    members of which nobody can tell whether they break it or are only needed, as no mixture without them can be had.
    """

    items: tuple[Item, ...]
    failure: str
    along: tuple[Item, ...] = ()
    doubtful: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Search(Generic[Item]):
    """What a search over changes came to: the culprits, those that are left when they are taken out, what is seen then.

    `left` names no change of a culprit; `seen` is PASSES where taking them out heals, None where nothing could be seen.
    `cut` tells that time ran out while there may have been more to find.
    """

    culprits: tuple[Culprit[Item], ...]
    left: frozenset[Item]
    seen: str | None
    cut: bool = False


@dataclass(frozen=True)
class Needs(Generic[Item]):
    """Which changes cannot be had without others: `of` maps a change to those that it needs at once."""

    of: Mapping[Item, Collection[Item]] = field(default_factory=dict)

    def closed(self, items: Iterable[Item]) -> frozenset[Item]:
        """Return the changes with everything that they need."""
        found, pending = set[Item](), list(items)
        while pending:
            item = pending.pop()
            if item not in found:
                found.add(item)
                pending += self.of.get(item, ())
        return frozenset(found)

    def without(self, all_items: Iterable[Item], taken: Collection[Item]) -> frozenset[Item]:
        """Return those of the changes that can be had when some are taken out."""
        return frozenset(item for item in all_items if not self.closed([item]) & set(taken))

    def units(self, items: Sequence[Item]) -> list[tuple[Item, ...]]:
        """Return the changes in an order in which each comes after what it needs; those that need each other are one.

        >>> Needs({"b": ["a"], "c": ["d"], "d": ["c"]}).units(["b", "a", "c", "d"])
        [('a',), ('b',), ('c', 'd')]
        """
        reach = {item: self.closed([item]) for item in items}
        found: list[tuple[Item, ...]] = []
        for item in sorted(items, key=lambda one: len(reach[one])):
            if not any(item in unit for unit in found):
                found.append(tuple(one for one in items if reach[one] == reach[item] and one in reach[item]))
        return found


def search(
    items: Sequence[Item],
    observe: Callable[[frozenset[Item]], str | None],
    needs: Needs[Item] | None = None,
    suspects: Sequence[Collection[Item]] = (),
) -> Search[Item]:
    """Return every culprit among the changes: one after the other is found and taken out, until it heals.

    `observe` tells what is seen with some of the changes made: PASSES, how it fails, or None where that mixture cannot
    be had. A culprit of one change costs about ⌈log₂ n⌉ + 2 questions, one of k about k times as many. It is asked
    again for sets that it was asked before, and may remember. `suspects` are culprits found elsewhere, tried first.
    Where it raises SpentError, what was found before stays; it is raised on where there is nothing.
    """
    needs = needs or Needs()
    culprits: list[Culprit[Item]] = []
    left = frozenset(items)
    while True:
        try:
            failure = observe(left)
            if failure is None or failure == PASSES or not left:
                return Search(tuple(culprits), left, failure)
            culprit = _known(suspects, left, failure, observe, needs)
            culprit = culprit or _culprit([item for item in items if item in left], failure, observe, needs)
        except SpentError:
            if not culprits:
                raise
            return Search(tuple(culprits), left, None, cut=True)
        rest = needs.without(left, culprit.items)
        culprits.append(culprit)
        if len(rest) == len(left):
            return Search(tuple(culprits), left, failure)
        left = rest


def _known(
    suspects: Sequence[Collection[Item]],
    left: frozenset[Item],
    failure: str,
    observe: Callable[[frozenset[Item]], str | None],
    needs: Needs[Item],
) -> Culprit[Item] | None:
    """Return the first suspect that makes it fail in the same way here."""
    for suspect in suspects:
        if set(suspect) <= left and observe(needs.closed(suspect)) == failure:
            return Culprit(tuple(suspect), failure, tuple(needs.closed(suspect) - set(suspect)))
    return None


def _culprit(
    items: Sequence[Item], failure: str, observe: Callable[[frozenset[Item]], str | None], needs: Needs[Item]
) -> Culprit[Item]:
    """Return a smallest set that fails like all of the items do: its last member first, by halving what is before."""
    units = needs.units(items)
    unseen = False

    def breaks(chosen: Iterable[Item]) -> bool:
        nonlocal unseen
        seen = observe(needs.closed(chosen))
        unseen |= seen not in {failure, PASSES}
        return seen == failure

    found: list[tuple[Item, ...]] = []
    upper = len(units)
    while upper:
        known = [item for unit in found for item in unit]
        low, high = 0, upper
        while high - low > 1:
            middle = (low + high) // 2
            if breaks([*known, *(item for unit in units[:middle] for item in unit)]):
                high = middle
            else:
                low = middle
        found.append(units[low])
        upper = low
        if upper and breaks([*known, *units[low]]):
            break
    if unseen:
        found = _only_needed(found, breaks)
    members = tuple(item for unit in found for item in unit)
    together = [item for unit in found if len(unit) > 1 for item in unit]
    doubtful = [*together, *(_doubtful(found, failure, observe, needs) if unseen and len(found) > 1 else ())]
    along = needs.closed(members) - set(members)
    return Culprit(members, failure, tuple(one for one in items if one in along), tuple(dict.fromkeys(doubtful)))


def _only_needed(found: list[tuple[Item, ...]], breaks: Callable[[Iterable[Item]], bool]) -> list[tuple[Item, ...]]:
    """Return the found ones without those that it fails without as well: they got in where others could not be had."""
    for unit in tuple(found):
        rest = [other for other in found if other is not unit]
        if rest and breaks([item for other in rest for item in other]):
            found = rest
    return found


def _doubtful(
    found: list[tuple[Item, ...]],
    failure: str,
    observe: Callable[[frozenset[Item]], str | None],
    needs: Needs[Item],
) -> list[Item]:
    """Return the members without which nothing could be seen."""
    doubted: list[Item] = []
    for unit in found:
        rest = [item for other in found if other is not unit for item in other]
        if observe(needs.closed(rest)) not in {failure, PASSES}:
            doubted += unit
    return doubted
