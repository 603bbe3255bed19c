"""Why uv could not resolve: what failed, wanted and found, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envmgr.errors import ResolveError
from envmgr.lock.compile import PROJECT
from envmgr.lock.inputs import indexes
from envmgr.lock.signs import SIGNS
from envmgr.lock.work import Resolver, Wish
from envmgr.model.redaction import redact
from envmgr.ports import Completed

_UNREACHED = re.compile(
    r"(?:Failed to fetch: ?|error sending request for url \(|Failed to download[^`\n]*`?|for url \()`?(?P<url>https?://[^\s)`]+)"
)
_REFUSED = re.compile(r"An index URL \((?P<url>[^\s)]+)\) [^(\n]*\((?P<status>\d{3}[^)]*)\)")
_STATUS = re.compile(r"HTTP status [a-z ]+\((?P<status>\d{3}[^)]*)\)")
_OF_PYTHON = re.compile(r"usable wheels|\bPython\b")
_REASONS = ("No solution found", "Failed to build", "Failed to download and build")


def unreached(completed: Completed) -> str | None:
    """Return the URL that did not answer, if that is why uv failed."""
    if _REASONS[0] in completed.stderr:
        return None
    found = _UNREACHED.search(redact(completed.stderr))
    return found["url"].rstrip(".,") if found else None


def notes_of(completed: Completed, wish: Wish, resolver: Resolver) -> tuple[str, ...]:
    """Return what uv warned of in a resolution that succeeded, as the user should read it."""
    warnings = [
        redact(line.removeprefix("warning: "))
        for line in completed.stderr.splitlines()
        if line.startswith("warning: ") and "to build dependencies" not in line and "experimental" not in line
    ]
    undated = [warning for warning in warnings if "is missing an upload date" in warning]
    others = tuple(dict.fromkeys(warning for warning in warnings if warning not in undated))
    if not undated:
        return others
    first = undated[0].split("`")[1]
    more = f" and {len(undated) - 1} more" if len(undated) > 1 else ""
    places = [
        *(resolver.settings.extra_index_urls if resolver.host_sources else ()),
        *(index.url for index in indexes(wish.target)),
        *([resolver.settings.index_url] if resolver.settings.index_url else []),
    ]
    served = f" ({'one of ' if len(places) > 1 else ''}{', '.join(map(redact, places))})" if places else ""
    day = wish.target.manifest.exclude_newer
    told = f"an index{served} tells no upload times: under exclude-newer = {day}, {first}{more} was left out"
    return (told, *others)


def refused(completed: Completed) -> bool:
    """Tell whether uv says that an index wants other credentials."""
    return _REFUSED.search(completed.stderr) is not None


def resolve_error(completed: Completed, wish: Wish, resolver: Resolver) -> ResolveError:
    """Return the error that tells why uv failed."""
    label = f"{wish.target.label} for {wish.target.platform}"
    text = redact(_told(completed.stderr)).replace(PROJECT, wish.target.manifest.name)
    of_machine = _machine_error(completed, label, text, resolver)
    if of_machine:
        return of_machine
    closed = _REFUSED.search(text)
    if closed:
        return _refused_error(label, closed["url"], closed["status"], wish, resolver)
    url = unreached(completed)
    if url:
        return _unreached_error(label, url, text, wish, resolver)
    built = re.search(r"Failed to (?:download and )?build `(?P<name>[^`]+)`", text)
    if built:
        hint = "See what it lacks; build-constraints and [build-requires] pin and add what it is built with."
        return ResolveError(f"{label}: {built['name']} cannot be built from source", text, hint)
    if "network was disabled" in text:
        return ResolveError(f"{label}: not all that it needs is in the cache", text, "Try again without --offline.")
    error = _unsatisfied(label, text, wish)
    error.of_python = error.answered and _OF_PYTHON.search(text) is not None
    return error


def _machine_error(completed: Completed, label: str, text: str, resolver: Resolver) -> ResolveError | None:
    """Return the error of a uv that this machine stopped."""
    if not completed.started:
        return ResolveError(f"{label}: uv cannot be started", text, "Install it again with envmgr.")
    if completed.timed_out:
        why = f"it had not ended after {resolver.timeout:.0f} s\n{text}"
        return ResolveError(f"{label}: uv took too long", why, "Try again; the index may be slow.")
    if "No space left on device" in text:
        cache = resolver.environment.get("UV_CACHE_DIR", "its own folder")
        return ResolveError(f"{label}: the disk is full", text, f"Make room; uv keeps its cache in {cache}.")
    return None


def _told(stderr: str) -> str:
    """Return what uv says without its log and its warnings."""
    lines = [
        line for line in stderr.splitlines() if not re.match(r"(?:DEBUG|TRACE|INFO|WARN|warning:|Resolved )", line)
    ]
    return "\n".join(lines).strip()


def _unreached_error(label: str, url: str, text: str, wish: Wish, resolver: Resolver) -> ResolveError:
    status = _STATUS.search(text)
    if resolver.offline or "network was disabled" in text:
        return ResolveError(f"{label}: {url} is not in the cache", text, "Try again without --offline.")
    if status and status["status"][:3] in {"401", "403", "407"}:
        return _refused_error(label, url, status["status"], wish, resolver)
    last = text.splitlines()[-1].strip().removeprefix("cause: ").removeprefix("Caused by: ") if text else ""
    hint = "Check the network and the index's address; or name a mirror, or a folder of wheels, in pip's configuration."
    why = f"{url}: {status['status'] if status else last}"
    return ResolveError(f"{label}: {_owner(url, wish, resolver)} does not answer", why, hint, silent=not status)


def _refused_error(label: str, url: str, status: str, wish: Wish, resolver: Resolver) -> ResolveError:
    hint = "Give a user name and password in ~/.netrc or in the configuration that names the index."
    return ResolveError(f"{label}: {_owner(url, wish, resolver)} refuses access", f"{url}: {status}", hint)


def _owner(url: str, wish: Wish, resolver: Resolver) -> str:
    """Return the index that a URL belongs to, as the user knows it."""
    settings = resolver.settings
    known: Mapping[str, str] = {
        **{redact(index.url): f"the index '{index.name}'" for index in indexes(wish.target)},
        **{redact(each): f"the further index {redact(each)}" for each in settings.extra_index_urls},
        **{redact(each): f"the wheel page {redact(each)}" for each in settings.find_links},
        **({redact(settings.index_url): f"the index {redact(settings.index_url)}"} if settings.index_url else {}),
    }
    for address, name in known.items():
        if url.startswith(address.rstrip("/")):
            return name
    return "the default index" if url.endswith("/") else "the server of a file"


def _unsatisfied(label: str, text: str, wish: Wish) -> ResolveError:
    flat = " ".join(text.split())
    simple = flat.count("ecause ") <= 1
    day = wish.target.manifest.exclude_newer
    if day and simple and "filtered by `exclude-newer`" in flat:
        found = re.search(r"`(?P<name>[^`]+)` was filtered by `exclude-newer`", flat)
        name = found["name"] if found else "a distribution"
        what = f"{label}: {name} has no fitting release up to {day}, or its index tells no upload times"
        hint = "Choose a later exclude-newer, or an index that tells upload times."
        return ResolveError(what, text, hint, answered=True)
    for sign in SIGNS:
        found = sign.pattern.search(flat)
        if found and (simple or not sign.alone):
            words = {"platform": str(wish.target.platform), "python": wish.python, "version": ""}
            words |= {key: value.rstrip(",.") for key, value in found.groupdict().items() if value}
            what, hint = sign.what.format_map(words), sign.hint.format_map(words)
            lacks = words.get("asked", words.get("name", "") + words["version"])
            return ResolveError(f"{label}: {what}", text, hint, answered=True).lacking(lacks)
    if "No solution found" in text:
        hint = "Loosen one of the requirements named there, or settle it with `overrides`."
        what = f"{label}: no set of distributions meets the requirements"
        return ResolveError(what, text, hint, answered=True)
    return ResolveError(f"{label}: uv cannot resolve it", text, "Look at what uv says above.")
