"""Compiles bytecode anew from its source: run by an environment's own Python, back to 3.6, for what others compiled.

recompile.py LIST: a file with one path of bytecode a line. What cannot be compiled is removed.
"""

import importlib.util
import os
import py_compile
import re
import sys


def recompile(path: str) -> None:
    level = re.search(r"\.opt-(\w+)\.pyc$", path)
    source = importlib.util.source_from_cache(path)
    wanted = importlib.util.cache_from_source(source, optimization=level.group(1) if level else "")
    if os.path.abspath(wanted) != os.path.abspath(path):
        raise ValueError("bytecode of another interpreter")
    py_compile.compile(source, cfile=path, doraise=True, optimize=int(level.group(1)) if level else 0)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as file:
        paths = [line.rstrip("\n") for line in file]
    for path in paths:
        try:
            os.remove(path)
            recompile(path)
        except Exception:  # whatever is wrong with it, it must not stay
            if os.path.lexists(path):
                os.remove(path)


main()
