"""environment.yml of conda."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, python_range, settle
from envmgr.manifest.adopt.requirements import read_requirements

_SPELT = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "opencv": "opencv-python",
    "py-opencv": "opencv-python",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "pytables": "tables",
    "python-graphviz": "graphviz",
    "dask-core": "dask",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-mkl": "tensorflow",
    "py-xgboost": "xgboost",
    "ruamel_yaml": "ruamel.yaml",
}
"""Distributions that have another name on package indexes than on conda's channels."""

_NOT_PYTHON = re.compile(
    r"(cuda|cudnn|cudatoolkit|nccl|mkl|blas|libblas|liblapack|openblas|libgcc|libstdcxx|_libgcc_mutex|_openmp_mutex|"
    r"gcc|gxx|clang|compilers|cxx-compiler|c-compiler|cmake|make|ninja|git|ffmpeg|nodejs|openssl|zlib|xz|sqlite|tk|"
    r"readline|ncurses|ca-certificates|libffi|bzip2|ld_impl|llvm-openmp|pytorch-mutex|pytorch-cuda|r|numpy-base|nomkl|"
    r"python_abi)"
    r"([-_.].*)?"
)
_MATCH = re.compile(
    r"(?:(?P<channel>[\w./-]+)::)?(?P<name>[\w.-]+)\s*(?P<version>[=<>!~][^\s\[]*|\s+[\d*][^\s\[]*)?"
    r"(?:\s[^\[]*)?(?P<told>\[.*\])?"
)
_BUILD = re.compile(r"[^=\s]+={1,2}[^=\s]+=(?P<build>[\w.]+)")
_TOLD_VERSION = re.compile(r"\bversion\s*=\s*['\"]?([^'\"\]]+)")


def read_environment(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the draft of a conda environment; what no package index has (CUDA, compilers) is told in notes."""
    data = _load(text)
    pythons: list[str] = []
    texts: list[str] = []
    notes: list[str] = []
    constraints: tuple[str, ...] = ()
    for entry in data.get("dependencies") or ():
        if isinstance(entry, dict):
            inner, *_ = read_requirements("\n".join(map(str, entry.get("pip") or ())), others)
            texts += inner.requirements
            constraints += inner.constraints
            notes += inner.notes
            continue
        texts += asked_of_an_index(str(entry), pythons, notes)
    kept, unusable = settle(texts)
    variables = {str(name): str(value) for name, value in (data.get("variables") or {}).items()}
    return (
        Draft(
            kept,
            name=_name(data),
            python=python_of_conda(pythons, notes),
            constraints=constraints,
            variables=variables,
            notes=(*notes, *unusable, *channels_left(data)),
        ),
    )


def asked_of_an_index(entry: str, pythons: list[str], notes: list[str]) -> Iterator[str]:
    """Yield what a match specification of conda asks a package index for, if that is anything.

    What it says of Python goes to `pythons`, and what no index has to `notes`.
    """
    asked = asked_of_conda(entry)
    if asked is None:
        notes.append(f"left out: {entry}")
        return
    name, version = asked
    if name == "python":
        pythons.append(version)
    elif name != "pip" and (_NOT_PYTHON.fullmatch(name) or _is_library(entry)):
        notes.append(f"left out: {name} is no distribution of a package index (a library or tool of the system)")
    elif name != "pip":
        if "|" in entry:
            notes.append(f"of the alternatives in {entry} the last is taken")
        yield f"{_SPELT.get(name, name)}{version}"


def python_of_conda(pythons: Iterable[str], notes: list[str]) -> str:
    """Return the Pythons that all of some specifiers admit; where one names a patch, any of its minor version."""
    return _any_patch(python_range(",".join(filter(None, pythons)) or ANY_PYTHON), notes)


def asked_of_conda(text: str) -> tuple[str, str] | None:
    """Return the name and the specifier that a match specification of conda means; None for one that is none.

    >>> asked_of_conda("conda-forge::NumPy=1.21"), asked_of_conda("h5py[version='>=3,<4']")
    (('numpy', '==1.21.*'), ('h5py', '>=3,<4'))
    """
    found = _MATCH.fullmatch(text.strip())
    if found is None:
        return None
    told = _TOLD_VERSION.search(found["told"] or "")
    return found["name"].lower(), _specifier(told[1] if told else found["version"] or "")


def _is_library(entry: str) -> bool:
    """Tell whether conda's build of it is for no Python: such builds have no `py` in their names.

    >>> _is_library("zstd=1.5.5=hc292b87_0"), _is_library("numpy=1.24.3=py310h5f9d8c6_1"), _is_library("numpy=1.24")
    (True, False, False)
    """
    found = _BUILD.fullmatch(entry.rpartition("::")[2].strip())
    return found is not None and "py" not in found["build"]


def _any_patch(python: str, notes: list[str]) -> str:
    """Return the minor version of a Python that an export names to its last digit."""
    found = re.fullmatch(r"==(3\.\d+)\.\d+", python)
    if found is None:
        return python
    notes.append(f"Python {python[2:]} is named: any {found[1]} is taken")
    return f"=={found[1]}.*"


def _load(text: str) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that there is not is a ValueError
        raise UsageError("the environment is no YAML", str(error), "mend it first") from None
    if not isinstance(data, dict):
        raise UsageError("the environment holds no table", "wanted name, channels, dependencies", "conda env export")
    _demand_lists(data)
    variables = data.get("variables") or {}
    if not isinstance(variables, dict):
        found = f"wanted NAME: VALUE in lines; found {str(variables)[:80]!r}"
        raise UsageError("the environment's variables are no table", found, "conda env export")
    return data


def _demand_lists(data: dict[str, Any]) -> None:
    dependencies = data.get("dependencies") or []
    tables = [each for each in dependencies if isinstance(each, dict)] if isinstance(dependencies, list) else []
    for lines in (dependencies, *(each.get("pip") or [] for each in tables)):
        if not isinstance(lines, list) or not all(isinstance(each, str | dict | int | float) for each in lines):
            wanted = f"wanted a list of them, and of those of pip; found {str(lines)[:80]!r}"
            raise UsageError("the environment's dependencies are no list", wanted, "conda env export")


def _specifier(text: str) -> str:
    """Return conda's way to ask for versions as PEP 440; a build string is left out.

    >>> _specifier("=1.19"), _specifier("==1.19.2"), _specifier("=1.19.2=py38h54aff64_0"), _specifier(">=2,<3")
    ('==1.19.*', '==1.19.2', '==1.19.2', '>=2,<3')
    >>> _specifier("3.8.*"), _specifier("*"), _specifier(">=1.16|<2")
    ('==3.8.*', '', '<2')
    """
    bare = text.rpartition("|")[2].strip()
    if bare in {"", "*"}:
        return ""
    if bare.startswith("=") and not bare.startswith("=="):
        version, _, build = bare[1:].partition("=")
        return f"=={version}" if build or version.endswith("*") else f"=={version}.*"
    if bare.startswith("=="):
        return f"=={bare[2:].partition('=')[0]}"
    return f"=={bare}" if bare[0].isdigit() else bare


def _name(data: dict[str, Any]) -> str:
    name = str(data.get("name") or "")
    return "" if name == "base" else name


def channels_left(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note on channels that are named; the usual ones need none."""
    told = data.get("channels") or []
    named = map(str, told if isinstance(told, list) else [told])
    channels = [each for each in named if each not in {"defaults", "conda-forge"}]
    if not channels:
        return ()
    return (f"the channels {', '.join(channels)} are not taken over: versions come from package indexes",)
