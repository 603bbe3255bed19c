from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from envmgr.lock.inputs import digest, staleness
from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.manifest import Expect, Index, Manifest, Target
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform

INDEX = Index(name="cpu", url="https://one.example/simple", packages=("torch",))
MANIFEST = Manifest(
    schema=1,
    name="x",
    python=">=3.8,<3.10",
    requirements=("numpy>=1.20,<2", "Torch[b,a]==2.13.0"),
    index=(INDEX,),
)


def target(platform: Platform = Platform.LINUX_X86_64, **changes: Any) -> Target:
    manifest = MANIFEST.model_copy(update=changes)
    return Target(manifest=manifest, variant="default", python=manifest.python, platform=platform)


def lock(**changes: Any) -> Lock:
    made = Lock(
        manifest="x",
        variant="default",
        platform=Platform.LINUX_X86_64,
        python="3.9",
        inputs=digest(target()),
        indexes=("cpu",),
        distributions=(
            LockedDistribution(name="numpy", version="1.26.4", hashes=(f"sha256:{'0' * 64}",)),
            LockedDistribution(name="torch", version="2.13.0+cpu", hashes=(f"sha256:{'1' * 64}",), index="cpu"),
        ),
    )
    return made.model_copy(update=changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"requirements": ("torch[a,b] == 2.13.0", "NumPy <2, >=1.20")},
        {"summary": "other"},
        {"runners": ("keras_inference",)},
        {"env": {"A": "1"}},
        {"device": "cpu"},
        {"expect": (Expect(outcome=Outcome.FAILED, reason="x"),)},
        {"platforms": (Platform.LINUX_X86_64,)},
        {"python": "<3.10, >=3.8"},
        {"index": (INDEX, INDEX.model_copy(update={"name": "mac", "platforms": (Platform.MACOS_ARM64,)}))},
    ],
)
def test_what_no_resolution_depends_on_leaves_the_digest_alone(changes: dict[str, Any]) -> None:
    assert digest(target(**changes)) == digest(target())
    assert staleness(lock(), target(**changes)) == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"requirements": ("numpy<1.26", "torch[a,b]==2.13.0")}, "x: it wants numpy<1.26, locked was 1.26.4"),
        ({"requirements": (*MANIFEST.requirements, "scipy")}, "x: it wants scipy, which the lock lacks"),
        ({"requirements": ("numpy>=1.21,<2", "torch==2.13.0")}, "x: something that it was resolved from has changed"),
        ({"python": ">=3.8,<3.9"}, "x: it wants Python >=3.8,<3.9, locked was 3.9"),
        ({"exclude_newer": date(2020, 1, 2)}, "x: exclude-newer is 2020-01-02, locked was no date"),
        ({"index": ()}, "x: the indexes are the default one, locked were cpu"),
        ({"index": (INDEX.model_copy(update={"url": "https://two.example"}),)}, "x: something that"),
        ({"allow_source": ("numpy",)}, "x: something that"),
        ({"overrides": ("numpy<2",)}, "x: something that"),
        ({"build_constraints": ("setuptools<60",)}, "x: something that"),
        ({"build_requires": {"a": ("b",)}}, "x: something that"),
    ],
)
def test_what_a_resolution_depends_on_makes_the_lock_stale(changes: dict[str, Any], told: str) -> None:
    assert digest(target(**changes)) != digest(target())
    assert staleness(lock(), target(**changes)).startswith(told)


def test_a_lock_of_another_target_is_stale() -> None:
    told = staleness(lock(), target(platform=Platform.MACOS_ARM64))
    assert told == "x: the lock is for the platform linux-x86_64, wanted macos-arm64"
