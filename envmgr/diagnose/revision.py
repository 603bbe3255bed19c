"""The source revision that a distribution tells of itself: in its version, its origin or a module of its own."""

from __future__ import annotations

import json
import re

_IN_VERSION = re.compile(r"\+(?:[\w.]*?[._])?g(?:it)?([0-9a-f]{7,40})(?:[._]|$)")
_IN_MODULE = re.compile(
    r"\b_*(?:git_?(?:version|revision|sha|hash|commit)|full[-_]?revisionid|commit(?:_id|_hash|_sha)?|revision)_*"
    r"[\"']?\s*(?::\s*\w+\s*)?[:=]\s*[\"']g?([0-9a-f]{7,40})[\"']",
    re.IGNORECASE,
)
MODULES = ("version.py", "_version.py", "__init__.py")
"""The files of a package that are read for a revision, in this order."""
_LIMIT = 100_000


def of_version(version: str) -> str:
    """Return the revision in a version's local label, empty without one.

    >>> of_version("2.9.0.dev20250811+git1a2b3c4"), of_version("1.0.dev3+g0fedcba.d2026"), of_version("2.13.0+cpu")
    ('1a2b3c4', '0fedcba', '')
    """
    found = _IN_VERSION.search(version)
    return found[1] if found else ""


def of_origin(direct_url: str) -> str:
    """Return the commit in the text of a `direct_url.json`, empty without one."""
    try:
        told = json.loads(direct_url).get("vcs_info", {}).get("commit_id", "")
    except (ValueError, AttributeError):
        return ""
    return str(told)


def of_module(source: str) -> str:
    """Return the revision that a module's source gives a name to, empty without one.

    >>> of_module("git_version = '1a2b3c4d5e'"), of_module('{"full-revisionid": "0fedcba98765"}'), of_module("x = 1")
    ('1a2b3c4d5e', '0fedcba98765', '')
    """
    found = _IN_MODULE.search(source[:_LIMIT])
    return found[1] if found else ""
