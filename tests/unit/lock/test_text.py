from __future__ import annotations

import pytest

from envmgr.errors import LockError
from envmgr.lock.parse import parse
from envmgr.lock.render import build_constraints, render, requirements
from envmgr.model.lock import Lock

A, B, C, D = (f"sha256:{digit * 64}" for digit in "abcd")


def fails(text: str) -> LockError:
    with pytest.raises(LockError) as caught:
        parse(text, "locks/keras-old/py3.7-linux-x86_64.txt")
    return caught.value


def test_a_lock_is_written_as_text_and_read_back(lock: Lock, text: str) -> None:
    assert render(lock) == text
    assert parse(text, "x.txt") == lock
    assert parse(text.replace("\n", "\r\n"), "x.txt") == lock


def test_each_index_installs_its_own(lock: Lock) -> None:
    assert requirements(lock, "pytorch-cpu") == f"torch==2.13.0+cpu \\\n    --hash={C}\n"
    default = requirements(lock, None)
    assert "torch" not in default
    assert default.startswith(f"absl-py==0.7.1 \\\n    --hash={A}\nprotobuf==3.8.0 ; sys_platform == 'linux' \\\n")


def test_build_requirements_become_constraints(lock: Lock) -> None:
    assert build_constraints(lock) == f"setuptools==41.0.1 \\\n    --hash={C} \\\n    --hash={D}\n"
    assert build_constraints(lock.model_copy(update={"builds": ()})) == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        (f"    --hash={C}  # index pytorch-cpu\n", "", 17, "torch has no hash"),
        (f"torch==2.13.0+cpu \\\n    --hash={C}  # index pytorch-cpu", "torch==2.13.0+cpu", 17, "torch has no hash"),
        (f"    --hash={C}  # index", "    --hash=md5:0123  # index", 18, "bad hash of torch"),
        (f"    --hash={C}  # index", f"    --hash={C[:-1]}  # index", 18, "bad hash of torch"),
        (f"    --hash={C}  # index", f"    --hash={C.upper()}  # index", 18, "bad hash of torch"),
        ("protobuf==3.8.0", "absl-py==0.7.2", 14, "absl-py stands twice"),
        ("torch==2.13.0+cpu", "torch>=2", 17, "not a pin"),
        ("torch==2.13.0+cpu", "torch==new", 17, "not a version: 'new'"),
        ("sys_platform == 'linux'", "on_linux", 14, "not an environment marker: 'on_linux'"),
        ("# index pytorch-cpu\n", "# from pytorch-cpu\n", 18, "unknown note 'from pytorch-cpu' on torch"),
        ("# platform:", "# platfrom:", 4, "unknown key 'platfrom'"),
        ("# variant: py3.7\n", "", 9, "the head lacks variant"),
        ("# variant: py3.7\n", "# manifest: other\n", 3, "the key 'manifest' stands twice"),
        ("envmgr-lock: 1", "envmgr-lock: 2", 1, "this lock has another form"),
        ("# envmgr-lock: 1\n", "", 1, "this is not a lock of envmgr"),
        ("linux-x86_64", "linux-x86", 4, "unknown platform 'linux-x86'"),
        ("# python: 3.7", "# python: 3", 5, "bad python"),
        ("sha256:0", "sha256:", 6, "bad inputs"),
        ("2019-06-01", "June", 8, "bad exclude-newer"),
        (f"#     --hash={C} \\\n#     --hash={D}\n", "", 21, "setuptools has no hash"),
    ],
)
def test_damage_is_told_with_file_and_line(text: str, old: str, new: str, line: int, what: str) -> None:
    assert old in text
    error = fails(text.replace(old, new, 1))
    assert error.what == f"locks/keras-old/py3.7-linux-x86_64.txt:{line}: {what}"
    assert error.exit_code == 3


def test_the_hint_names_the_command(text: str) -> None:
    assert fails(text.replace("torch==2", "torch>=2")).hint == "Make it anew: envmgr lock keras-old"
    assert fails("").what.endswith(":1: the lock is empty")
