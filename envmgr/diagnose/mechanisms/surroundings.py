"""Changes around the environment: a variable unset or set, a file taken away, one key of a settings file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from envmgr.diagnose.knowledge import in_standard_library, settings
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.steering import steers_installers, steers_libraries, steers_loading
from envmgr.diagnose.worlds import with_files, with_variables
from envmgr.model.finding import Cause, Edit, FileChanges, Variables
from envmgr.model.outcome import Phase
from envmgr.model.redaction import shown_value, shown_variable

_SUPPLIES = re.compile(
    r"^(PIP_(CERT|INDEX_URL|FIND_LINKS|CONFIG_FILE|DEFAULT_TIMEOUT|DISABLE_PIP_VERSION_CHECK|CACHE_DIR)"
    r"|UV_(CACHE_DIR|PYTHON_INSTALL_DIR|DEFAULT_INDEX|INDEX_URL|INDEX|EXTRA_INDEX_URL|FIND_LINKS)"
    r"|SSL_CERT_(FILE|DIR)|NIX_SSL_CERT_FILE|\w+_CA_(BUNDLE|CERTS))$"
)
_INSTALLERS = frozenset({"pip", "uv", "pydistutils"})
_PROBE_SECONDS = 2.0
_MOST_VALUES = 6
_ALL_OF_THEM = 0.25
_LISTS = re.compile(
    r"(?:(?:one of|none of|any of|available|choices?|choose|from|valid|supported|allowed|options?|expected|possible"
    r"|known|values?|must be|can be|are|is|not in)\b[\s:=]*)+(.+)",
    re.IGNORECASE,
)


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose changes of variables and files."""
    yield from _unset(situation)
    yield from _set(situation)
    yield from _listed(situation)
    yield from _shadows(situation)
    yield from _settings(situation)
    yield from _clean_home(situation)


def _unset(situation: Situation) -> Iterator[Hypothesis]:
    open_ones = {
        name: value for name, value in situation.around.variables.items() if name not in situation.world.variables.unset
    }
    weights = {name: _suspicion(situation, name, value) for name, value in open_ones.items()}
    several = tuple(name for name, weight in weights.items() if weight > 0 and not _SUPPLIES.match(name))
    if len(several) == 1:
        weights[several[0]] = max(weights[several[0]], _ALL_OF_THEM)
    seconds = _PROBE_SECONDS if situation.seen.built else 5.0
    for name, weight in weights.items():
        cause = Cause(
            kind="env-state",
            name=name,
            why=f"{shown_variable(name, open_ones[name])} takes part, and without it the probe passes",
        )
        world = with_variables(situation.world, Variables(unset=(name,)))
        yield Hypothesis("unset a variable", world, cause, weight, seconds)
    if len(several) > 1:
        likely = max(weights, key=weights.__getitem__)
        cause = Cause(kind="env-state", name=likely, why="without these variables the probe passes")
        world = with_variables(situation.world, Variables(unset=several))
        yield Hypothesis("unset all variables", world, cause, _ALL_OF_THEM, seconds)


def _suspicion(situation: Situation, name: str, value: str) -> float:
    reading, built = situation.reading, situation.seen.built
    for_installers = steers_installers(name)
    if _SUPPLIES.match(name) and name not in situation.around.dead:
        return 0.02 if built or situation.seen.phase == Phase.BUILD else 0.2
    if not built:
        told = name in reading.variables or _quotes(situation, value) or "PROXY" in name.upper()
        return (0.9 if told else 0.75) if for_installers else 0.02
    weight = 0.03
    library = name.split("_", maxsplit=1)[0].lower()
    steers = for_installers or steers_loading(name) or steers_libraries(name)
    if steers or any(library == module.split(".")[0] for module in situation.contents.owners):
        weight = 0.5 if library == _where_it_broke(situation) else 0.35
    if name in reading.variables or _quotes(situation, value):
        weight = max(weight, 0.7)
    if for_installers and situation.unmet:  # a resolver left to itself would have met every requirement
        weight = 0.85
    if name in situation.around.dead or name in situation.around.foreign.values():
        weight = 0.9
    if name in settings() and settings()[name]["kind"] == "listed":
        weight *= 0.4
    return weight


def _where_it_broke(situation: Situation) -> str:
    """Return the library in whose code the last frame stands, empty if there is none."""
    tops = [frame.top for frame in situation.reading.frames if frame.top]
    return tops[-1].lower() if tops else ""


def _quotes(situation: Situation, value: str) -> bool:
    """Tell whether the failure's text quotes a variable's value, where that is no everyday word."""
    last = value.rstrip("/").rsplit("/", 1)[-1]
    return len(value) > 3 and (value in situation.reading.text or (len(last) > 5 and last in situation.reading.message))


def _set(situation: Situation) -> Iterator[Hypothesis]:
    installed = set(situation.contents.by_name)
    for name, known in settings().items():
        if known["library"] not in installed or name in situation.world.variables.set:
            continue
        now = situation.around.variables.get(name)
        offered = _values(situation, name, known)
        for place, value in enumerate(offered):
            if value == now:
                continue
            weight = _setting_weight(situation, name, known, value) - 0.05 * place
            why = f"{name} is {'not set' if now is None else now}; with {value} the probe passes"
            world = with_variables(situation.world, Variables(set={name: value}))
            yield Hypothesis(
                "set a variable", world, Cause(kind="env-state", name=name, why=why), weight, _PROBE_SECONDS
            )


def _listed(situation: Situation) -> Iterator[Hypothesis]:
    """Propose for each variable that the failure's text names the values that the text lists for it."""
    if not situation.seen.built:
        return
    for name in sorted(situation.reading.variables - set(situation.world.variables.set) - set(settings())):
        now = situation.around.variables.get(name)
        shown = "not set" if now is None else shown_value(name, now)
        offered = [value for value in values_listed(situation.reading.text, name) if value != now]
        for place, value in enumerate(offered[:_MOST_VALUES]):
            why = f"{name} is {shown}; with {value} the probe passes"
            cause = Cause(kind="env-state", name=name, why=why)
            world = with_variables(situation.world, Variables(set={name: value}))
            yield Hypothesis("set a variable as listed", world, cause, 0.65 - 0.04 * place, _PROBE_SECONDS)


def values_listed(text: str, name: str) -> tuple[str, ...]:
    """Return the values that a line which names a variable lists for it, two at least; nothing if it lists none.

    >>> values_listed("ValueError: ALPHA_MODE must be one of: fast, slow or off", "ALPHA_MODE")
    ('fast', 'slow', 'off')
    """
    for line in reversed(text.splitlines()):  # the message comes after the source line that raised it
        at = line.find(name)
        listed = _LISTS.search(line, at) if at >= 0 else None
        if listed:
            words = re.split(r"\s*(?:[,|/]|\bor\b|\band\b)\s*", listed[1].strip(" :.[](){}<>="))
            values = [word.strip(" '\"`[](){}.") for word in words]
            values = [value for value in values if re.fullmatch(r"[\w.:+-]{1,40}", value)]
            if len(values) >= 2:
                return tuple(dict.fromkeys(values))
    return ()


def _setting_weight(situation: Situation, name: str, known: dict[str, Any], value: str) -> float:
    """Return how likely a value helps: the text names the variable, or lacks what another value stands for."""
    reading, others = situation.reading, known.get("values", {})
    weight = 0.3
    lacks = reading.missing.split(".")[0]
    if lacks and lacks in others and lacks != value.split(".", maxsplit=1)[0]:
        weight += 0.4
    if name in reading.variables or (known["kind"] != "installed" and reading.says(known["library"])):
        weight += 0.3
    if value.split(".", maxsplit=1)[0] in situation.probe:
        weight += 0.25
    settled = name in situation.around.variables or any(known["library"] in path for path in situation.around.files)
    if value == known.get("default") and not settled:
        weight *= 0.2
    if situation.seen.phase == Phase.CHECK and known["kind"] != "installed":
        weight *= 0.5
    return weight


def _values(situation: Situation, name: str, known: dict[str, Any]) -> tuple[str, ...]:
    if known["kind"] == "listed":
        return situation.sources.values(name, situation.world, situation.seen)
    there = set(situation.contents.by_name) | {module.split(".")[0] for module in situation.contents.owners}
    if known["kind"] == "switch" and name not in situation.around.variables:
        return ()
    return tuple(value for value, needs in known["values"].items() if set(needs) <= there)


def _shadows(situation: Situation) -> Iterator[Hypothesis]:
    wanted = {module.split(".")[0] for module in situation.imported}
    seen: set[str] = set()
    for path in situation.around.files:
        parts = path.split("/")
        if parts[0] != "cwd" or path in situation.world.files.remove or len(parts) > 3:
            continue
        top = parts[1].removesuffix(".py")
        package = len(parts) == 3 and parts[2] == "__init__.py"
        target = f"cwd/{parts[1]}"
        if target in seen or not (package or (len(parts) == 2 and parts[1].endswith(".py"))):
            continue
        if not (in_standard_library(top) or situation.contents.has(top) or top in wanted):
            continue
        seen.add(target)
        named = any(
            frame.file.endswith((f"/{parts[1]}", f"/{parts[1]}/__init__.py")) or frame.file == parts[1]
            for frame in situation.reading.frames
        )
        cause = Cause(
            kind="env-state",
            name=parts[1],
            why=f"{parts[1]} in the folder stands before the module {top} that is meant",
        )
        world = with_files(situation.world, FileChanges(remove=(target,)))
        yield Hypothesis("remove what shadows", world, cause, 0.95 if named else 0.6, _PROBE_SECONDS)


def _settings(situation: Situation) -> Iterator[Hypothesis]:
    libraries = {module.split(".")[0] for module in situation.contents.owners} | _INSTALLERS
    for path, text in situation.around.files.items():
        if not path.startswith("home/") or path in situation.world.files.remove or text.startswith("#!"):
            continue  # a program is no settings file
        words = re.findall(r"[a-z0-9_]+", path.lower())
        if not libraries & set(words):
            continue
        installer = bool(_INSTALLERS & set(words))
        if not situation.seen.built and not installer:
            continue
        name = path.rsplit("/", 1)[-1]
        weight = 0.5 if installer != situation.seen.built else 0.15
        weight = 0.7 if installer and situation.unmet else weight
        if not installer and _where_it_broke(situation) in words:
            weight = 0.6
        why = f"{path.removeprefix('home/')} in HOME takes part, and without it the probe passes"
        cause = Cause(kind="env-state", name=name, why=why)
        yield Hypothesis(
            "remove a settings file", with_files(situation.world, FileChanges(remove=(path,))), cause, weight, 2.5
        )
        yield from _keys(situation, path, text, cause, weight)


def _clean_home(situation: Situation) -> Iterator[Hypothesis]:
    """Propose to do without any settings in HOME."""
    paths = tuple(path for path in situation.around.files if path.startswith("home/"))
    if len(paths) > 1:
        cause = Cause(
            kind="env-state", name=paths[0].rsplit("/", 1)[-1], why="without the settings in HOME the probe passes"
        )
        world = with_files(situation.world, FileChanges(remove=paths))
        yield Hypothesis("a clean HOME", world, cause, 0.15, 4.0)


def _keys(situation: Situation, path: str, text: str, cause: Cause, most: float) -> Iterator[Hypothesis]:
    """Propose to take out each key of a settings file, so that the library's own default holds; no likelier than it."""
    for key in _keys_of(text):
        world = with_files(situation.world, FileChanges(edit=(Edit(path=path, key=key, value=None),)))
        why = f"{key} in {path.removeprefix('home/')} decides it"
        found = cause.model_copy(update={"why": why})
        weight = min(most, 0.5 if situation.reading.says(key) else 0.2)
        yield Hypothesis("take out a key", world, found, weight, 2.5)


def _keys_of(text: str) -> tuple[str, ...]:
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            return ()
        return tuple(data) if isinstance(data, dict) else ()
    section, found = "", []
    for line in text.splitlines():
        head = re.fullmatch(r"\s*\[(.+)\]\s*", line)
        entry = re.match(r"\s*([\w.-]+)\s*=", line)
        if head:
            section = head[1]
        elif entry:
            found.append(f"{section}.{entry[1]}" if section else entry[1])
    return tuple(found)
