"""Resolves a target with uv: for any platform, from exactly the indexes that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envmgr.errors import ResolveError
from envmgr.lock.builds import pin_builds
from envmgr.lock.compile import ALL, Question, ask
from envmgr.lock.floors import Floor, floors
from envmgr.lock.inputs import digest, indexes, served
from envmgr.lock.pylock import Package, read_pylock
from envmgr.lock.trouble import notes_of, refused, resolve_error, unreached
from envmgr.lock.work import Resolution, Resolver, Wish
from envmgr.model.lock import Lock
from envmgr.model.manifest import Index
from envmgr.ports import Completed, ProcessRequest


def resolve(wish: Wish, resolver: Resolver) -> Resolution:
    """Return the lock of a target, with notes for the user; a ResolveError tells why there is none."""
    _check(wish)
    with resolver.files.scratch("resolve") as folder:
        answer = _answer(wish, resolver, folder)
        built = [package for package in answer.packages if package.needs_build]
        builds = pin_builds(built, answer.question, wish, resolver, folder) if built else ()
    manifest = wish.target.manifest
    origins = served(wish.target)
    lock = Lock(
        manifest=manifest.name,
        variant=wish.target.variant,
        platform=wish.target.platform,
        python=wish.python,
        inputs=digest(wish.target),
        indexes=tuple(index.name for index in indexes(wish.target)),
        exclude_newer=manifest.exclude_newer,
        uv=_version(resolver),
        minimum=answer.question.floor.minimum,
        download=sum(package.size for package in answer.packages),
        distributions=tuple(package.locked(origins.get(package.name)) for package in answer.packages),
        builds=builds,
    )
    return Resolution(lock, answer.notes)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What uv resolved, to which question, with notes."""

    packages: tuple[Package, ...]
    question: Question
    notes: tuple[str, ...]


def _check(wish: Wish) -> None:
    manifest = wish.target.manifest
    if not manifest.requirements:
        raise ResolveError(
            f"{manifest.name} has nothing to resolve",
            "it is a history of steps, which is replayed and never locked",
            f"envmgr build {manifest.name}",
        )
    walled = served(wish.target)
    for text in (*manifest.overrides, *(text for texts in manifest.build_requires.values() for text in texts)):
        name = canonicalize_name(Requirement(text).name)
        if name in walled:
            raise ResolveError(
                f"{manifest.name}: {name} may come from the index '{walled[name]}' alone",
                f"'{text}' is an override or a build requirement, which uv takes from the default index",
                "Write the version among the requirements instead.",
            )
    if wish.sources and wish.interpreter is None:
        raise ResolveError(
            f"{wish.target.label} for {wish.target.platform} cannot be resolved without Python {wish.python}",
            f"{', '.join(sorted(wish.sources))} may have to be built from source, which takes that Python itself",
            f"envmgr python install {wish.python}, or lock it on a machine that has it.",
        )


def _answer(wish: Wish, resolver: Resolver, folder: Path) -> _Answer:
    """Resolve on the oldest system that will do.

    First whatever may be built from source is; then what turns out to have a wheel at that version is taken as one.
    """
    oldest, *newer = floors(wish.target.platform)
    keep = wish.previous.distributions if wish.previous and ALL not in wish.upgrade else ()
    first = Question(wish.target.manifest.requirements, oldest, wish.sources, keep=keep)
    answer = _climb(first, newer, wish, resolver, folder)
    built = frozenset(package.name for package in answer.packages if package.needs_build)
    if ALL in wish.sources or not built:
        return answer
    wheels = frozenset(_with_wheel(answer, built, wish, resolver, folder))
    if not wheels:
        return answer
    keep = tuple(package.locked(None) for package in answer.packages)
    question = replace(answer.question, sources=built - wheels, keep=keep)
    completed = ask(question, wish, resolver, folder)
    if not completed.good:
        raise resolve_error(completed, wish, resolver)
    return replace(answer, packages=read_pylock(completed.stdout), question=replace(question, keep=()))


def _with_wheel(answer: _Answer, built: frozenset[str], wish: Wish, resolver: Resolver, folder: Path) -> Iterator[str]:
    """Yield those of the sources that have a fitting wheel at the version chosen."""
    for package in answer.packages:
        if package.name in built:
            pin = f"{package.name}=={package.version}"
            question = replace(answer.question, requirements=(pin,), sources=frozenset(), keep=(), dependencies=False)
            if ask(question, wish, resolver, folder).good:
                yield package.name


def _climb(question: Question, newer: Sequence[Floor], wish: Wish, resolver: Resolver, folder: Path) -> _Answer:
    """Ask for the question's system, and for newer ones only where wheels demand it."""
    completed, asked = _ask_around(question, wish, resolver, folder)
    if completed.good:
        notes = (*_stand_ins(asked, wish), *notes_of(completed, wish, resolver))
        return _Answer(read_pylock(completed.stdout), replace(asked, keep=()), notes)
    if newer and re.search(r"matching platform tag|no usable wheels", completed.stderr):
        return _climb(replace(asked, floor=newer[0]), newer[1:], wish, resolver, folder)
    raise resolve_error(completed, wish, resolver)


def _ask_around(question: Question, wish: Wish, resolver: Resolver, folder: Path) -> tuple[Completed, Question]:
    """Ask uv; where an explicit index does not answer, let the host's wheel folders stand in for it."""
    completed = ask(question, wish, resolver, folder)
    if "was not found" in completed.stderr and resolver.settings.extra_index_urls:
        # While it merges indexes, uv passes over one that refuses access and does not tell.
        apart = ask(replace(question, merged=False), wish, resolver, folder)
        completed = apart if refused(apart) else completed
    dead = _dead_index(completed, question, wish)
    if dead is None:
        return completed, question
    for place in resolver.settings.find_links:
        other = replace(question, folders={**question.folders, dead.name: place})
        found, asked = _ask_around(other, wish, resolver, folder)
        if found.good:
            return found, asked
    return completed, question


def _dead_index(completed: Completed, question: Question, wish: Wish) -> Index | None:
    url = None if completed.good else unreached(completed)
    if url is None:
        return None
    candidates = (index for index in indexes(wish.target) if index.name not in question.folders)
    return next((index for index in candidates if url.startswith(index.url.rstrip("/"))), None)


def _stand_ins(question: Question, wish: Wish) -> Iterator[str]:
    for index in indexes(wish.target):
        if index.name in question.folders:
            packages = ", ".join(index.packages)
            yield f"the index '{index.name}' does not answer: {packages} taken from {question.folders[index.name]}"


def _version(resolver: Resolver) -> str:
    completed = resolver.process.run(ProcessRequest((str(resolver.uv), "--version"), env=resolver.environment))
    found = re.match(r"uv (\S+)", completed.stdout)
    return found[1] if found else ""
