"""Interpreters and libraries of different architectures, and processors that lack an instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.diagnose.records.record import Judgement, Record
from envmgr.model.finding import Cause, Fix, HostAdvice
from envmgr.model.outcome import Phase

_WRONG = re.compile(
    r"wrong architecture|incompatible architecture|wrong ELF class|is not a valid Win32 application|Exec format error"
    r"|no suitable image found|Bad CPU type",
    re.IGNORECASE,
)
_HAVE = re.compile(r"\(have '([\w,]+)', need '(\w+)'\)")
_ILLEGAL = re.compile(r"illegal instruction|SIGILL|signal 4\b|exit code:? 132|0xC000001D", re.IGNORECASE)
_FEATURE = re.compile(r"\b(AVX512[A-Z]*|AVX2|AVX|FMA|SSE4[._]?[12]?)\b")
_NEWEST_FIRST = ("avx512f", "avx2", "fma", "avx", "sse4_2", "sse4_1")


def judge(record: Record) -> Iterator[Judgement]:
    """Accuse the interpreter's architecture, a library's, or the processor."""
    wrong = _WRONG.search(record.text)
    if wrong:
        yield _wrong_architecture(record, wrong[0])
    if _ILLEGAL.search(record.text):
        yield _illegal_instruction(record)


def native_python(record: Record) -> Fix:
    """Return the fix that takes an interpreter of the machine's own architecture."""
    system = {"Darwin": "macos", "Linux": "linux", "Windows": "windows"}.get(record.facts.system or "", "macos")
    arch = {"arm64": "aarch64"}.get(record.native_arch, record.native_arch)
    return Fix(
        python=f"cpython-{record.python_minor or '3.11'}-{system}-{arch}",
        program=(
            f"make the environment again with a native {record.native_arch} Python; nothing of "
            "the old one can be reused"
        ),
    )


def translated_facts(record: Record) -> tuple[str, ...]:
    """Return the facts that show a translated interpreter."""
    return (f"the machine is {record.native_arch}; the interpreter is {record.arch} and runs translated (Rosetta)",)


def _wrong_architecture(record: Record, quoted: str) -> Judgement:
    have = _HAVE.search(record.text)
    if record.translated:
        why = (
            f"the interpreter is an {record.arch} (Intel) one that runs translated through Rosetta "
            f"on an {record.native_arch} machine, "
            f"and what lies in site-packages is for {record.native_arch} ({quoted})"
        )
        cause = Cause(kind="python", name=record.arch, why=why)
        return Judgement(cause, 0.95, Phase.IMPORT, native_python(record), facts=translated_facts(record))
    other = have[1] if have else ("x86_64" if record.arch == "arm64" else "arm64")
    paths = re.findall(r"[^\s'\"(]+(?:site|dist)-packages[^\s'\"():,]+", record.text)
    name = record.owner(*paths) or record.main
    kind = "Intel (x86_64)" if other == "x86_64" else other
    why = f"the interpreter is native ({record.arch}); the {name} that is installed is the {kind} build of it"
    fix = Fix(
        program=(
            f"make a new environment with this {record.arch} Python and install {name} again; "
            "reuse nothing of the old one"
        )
    )
    return Judgement(
        Cause(kind="package", name=name, why=why),
        0.9,
        Phase.IMPORT,
        fix,
        facts=(f"machine and interpreter are {record.arch}",),
    )


def _illegal_instruction(record: Record) -> Judgement:
    """A processor that lacks what a wheel was compiled for."""
    features = record.facts.cpu_features
    named = [found.lower().replace(".", "_") for found in _FEATURE.findall(record.text)]
    name = record.main
    if features is None:
        why = (
            f"{name} uses an instruction that this processor does not have (AVX, most often); its "
            "features are not known"
        )
        return Judgement(Cause(kind="hardware", name="cpu-features", why=why), 0.7, Phase.IMPORT)
    lacking = [
        feature for feature in (*named, *reversed(_NEWEST_FIRST)) if feature not in features and feature != "avx512f"
    ]
    if not lacking:
        why = (
            f"{name} stops with an illegal instruction although the processor has "
            f"{', '.join(features)}: its build is at fault"
        )
        return Judgement(Cause(kind="package", name=name, why=why), 0.7, Phase.IMPORT)
    feature = lacking[0].upper()
    why = f"the wheel of {name} is compiled for {feature}, which this processor lacks"
    advice = HostAdvice(need="hardware", name=f"a processor with {feature}")
    fix = Fix(host=(advice,), program=f"take a build of {name} without {feature}, or a library that has one")
    facts = (f"cpu_features: {' '.join(features)}",)
    impossible = f"{feature}: this processor lacks it, and the wheel needs it"
    return Judgement(Cause(kind="hardware", name=lacking[0], why=why), 0.9, Phase.IMPORT, fix, impossible, facts)
