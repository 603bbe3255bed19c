"""The form of a lock's text, shared by those who read and write it."""

from __future__ import annotations

SCHEMA_KEY = "envmgr-lock"
"""The first key of the head; its value is the schema."""

SCHEMA = 1
"""The form that this envmgr writes and reads."""

REQUIRED = (SCHEMA_KEY, "manifest", "variant", "platform", "python", "inputs")
"""The keys of the head that every lock has."""

HEAD = (*REQUIRED, "indexes", "exclude-newer", "minimum", "download", "uv")
"""All keys of the head in the order in which they are written."""

BUILDS = "# build requirements, pinned and hashed:"
"""The line below which build requirements stand, each line a comment for other tools."""
