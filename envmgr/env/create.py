"""An empty virtual environment, back to Python 3.6."""

from __future__ import annotations

import errno
import hashlib
import re
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from envmgr.env.blank import keep_blank, lay_out_blank
from envmgr.env.content import python_of
from envmgr.errors import BuildError
from envmgr.model.host import Interpreter
from envmgr.ports import Files

_TURN = threading.Lock()
"""virtualenv keeps process-wide state (its log, its plugins): one creation at a time; each takes a moment."""

_SEEDING_PATCH = ("_virtualenv.pth", "_virtualenv.py")


def create(interpreter: Interpreter, folder: Path, app_data: Path, caller: Mapping[str, str], files: Files) -> Path:
    """Create an env without any distribution and return its interpreter; it sees no package of system or user.

    virtualenv makes the first of an interpreter; what it made is laid out again for the next ones, which are told from
    it by the name of their folder alone. Raises BuildError.
    """
    blank = blank_of(interpreter, folder, app_data, files)
    told_apart = _DIGEST.fullmatch(folder.name) is not None
    if not told_apart or not lay_out_blank(blank, folder, files):
        _create_anew(interpreter, folder, app_data, caller)
        _remove_seeding_patch(folder, interpreter, files)
        if told_apart:
            keep_blank(blank, folder, files)
    return python_of(folder, interpreter.system)


_DIGEST = re.compile(r"[0-9a-f]{16,}")


def blank_of(interpreter: Interpreter, folder: Path, app_data: Path, files: Files) -> Path:
    """Return where the blank of an env is kept: it goes with interpreter, parent folder and the virtualenv at work."""
    found = find_spec("virtualenv")
    tool = files.identity(Path(found.origin)) if found and found.origin else ""
    parts = (interpreter.executable, interpreter.identity, interpreter.version, str(folder.parent), tool)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return app_data / "blanks" / f"{digest}.json"


def _create_anew(interpreter: Interpreter, folder: Path, app_data: Path, caller: Mapping[str, str]) -> None:
    arguments = [
        str(folder),
        "--python",
        interpreter.executable,
        "--no-seed",
        "--no-download",
        "--no-periodic-update",
        "--no-vcs-ignore",
        "--app-data",
        str(app_data),
    ]
    environment = {name: caller[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "TMP") if name in caller}
    environment["VIRTUALENV_CONFIG_FILE"] = str(app_data / "no-configuration.ini")
    try:
        _run_virtualenv(arguments, environment)
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise BuildError(
                "there is no space left on the disk",
                f"wanted room for an environment in {folder.parent}; the system says: {error.strerror}",
                "free some, for instance with `envmgr clean --dry-run` and `envmgr clean`",
            ) from error
        raise BuildError(
            f"no virtual environment could be created with {interpreter.executable}",
            f"wanted an empty environment of Python {interpreter.version}, virtualenv says: {_first_line(error)}",
            "look whether this Python starts by itself, or name another with --python",
            phase="interpreter",
        ) from error


def _run_virtualenv(arguments: list[str], environment: dict[str, str]) -> None:
    import virtualenv  # noqa: PLC0415 - half of envmgr's start-up time, and most commands create nothing

    with _TURN:
        virtualenv.cli_run(arguments, setup_logging=False, env=environment)


def _remove_seeding_patch(folder: Path, interpreter: Interpreter, files: Files) -> None:
    """Take out what virtualenv adds for pip: without a seed it serves nothing, and on old Pythons it breaks."""
    site_packages = site_packages_of(folder, interpreter)
    for name in _SEEDING_PATCH:
        files.remove(site_packages / name)


def site_packages_of(folder: Path, interpreter: Interpreter) -> Path:
    """Return where an env keeps its distributions."""
    if interpreter.system == "windows":
        return folder / "Lib" / "site-packages"
    library = interpreter.implementation.lower().replace("cpython", "python")
    threaded = "t" if "t" in interpreter.abi_flags else ""
    return folder / "lib" / f"{library}{interpreter.minor}{threaded}" / "site-packages"


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
