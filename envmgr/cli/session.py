"""One command's life: do, show, exit; an error in three parts, never a traceback unless asked for."""

from __future__ import annotations

import errno
import gc
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import typer

from envmgr.cli.signals import INTERRUPTED, end_on_signals
from envmgr.errors import EnvmgrError, FolderError, UsageError

UsageProblem: type[Exception] = typer.BadParameter.__mro__[1]
"""What is raised for a wrong command line: click's own class, or that of the click that newer Typers carry."""

INTERNAL = 70


@dataclass(frozen=True, slots=True)
class Options:
    """What every command was told."""

    command: str
    json: bool
    project: Path | None
    debug: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: `data` for --json, `show` for people (it prints to stdout), and the exit code.

    `data` that takes long to make may be a function that makes it. `lasting` tells that the answer holds as long as
    nothing changes that was looked at: it is kept and given again without looking. `again` is how the command can do
    the same again, and the answer to that.
    """

    data: Any
    show: Callable[[], None]
    exit_code: int = 0
    lasting: bool = False
    again: tuple[Any, Answer] | None = None


def perform(options: Options, action: Callable[[Any], Answer]) -> None:
    """Do one use case in a Workplace, show its answer and leave with its exit code."""
    from envmgr.app.workplace import Workplace
    from envmgr.cli import wishes
    from envmgr.cli.account import accounted
    from envmgr.cli.progress import progress

    end_on_signals()
    workplace: Workplace | None = None
    try:
        with progress(quiet=wishes.QUIET) as listener, accounted(listener) as (heard, timed):
            workplace = Workplace(options.project, heard, witness=options.command in wishes.REMEMBERED)
            timed(workplace)
            answer = action(workplace)
        if answer.again is not None:
            recipe, repeated = answer.again
            workplace.keep_recipe(wishes.LINE, _printed(options, repeated), recipe)
        text = _printed(options, answer) if answer.lasting else _print(options, answer)
        if text:
            sys.stdout.write(text)
            workplace.keep_receipt(wishes.LINE, text)
        code = answer.exit_code
    except EnvmgrError as error:
        code = _tell(options, error)
    except KeyboardInterrupt:
        if workplace is not None:
            workplace.process.stop_all()
        code = tell_of_interruption(options)
    except BrokenPipeError:
        code = 0
    except OSError as error:
        told = _of_folder(error, None if workplace is None else workplace.folders.cache)
        code = _tell(options, told or _internal(error), None if told else INTERNAL)
    except Exception as error:  # noqa: BLE001 - the last place where a fault of ours can be told without a traceback
        code = _tell(options, _internal(error), INTERNAL)
    raise typer.Exit(code)


def _print(options: Options, answer: Answer) -> str:
    """Print an answer, and return nothing of it."""
    if options.json:
        from envmgr.report.json import envelope

        print_json(envelope(options.command, answer.data() if callable(answer.data) else answer.data, None))
    else:
        answer.show()
    return ""


def _printed(options: Options, answer: Answer) -> str:
    """Return what printing an answer would print."""
    with redirect_stdout(StringIO()) as stream:
        _print(options, answer)
    return stream.getvalue()


@contextmanager
def leaving_cycles() -> Iterator[None]:
    """Look for no cycles while a command reads runs: their many values have none, and looking takes time.

    At the end of the process nothing looks through them either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def say(*lines: str) -> None:
    """Print lines of an answer on stdout."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def print_json(value: Any) -> None:
    """Print one strict JSON document on stdout."""
    from envmgr.report.json import text_of

    sys.stdout.write(text_of(value) + "\n")


def show_usage_error(error: Exception, argv: Sequence[str]) -> int:
    """Tell of a wrong command line and return the exit code 2."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "envmgr"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    message = message.replace("Value error, ", "")
    usage = context.get_usage() if context else ""
    options = Options(path.removeprefix("envmgr").strip(), "--json" in argv, None, debug="--debug" in argv)
    why = "\n".join(filter(None, (_meant(message), usage)))
    return _tell(options, UsageError(message, why, _elsewhere(message) or f"{path} --help"))


def _meant(message: str) -> str:
    """Return which of the values that an option takes is meant, where one is near.

    >>> _meant("Invalid value for '--to': 'pylok' is not one of 'requirements', 'pylock'.")
    "did you mean 'pylock'?"
    """
    import re
    from difflib import get_close_matches

    wrong, _, known = message.partition(" is not one of ")
    said = re.search(r"'([^']*)'$", wrong)
    near = get_close_matches(said[1], re.findall(r"'([^']*)'", known), n=1) if said else []
    return f"did you mean '{near[0]}'?" if near else ""


def _elsewhere(message: str) -> str:
    """Return the commands of groups, one a line, that bear the name of one which is none by itself."""
    import re

    from envmgr.cli.examples import EXAMPLES

    unknown = re.match(r"No such command '([\w-]+)'", message)
    return "\n".join(f"envmgr {words}" for words in EXAMPLES if unknown and words.endswith(f" {unknown[1]}"))


def tell_of_interruption(options: Options) -> int:
    """Tell that the user wanted a command to end, and return its exit code."""
    return _tell(options, EnvmgrError("interrupted", "", ""), INTERRUPTED)


def _tell(options: Options, error: EnvmgrError, exit_code: int | None = None) -> int:
    if options.debug:
        traceback.print_exc(file=sys.stderr)
    parts = {"code": error.code, "what": error.what, "why": error.why, "hint": error.hint}
    if options.json:
        from envmgr.report.json import envelope

        print_json(envelope(options.command, None, parts))
    lines = [f"error: {error.what}"]
    lines += [f"  {line}" for line in error.why.splitlines()]
    lines += [f"  try: {line}" for line in error.hint.splitlines()]
    print("\n".join(lines), file=sys.stderr)
    return error.exit_code if exit_code is None else exit_code


def _of_folder(error: OSError, cache: Path | None) -> FolderError | None:
    """Return the error of a folder that cannot be written, if that is what the system says."""
    why = f"the system says: {error.strerror}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        where = f" for {error.filename}" if error.filename else ""
        return FolderError(f"there is no space left{where}", why, "free some, for instance with `envmgr clean`")
    named = _meant_file(str(error.filename2 or error.filename or ""))
    if error.errno in {errno.EISDIR, errno.ENAMETOOLONG}:
        return FolderError(f"{named} is no place for a file", why, "name a file")
    if named and error.errno in {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}:
        hint = "make it writable, or name another place"
        if cache is None or Path(named).is_relative_to(cache) or cache.is_relative_to(named):
            hint = "make it writable, or let ENVMGR_CACHE_DIR name another folder for what envmgr builds"
        return FolderError(f"{named} cannot be used", why, hint)
    return None


def _meant_file(path: str) -> str:
    """Return the file that was to be written, where another stands for it until it is whole.

    >>> _meant_file("/project/.bug.md.box.12.0123abcd.part")
    '/project/bug.md'
    """
    import re

    return re.sub(r"(^|/)\.([^/]+)\.[A-Za-z0-9_-]+\.\d+\.[0-9a-f]{8}\.part$", r"\1\2", path)


def _internal(error: Exception) -> EnvmgrError:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return EnvmgrError(
        "envmgr has a fault of its own",
        f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})",
        "run it again with --debug and report what it prints",
    )
