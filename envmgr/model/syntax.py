"""Python as its syntax."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str, feature_version: tuple[int, int] | None = None) -> ast.Module:
    """Return Python source as its syntax; what the parser would warn of is its author's affair and is not said.

    Raises what `ast.parse` raises for source that is none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, feature_version=feature_version)
