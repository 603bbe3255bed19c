"""What this host is and can have."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from envmgr.app.hosting import facts_of
from envmgr.app.workplace import Workplace
from envmgr.host.possible import Possibility, what_it_can_have
from envmgr.model.host import HostFacts
from envmgr.model.sharing import Sharing


class Examination(NamedTuple):
    """A host and, for each manifest and variant, whether it can be had there and why not.

    `sharing` tells how its environments share the bytes of their files (None of another host), and why not better.
    """

    facts: HostFacts
    manifests: tuple[Possibility, ...]
    broken: tuple[str, ...]
    sharing: Sharing | None = None
    sharing_why: str = ""


def examine(workplace: Workplace, host: Path | None) -> Examination:
    """Return the examination of this host, or of another one from its facts."""
    facts = facts_of(workplace, host)
    manifests, errors = workplace.shelf.sound()
    possible = what_it_can_have(manifests.values(), facts)
    sharing, why = (None, "") if host is not None else workplace.sharing
    return Examination(facts, possible, tuple(error.what for error in errors), sharing, why)
