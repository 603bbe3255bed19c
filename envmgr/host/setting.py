"""A configured value that knows where it came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One option's values, and the file or variable that set them; values stay out of its text form."""

    values: tuple[str, ...]
    origin: str

    def __repr__(self) -> str:
        return f"Setting({len(self.values)} values from {self.origin})"
