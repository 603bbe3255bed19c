"""What can follow the words of a command line that is being typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple


class Offer(NamedTuple):
    """One word that fits, and what it is about."""

    word: str
    about: str = ""


def offers(words: Sequence[str], incomplete: str) -> list[Offer]:
    """Return what fits after these words (without the program's name) and begins like the word that is being typed.

    Whatever is amiss is told by the command itself, never by the shell's Tab.
    """
    import typer

    from envmgr.cli.application import application

    if "--" in words:
        return []
    try:
        command, rest = _descend(typer.main.get_command(application()), list(words))
        found = _of_group(command) if hasattr(command, "commands") else _of_command(command, rest, incomplete)
        if hasattr(command, "commands") and incomplete.startswith("-"):
            found = _options(command, {})
        return [offer for offer in found if offer.word.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a traceback would be written into the line that is being typed
        return []


def _descend(command: Any, words: list[str]) -> tuple[Any, list[str]]:
    """Return the innermost command that the words name, and the words after its name."""
    while words and hasattr(command, "commands"):
        word = words.pop(0)
        if not word.startswith("-"):
            command = command.commands[word]
    return command, words


def _of_group(group: Any) -> Iterator[Offer]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield Offer(name, command.get_short_help_str(limit=100))


def _of_command(command: Any, words: Sequence[str], incomplete: str) -> Iterator[Offer]:
    given, awaiting = _parse(command, words)
    context = command.context_class(command, info_name=command.name)
    context.params.update(given)
    name, equals, value = incomplete.partition("=")
    if awaiting is None and incomplete.startswith("-"):
        parameter = _option(command, name)
        if equals and parameter is not None:
            yield from (Offer(f"{name}={each.value}") for each in parameter.shell_complete(context, value))
        else:
            yield from _options(command, given)
        return
    parameter = awaiting or _argument(command, len(given.get("", ())))
    if parameter is not None:
        said = given.get(parameter.name, []) if parameter is not awaiting or parameter.multiple else []
        items = parameter.shell_complete(context, incomplete)
        yield from (Offer(item.value, item.help or "") for item in items if item.value not in said)


def _parse(command: Any, words: Sequence[str]) -> tuple[dict[str, list[str]], Any]:
    """Return the values that the words give each parameter, all arguments under "" too, and who awaits a value."""
    given: dict[str, list[str]] = {}
    awaiting = None
    for word in words:
        name, equals, value = word.partition("=")
        if awaiting is not None:
            given.setdefault(awaiting.name, []).append(word)
            awaiting = None
        elif len(word) > 1 and word.startswith("-"):
            parameter = _option(command, name)
            if parameter is not None and (equals or parameter.is_flag):
                given.setdefault(parameter.name, []).append(value)
            elif parameter is not None:
                awaiting = parameter
        else:
            parameter = _argument(command, len(given.get("", ())))
            given.setdefault("", []).append(word)
            if parameter is not None:
                given.setdefault(parameter.name, []).append(word)
    return given, awaiting


def _option(command: Any, name: str) -> Any:
    spelt = (each for each in command.params if each.param_type_name == "option")
    return next((each for each in spelt if name in (*each.opts, *each.secondary_opts)), None)


def _argument(command: Any, number: int) -> Any:
    """Return the argument that takes the word of that number; one that takes many takes all further ones."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    many = next((place for place, each in enumerate(arguments) if each.nargs == -1), len(arguments))
    place = min(number, many)
    return arguments[place] if place < len(arguments) else None


def _options(command: Any, given: dict[str, list[str]]) -> Iterator[Offer]:
    for option in command.params:
        if option.param_type_name == "option" and not option.hidden and (option.multiple or option.name not in given):
            yield from (Offer(word, option.help or "") for word in (*option.opts, *option.secondary_opts))
    yield Offer("--help", "Show this message and exit.")
