"""Reproducible environments without Docker, and a matrix of machine-learning stacks.

As a library: `from envmgr import build, measure, load, judge, compare, plan, verify, facts`; see `envmgr.api`. Nothing
is imported before it is asked for.
"""

from __future__ import annotations

__all__ = [
    "Cell",
    "CellResult",
    "Comparisons",
    "Env",
    "EnvmgrError",
    "Event",
    "HostFacts",
    "JudgedCell",
    "Listener",
    "Plan",
    "Run",
    "Verification",
    "build",
    "compare",
    "facts",
    "judge",
    "load",
    "measure",
    "plan",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - see below

        return version("envmgr")
    if name not in __all__:
        message = f"module 'envmgr' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module  # noqa: PLC0415 - a command line that has nothing to do needs none of it

    return getattr(import_module("envmgr.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
