"""Shared libraries: one that is absent, that comes from the wrong place, that lacks a symbol, that is there twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.diagnose.records.record import Judgement, Record, older
from envmgr.model.finding import Cause, Fix, HostAdvice, Variables
from envmgr.model.outcome import Phase

_ABSENT = re.compile(r"(lib[\w+.-]+?\.so[\d.]*): cannot open shared object file")
_NOT_LOADED = re.compile(r"Could not load dynamic library '([^']+)'")
_LOADS = re.compile(r"CDLL\(['\"](lib[\w+.-]+)['\"]\)[^\n]*\n\s*loads")
_MAC_ABSENT = re.compile(
    r"(?:dlopen\(|Library not loaded: )([^\s,()]+\.(?:dylib|so))[^\n]*(?:image not found|no such "
    r"file|Library not loaded)",
    re.IGNORECASE,
)
_USER_SCHEME = re.compile(r"[/\\](?:Library/Python/[\d.]+|\.local|AppData[/\\]Roaming[/\\]Python)[/\\]", re.IGNORECASE)
_WINDOWS = re.compile(r"WinError 126|DLL load failed", re.IGNORECASE)
_SYMBOL = re.compile(
    r"undefined symbol: (\S+?)(?:, version (\S+))?(?=\s|$)|Symbol not found: \(?_?(\w+)\)?", re.MULTILINE
)
_LIBC = re.compile(r"version [`'](GLIBC(?:XX)?|CXXABI)_([\d.]+)'? not found")
_OPENMP = re.compile(r"OMP: Error #15|multiple copies of the OpenMP runtime", re.IGNORECASE)
_CUDA = re.compile(
    r"^lib(?:cud(?:art|nn)|cublas|cufft|curand|cusolver|cusparse|nvrtc|nccl|nvJitLink|cupti)", re.IGNORECASE
)
_DRIVER = re.compile(r"^lib(?:cuda|nvidia-ml)\.so", re.IGNORECASE)


def judge(record: Record) -> Iterator[Judgement]:
    """Accuse a library, the folder it comes from, or the distribution that brings it."""
    yield from _absent(record)
    yield from _user_scheme(record)
    yield from _windows(record)
    yield from _symbols(record)
    yield from _libc(record)
    if _OPENMP.search(record.text):
        yield _two_runtimes(record)


def _absent(record: Record) -> Iterator[Judgement]:
    loads = set(_LOADS.findall(record.text))
    found = [*_ABSENT.findall(record.text), *_NOT_LOADED.findall(record.text)]
    absent = [name for name in dict.fromkeys(found) if name not in loads]
    for at, name in enumerate(absent):
        versioned = [other for other in loads if other.startswith(name + ".")]
        weight = 0.85 - 0.02 * at
        if versioned:
            why = f"{name} is not there under its unversioned name, only {versioned[0]}; the program opens {name}"
            how = {"debian": f"the -dev package of {_stem(name)}, or a link {name} in a folder on LD_LIBRARY_PATH"}
        elif _DRIVER.match(name):
            yield _driver(record, name)
            continue
        elif _CUDA.match(name):
            why = f"{name} of the CUDA libraries that this build needs is not on the loader's path"
            wheels = f"{_extra(record)} brings them as nvidia-... wheels"
            how = {"debian": f"{wheels}; then their folders belong on LD_LIBRARY_PATH"}
        else:
            why = f"the shared library {name} is not there"
            how = {"debian": f"the package that brings {name}"}
        advice = HostAdvice(need="library", name=name, how=how)
        program = next(iter(how.values()))
        yield Judgement(
            Cause(kind="missing", name=name, why=why), weight, Phase.BACKEND, Fix(host=(advice,), program=program)
        )


def _stem(name: str) -> str:
    return re.sub(r"^lib|\.so.*$", "", name)


def _extra(record: Record) -> str:
    return "tensorflow[and-cuda]" if "tensorflow" in record.names else f"the CUDA build of {record.main}"


def _driver(record: Record, name: str) -> Judgement:
    none = record.facts.gpus == () or "nvidia" not in record.facts.drivers
    why = f"{name} comes with NVIDIA's driver, and there is none here"
    advice = HostAdvice(need="driver", name="nvidia")
    kind = Cause(kind="hardware", name="nvidia-driver", why=why) if none else Cause(kind="missing", name=name, why=why)
    return Judgement(kind, 0.85, Phase.BACKEND, Fix(host=(advice,)), impossible=why)


def _user_scheme(record: Record) -> Iterator[Judgement]:
    """A library that is looked for below the interpreter's prefix and lies in the user scheme."""
    absent = _MAC_ABSENT.search(record.text)
    if not absent:
        return
    path = absent[1]
    filename = re.split(r"[/\\]", path)[-1]
    elsewhere = [found for found in re.findall(rf"[^\s'\"()]+{re.escape(filename)}", record.text) if found != path]
    in_user = any(_USER_SCHEME.search(frame.file) for frame in record.reading.frames)
    if in_user or any(_USER_SCHEME.search(found) for found in elsewhere):
        there = next((found for found in elsewhere if _USER_SCHEME.search(found)), "the user scheme's lib folder")
        why = f"{filename} is looked for at {path}; a user install (pip install --user) put it at {there}"
        name = next((n.upper().replace("-", "_") for n in record.names if n in filename), "")
        hint = f", or name the file with {name}_NATIVE_PATH" if name else ""
        fix = Fix(program=f"install in a clean virtual environment (venv){hint}")
        yield Judgement(Cause(kind="env-state", name="user-site", why=why), 0.92, Phase.BACKEND, fix)
        return
    yield Judgement(Cause(kind="missing", name=filename, why=f"{filename} is not at {path}"), 0.6, Phase.IMPORT)


def _windows(record: Record) -> Iterator[Judgement]:
    """A DLL that does not load: it is there, and one that it depends on is not."""
    if not _WINDOWS.search(record.text):
        return
    sought = re.findall(r"where ((?:[\w.-]+\.dll\s*)+)", record.text, re.IGNORECASE)
    lacking = [name for line in sought for name in line.split()] if "Could not find files" in record.text else []
    name = lacking[0] if lacking else "vcruntime140.dll"
    versions = ", ".join(f"{key} {value}" for key, value in record.facts.installed.items())
    asked = ", ".join(record.requirements)
    why = (
        "a DLL is there and does not load: one that it depends on is missing "
        f"({', '.join(lacking) or name}), the Visual C++ "
        f"runtime; installed is {versions or 'unknown'}, asked for was {asked}"
    )
    how = {"windows": "Microsoft Visual C++ Redistributable"}
    program = f"install the runtime, or pin what was asked for together ({asked}) so that one release's DLL is used"
    advice = HostAdvice(need="library", name=name, how=how)
    yield Judgement(
        Cause(kind="missing", name=name, why=why), 0.85, Phase.BACKEND, Fix(host=(advice,), program=program)
    )


def _symbols(record: Record) -> Iterator[Judgement]:
    match = _SYMBOL.search(record.text)
    if not match:
        return
    symbol, library = match[1] or match[3], match[2] or ""
    folder = record.env.get("LD_LIBRARY_PATH") or record.env.get("DYLD_LIBRARY_PATH")
    path = re.search(
        r"([^\s'\"(:]+\.(?:so[\d.]*|dylib|pyd))[:,'\s][^\n]*(?:undefined symbol|Symbol not found)", record.text
    )
    owner = record.owner(path[1] if path else "") or record.main
    if folder and library:
        variable = "LD_LIBRARY_PATH" if record.env.get("LD_LIBRARY_PATH") else "DYLD_LIBRARY_PATH"
        why = f"{variable}={folder} puts another {library} before the environment's own; it lacks {symbol}"
        fix = Fix(env=Variables(unset=(variable,)))
        yield Judgement(
            Cause(kind="env-state", name=variable, why=why), 0.93, Phase.IMPORT, fix, facts=(f"{variable}={folder}",)
        )
        return
    if library:
        stem = re.sub(r"^lib|\.so.*$", "", library).lower()
        near = [name for name in record.names if stem.replace("_", "") in name.replace("-", "")]
        owner = near[0] if near else owner
    where = re.search(r"Expected in: '?([^'\n]+)", record.text)
    other = record.owner(where[1]) if where else ""
    pair = ", ".join(record.told(name) for name in dict.fromkeys((owner, other, *record.names)) if name)
    why = (
        f"{owner} was built against another minor version of the library that it loads into: "
        f"{symbol} is not there ({pair})"
    )
    fix = Fix(
        program=(
            f"install the pair that belongs together: {owner} of the release that was built for "
            "what is here, or the other way round"
        )
    )
    yield Judgement(Cause(kind="package", name=owner, why=why), 0.85, Phase.IMPORT, fix)


def _libc(record: Record) -> Iterator[Judgement]:
    for name, wanted in _LIBC.findall(record.text):
        libc = record.facts.libc
        folder = record.env.get("LD_LIBRARY_PATH", "")
        if name == "GLIBC" and (not libc.version or older(libc.version, wanted)):
            why = f"it needs glibc {wanted}; this system has {libc.version or 'an older one'}"
            advice = HostAdvice(need="os", name="glibc", minimum=wanted)
            program = f"a newer system, or a release with a manylinux wheel for glibc {libc.version or 'this old'}"
            fix = Fix(host=(advice,), program=program)
            yield Judgement(
                Cause(kind="platform", name="glibc", why=why), 0.92, Phase.IMPORT, fix, facts=(f"glibc {libc.version}",)
            )
        elif folder:
            why = f"LD_LIBRARY_PATH={folder} puts a library with no {name}_{wanted} first"
            fix = Fix(env=Variables(unset=("LD_LIBRARY_PATH",)))
            yield Judgement(Cause(kind="env-state", name="LD_LIBRARY_PATH", why=why), 0.9, Phase.IMPORT, fix)
        else:
            library = "libstdc++.so.6" if name != "GLIBC" else "libc.so.6"
            why = f"{library} that is loaded has no {name}_{wanted}"
            advice = HostAdvice(need="library", name=library)
            yield Judgement(Cause(kind="missing", name=library, why=why), 0.8, Phase.IMPORT, Fix(host=(advice,)))


def _two_runtimes(record: Record) -> Judgement:
    copies = list(
        dict.fromkeys(re.findall(r"lib(?:i?omp5?|gomp|omp)[\w.]*\.(?:dylib|so[\d.]*)|libiomp5md\.dll", record.text))
    )
    why = (
        f"two copies of the OpenMP runtime are loaded ({', '.join(copies)}): one from conda or "
        "MKL, one from pip's wheel"
    )
    program = (
        "take both libraries from one source (all from pip, or nomkl from conda); KMP_DUPLICATE_LIB_OK only hides it"
    )
    return Judgement(Cause(kind="conflict", name="openmp", why=why), 0.9, Phase.IMPORT, Fix(program=program))
