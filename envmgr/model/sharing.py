"""How files of an env share their bytes with uv's cache."""

from __future__ import annotations

from typing import Literal

Sharing = Literal["clone", "hardlink", "copy"]
