"""setup.cfg of setuptools."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, minor_of, python_of_many, python_range
from envmgr.manifest.adopt.requirements import read_requirements

_CLASSIFIER = re.compile(r"\s*Programming Language :: Python :: (3\.\d+)\s*")


def read_setup_config(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the draft of `install_requires`; extras are named in a note, not installed."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise UsageError("setup.cfg cannot be read", str(error), "mend it first") from None
    options = {
        key.replace("-", "_"): value for key, value in (parser["options"].items() if "options" in parser else ())
    }
    metadata = dict(parser["metadata"]) if "metadata" in parser else {}
    inner, *_ = read_requirements("\n".join(_listed(options.get("install_requires", ""))), others)
    extras = [*parser["options.extras_require"]] if "options.extras_require" in parser else []
    others_asked = [key for key in ("setup_requires", "tests_require") if options.get(key, "").strip()]
    name = metadata.get("name", "")
    return (
        replace(
            inner,
            name="" if ":" in name else name,
            python=python_of_setup(options.get("python_requires", ""), metadata.get("classifiers", "").splitlines()),
            notes=(*inner.notes, *extras_left(extras), *(f"not taken over: {key}" for key in others_asked)),
        ),
    )


def python_of_setup(specifier: str, classifiers: Iterable[str]) -> str:
    """Return the Pythons that setuptools is told of, else the span of those that a project's classifiers name.

    >>> python_of_setup(">=3.6.*, <4", []), python_of_setup("", ["Programming Language :: Python :: 3.7"])
    ('>=3.6,<4', '==3.7.*')
    """
    if specifier.strip():
        return python_range(re.sub(r"(>=|<=|>|<)\s*([\d.]+)\.\*", r"\1\2", specifier))
    named = [found[1] for found in map(_CLASSIFIER.fullmatch, classifiers) if found]
    return python_of_many([minor_of(each) for each in named])[0] if named else ANY_PYTHON


def extras_left(names: Iterable[str]) -> tuple[str, ...]:
    """Return the note on extras that are not installed."""
    listed = ", ".join(names)
    return (f"not taken over: the extras {listed}",) if listed else ()


def _listed(value: str) -> list[str]:
    """Return the lines of a list: one entry a line, or separated by `;` in a single one, or those of files."""
    bare = value.strip()
    if bare.startswith("file:"):
        return [f"-r {path.strip()}" for path in bare.removeprefix("file:").split(",")]
    return bare.splitlines() if "\n" in bare else bare.split(";")
