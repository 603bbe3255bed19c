"""Compiles bytecode anew from its source: run by an environment's own Python, back to 3.6, for what others compiled.

recompile.py LIST: a file with one path of bytecode a line. What cannot be compiled is removed. Processors that have
nothing else to do take part.
"""

import importlib.util
import os
import py_compile
import re
import sys
from typing import List

WORTH_A_PROCESS = 50
"""Files for which a further process is begun: each takes a few milliseconds."""


def recompile(path: str) -> None:
    level = re.search(r"\.opt-(\w+)\.pyc$", path)
    source = importlib.util.source_from_cache(path)
    wanted = importlib.util.cache_from_source(source, optimization=level.group(1) if level else "")
    if os.path.abspath(wanted) != os.path.abspath(path):
        raise ValueError("bytecode of another interpreter")
    py_compile.compile(source, cfile=path, doraise=True, optimize=int(level.group(1)) if level else 0)


def recompile_all(paths: List[str]) -> None:
    for path in paths:
        try:
            os.remove(path)
            recompile(path)
        except Exception:  # whatever is wrong with it, it must not stay
            if os.path.lexists(path):
                os.remove(path)


def processors() -> int:
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin(paths: List[str]) -> int:
    """Begin to compile in a further process and return its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.nice(19)  # what is measured in another environment meanwhile goes first
            recompile_all(paths)
            code = 0
        finally:
            os._exit(code)
    return child


def main() -> int:
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as file:
        paths = [line.rstrip("\n") for line in file]
    parts = max(1, min(processors(), len(paths) // WORTH_A_PROCESS))
    children = [begin(paths[number::parts]) for number in range(1, parts)]
    recompile_all(paths[0::parts])
    statuses = [os.waitpid(child, 0)[1] for child in children]
    return int(any(statuses))


sys.exit(main())
