"""envmgr diagnose that is given exit codes alone: for `score.py --envmgr "python benchmarks/blind.py"`."""

import os
import sys
from pathlib import Path


def main() -> None:
    envmgr = str(Path(sys.executable).with_name("envmgr"))
    words = sys.argv[1:]
    os.execv(envmgr, [envmgr, *words, *(["--blind"] if words[:1] == ["diagnose"] else [])])


if __name__ == "__main__":
    main()
