from __future__ import annotations

from datetime import date

import pytest

from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.platform import Platform

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")


@pytest.fixture
def lock() -> Lock:
    """A lock that uses every field."""
    return Lock(
        manifest="keras-old",
        variant="py3.7",
        platform=Platform.LINUX_X86_64,
        python="3.7",
        inputs=f"sha256:{'0' * 64}",
        indexes=("pytorch-cpu",),
        exclude_newer=date(2019, 6, 1),
        uv="0.13.9",
        minimum="glibc 2.28",
        distributions=(
            LockedDistribution(name="absl-py", version="0.7.1", hashes=(A,), source=True),
            LockedDistribution(name="protobuf", version="3.8.0", hashes=(A, B), marker="sys_platform == 'linux'"),
            LockedDistribution(name="torch", version="2.13.0+cpu", hashes=(C,), index="pytorch-cpu"),
        ),
        builds=(LockedDistribution(name="setuptools", version="41.0.1", hashes=(C, D)),),
    )


@pytest.fixture
def text() -> str:
    """The text of that lock."""
    return f"""\
# envmgr-lock: 1
# manifest: keras-old
# variant: py3.7
# platform: linux-x86_64
# python: 3.7
# inputs: sha256:{"0" * 64}
# indexes: pytorch-cpu
# exclude-newer: 2019-06-01
# minimum: glibc 2.28
# uv: 0.13.9

absl-py==0.7.1 \\
    --hash={A}  # source
protobuf==3.8.0 ; sys_platform == 'linux' \\
    --hash={A} \\
    --hash={B}
torch==2.13.0+cpu \\
    --hash={C}  # index pytorch-cpu

# build requirements, pinned and hashed:
# setuptools==41.0.1 \\
#     --hash={C} \\
#     --hash={D}
"""
