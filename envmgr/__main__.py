"""Start envmgr apart from the caller's Python settings, which are data for probes and never part of envmgr."""

from __future__ import annotations

import codecs
import gc
import os
import sys

_FOREIGN = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONOPTIMIZE",
    "PYTHONWARNINGS",
    "PYTHONUSERBASE",
    "PYTHONCASEOK",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
)
_INTERRUPTED = 130
SET_ASIDE = "ENVMGR_SET_ASIDE_"
"""Begins the names of the variables in which a restarted envmgr finds what it was started with."""
NO_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Looking for plugins of pydantic takes as long as a tenth of a start, and one of another project has no place here."""


OUTER = "ENVMGR_OUTER"
"""The variable in which an envmgr that is started in an env finds the session in which that env was entered."""


def main() -> None:
    """Run the command line; restart first, without them, if variables of the caller could change what is imported.

    Where names of files are no UTF-8 for Python, as in some sessions without a locale, it is told that they are.
    """
    _go_back()
    foreign = {name: os.environ[name] for name in _FOREIGN if name in os.environ}
    narrow = os.name == "posix" and sys.getfilesystemencoding() != "utf-8"
    if foreign or narrow:
        _restart(foreign, ("-X", "utf8") if narrow else ())
    _say_all()
    try:
        os.environ.setdefault(NO_PLUGINS, "__all__")
        from envmgr.cli import run  # noqa: PLC0415 - nothing is imported before the decision above

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    gc.freeze()  # else the interpreter looks for cycles in all that is left before it ends: a tenth of a build
    sys.exit(code)


def _go_back() -> None:
    """Take what the caller's session was before `envmgr run` or `shell`, where that is as they made it."""
    told = os.environ.pop(OUTER, "")
    if told:
        import json  # noqa: PLC0415 - only there

        try:
            for name, (inside, outside) in json.loads(told).items():
                if os.environ.get(name) == inside:
                    os.environ |= {name: outside or ""}
                    if outside is None:
                        del os.environ[name]
        except (ValueError, TypeError, AttributeError):
            return  # somebody else's: what it says cannot be known


def _say_all() -> None:
    """Have stdout take what its encoding does not have: as an escape of JSON, which that is then still."""
    codecs.register_error("envmgr", _escaped)
    if getattr(sys.stdout, "errors", "") == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="envmgr")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return characters as escapes in JSON, those beyond 16 bits as pairs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    told = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = (told[place : place + 2].hex() for place in range(0, len(told), 2))
    return "".join(f"\\u{pair}" for pair in pairs), error.end


def _restart(foreign: dict[str, str], options: tuple[str, ...]) -> None:
    """Start again without variables that could change what is imported; until then nothing more is imported."""
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    environment |= {f"{SET_ASIDE}{name}": value for name, value in foreign.items()}
    argv = [sys.executable, *options, "-P", "-m", "envmgr", *sys.argv[1:]]
    if os.name == "posix":
        os.execve(sys.executable, argv, environment)  # noqa: S606 - our own interpreter
    import subprocess  # noqa: PLC0415 - Windows has no exec that keeps the console

    sys.exit(subprocess.call(argv, env=environment))


if __name__ == "__main__":
    main()
