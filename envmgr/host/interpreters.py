"""Which Pythons this machine really has: each candidate is asked by a script that it runs itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version
from pydantic import Field, ValidationError

from envmgr.errors import HostError
from envmgr.host.candidates import Candidate, find_candidates
from envmgr.host.managed import managed_folder
from envmgr.host.surroundings import Means, Surroundings, system_of
from envmgr.model.host import Interpreter, RejectedInterpreter
from envmgr.model.noun import Noun
from envmgr.ports import Completed, ProcessRequest

PROBE = Path(__file__).parent / "probes" / "interpreter.py"
_TOO_OLD = 66
_TIMEOUT = 30.0


class Answer(Noun):
    """What the probe script writes."""

    protocol: int
    implementation: str
    version: str
    build: str
    system: str
    arch: str
    translated: bool
    executable: str
    base_prefix: str
    virtual: bool
    abi_flags: str
    libc: str


class _Remembered(Noun):
    identity: str
    answer: Answer


class _Refused(Noun):
    """A file that will not become a base before it is replaced."""

    identity: str
    reason: str


class _Cache(Noun):
    """Answers by path, valid while `state` (a digest of the probe's text) and the Python's file are the same."""

    state: str
    answers: dict[str, _Remembered] = Field(default_factory=dict)
    refused: dict[str, _Refused] = Field(default_factory=dict)

    @property
    def known(self) -> dict[str, _Remembered | _Refused]:
        return {**self.answers, **self.refused}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The Pythons that can serve as bases, newest first, and those that cannot, with the reason."""

    interpreters: tuple[Interpreter, ...]
    rejected: tuple[RejectedInterpreter, ...]


def discover(means: Means, around: Surroundings, cache_folder: Path) -> Discovery:
    """Return all Pythons of this machine; answers are kept in `cache_folder` until a Python changes."""
    cache_path = cache_folder / "interpreters.json"
    state = hashlib.sha256((means.read(PROBE) or "").encode()).hexdigest()[:16]
    known = _read_cache(means, cache_path, state)
    candidates = find_candidates(means, around, managed_folder(means, around, cache_folder))
    results = _ask_all(means, around, candidates, known)
    answers = {path: result for path, result in results.items() if isinstance(result, _Remembered)}
    refused = {path: result for path, result in results.items() if isinstance(result, _Refused)}
    if {**answers, **refused} != known:
        cache = _Cache(state=state, answers=answers, refused=refused)
        means.keep(cache_path, cache.model_dump_json(indent=1))
    return _sort_out(candidates, results)


def _read_cache(means: Means, path: Path, state: str) -> dict[str, _Remembered | _Refused]:
    text = means.read(path)
    if text is None:
        return {}
    try:
        cache = _Cache.model_validate_json(text)
    except ValidationError:
        return {}
    return cache.known if cache.state == state else {}


def _ask_all(
    means: Means, around: Surroundings, candidates: tuple[Candidate, ...], known: dict[str, _Remembered | _Refused]
) -> dict[str, _Remembered | _Refused | str]:
    """Return for each path what is known of it: an answer, or the reason why there is none."""
    results: dict[str, _Remembered | _Refused | str] = {}
    unknown: list[tuple[Path, Path]] = []
    with means.files.scratch("interpreters") as folder:
        for number, candidate in enumerate(candidates):
            path = candidate.path
            remembered = known.get(str(path))
            if remembered is not None and remembered.identity == means.files.identity(path):
                results[str(path)] = remembered
            else:
                unknown.append((path, folder / f"{number}.json"))
        for path, result in means.executor.map(lambda job: (job[0], _ask(means, around, *job)), unknown):
            results[str(path)] = result
    return results


def _ask(means: Means, around: Surroundings, path: Path, report: Path) -> _Remembered | _Refused | str:
    identity = means.files.identity(path)
    if not identity:
        return "there is no such file"
    variables = {key: value for key, value in around.environment.items() if not _steers_python(key)}
    argv = (str(path), "-E", "-s", "-S", str(PROBE), str(report))
    completed = means.process.run(ProcessRequest(argv, cwd=report.parent, env=variables, timeout=_TIMEOUT))
    text = means.read(report)
    if completed.exit_code == _TOO_OLD:
        return _Refused(identity=identity, reason=_why_silent(completed))
    if not completed.good or text is None:
        return _why_silent(completed)
    try:
        return _Remembered(identity=identity, answer=Answer.model_validate_json(text))
    except ValidationError:
        return "does not answer as the probe expects"


def _why_silent(completed: Completed) -> str:
    last_line = (completed.stderr.strip().splitlines() or [""])[-1]
    if not completed.started:
        return f"cannot be started: {last_line}"
    if completed.timed_out:
        return f"does not answer within {_TIMEOUT:g} s"
    if completed.exit_code == _TOO_OLD:
        return last_line
    how = f"signal {completed.signal}" if completed.signal else f"exit code {completed.exit_code}"
    return f"does not work ({how}){': ' if last_line else ''}{last_line}"


def _steers_python(variable: str) -> bool:
    return variable.upper().startswith(("PYTHON", "_PYTHON", "__PYVENV", "PYENV_VERSION"))


def _sort_out(candidates: tuple[Candidate, ...], results: dict[str, _Remembered | _Refused | str]) -> Discovery:
    interpreters: dict[str, Interpreter] = {}
    rejected: dict[str, RejectedInterpreter] = {}
    for candidate in candidates:
        path = str(candidate.path)
        result = results[path]
        reason = _reason(result)
        if not isinstance(result, _Remembered) or reason:
            refused = RejectedInterpreter(executable=path, source=candidate.source, reason=reason)
            rejected.setdefault(path, refused)
        else:
            interpreter = _interpreter(result, candidate.source)
            interpreters.setdefault(interpreter.executable, interpreter)
    ordered = sorted(interpreters.values(), key=lambda one: Version(one.version), reverse=True)
    return Discovery(tuple(ordered), tuple(rejected.values()))


def _reason(result: _Remembered | _Refused | str) -> str:
    match result:
        case _Refused(reason=reason) | str(reason):
            return reason
        case _:
            return _objection(result.answer)


def _objection(answer: Answer) -> str:
    if answer.virtual:
        return "is a virtual environment, not a base"
    try:
        system_of(answer.system)
    except HostError:
        return f"is built for {answer.system}"
    return ""


def _interpreter(remembered: _Remembered, source: str) -> Interpreter:
    answer = remembered.answer
    return Interpreter(
        executable=answer.executable,
        implementation=answer.implementation,
        version=answer.version,
        build=answer.build,
        arch=answer.arch,
        system=system_of(answer.system),
        translated=answer.translated,
        base_prefix=answer.base_prefix,
        identity=remembered.identity,
        abi_flags=answer.abi_flags,
        libc=answer.libc,
        source=source,
    )
