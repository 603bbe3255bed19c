"""The words in which uv says why a resolution has no solution."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUBJECT = r"(?P<name>[A-Za-z0-9][\w.-]*?)(?:\[[^\]]*\])?(?P<version>(?:[<>=!~]=?[\w.+*!-]+,?)+)? ha(?:s|ve) no "


@dataclass(frozen=True, slots=True)
class Sign:
    """Words of uv by which a cause is known, and what they mean; the first that is found is the one to tell.

    `alone` tells that they mean it only where uv says nothing else: in a longer derivation they are one step of many.
    """

    pattern: re.Pattern[str]
    what: str
    hint: str
    alone: bool = False


SIGNS = (
    Sign(
        re.compile(r"(?P<name>\S+) was not found in the (?:package registry|provided package locations)"),
        "there is no distribution {name}",
        "Check the name, and whether an index of yours has it.",
    ),
    Sign(
        re.compile(_SUBJECT + "wheels with a matching platform tag"),
        "{name}{version} has no wheel for {platform}",
        "Take {platform} out of `platforms`, or ask for another version there by a marker.",
    ),
    Sign(
        re.compile(_SUBJECT + "wheels with a matching Python (?:ABI|version|implementation) tag"),
        "{name}{version} has no wheel for Python {python}",
        "Choose a Python that it has wheels for, or another version of it.",
    ),
    Sign(
        re.compile(_SUBJECT + "usable wheels"),
        "{name}{version} has no wheel for Python {python} on {platform}, and may not be built from source",
        'If it has a source distribution, allow that with allow-source = ["{name}"]; else ask for another version.',
    ),
    Sign(
        re.compile(r"there (?:is|are) no versions? of (?P<name>[\w.-]+)(?P<version>(?:[<>=!~]=?[^\s,]+,?)+)?"),
        "there is no {name}{version}",
        "Ask for a version that its index has.",
        alone=True,
    ),
    Sign(
        re.compile(r"only (?P<name>[\w.-]+)(?:[<>=!~]\S*)? is available and .* (?:require|depends on) (?P<asked>\S+),"),
        "there is no {asked}",
        "Ask for a version that its index has.",
        alone=True,
    ),
)
