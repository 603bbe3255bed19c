"""What will be downloaded, from an index's own page."""

import json

from envmgr.env.sizes import download_size
from envmgr.model.platform import Platform


def page(*files):
    return json.dumps(
        {"files": [{"filename": name, "hashes": {"sha256": digest}, "size": size} for name, digest, size in files]}
    )


TORCH = page(
    ("torch-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl", "a", 900),
    ("torch-2.9.0-cp311-none-macosx_11_0_arm64.whl", "b", 70),
    ("torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl", "c", 901),
    ("torch-2.9.0.tar.gz", "d", 40),
)
ALL = {f"sha256:{letter}" for letter in "abcd"}


def test_the_fitting_wheel_counts():
    assert download_size(TORCH, ALL, "3.11", Platform.LINUX_X86_64) == 900
    assert download_size(TORCH, ALL, "3.11", Platform.MACOS_ARM64) == 70


def test_only_what_the_lock_admits_counts():
    assert download_size(TORCH, {"sha256:c"}, "3.11", Platform.LINUX_X86_64) is None
    assert download_size(TORCH, {"sha256:c", "sha256:d"}, "3.11", Platform.LINUX_X86_64) == 40


def test_an_index_that_tells_no_size_is_no_error():
    assert (
        download_size(
            json.dumps({"files": [{"filename": "a-1.tar.gz", "hashes": {"sha256": "a"}}]}),
            ALL,
            "3.11",
            Platform.LINUX_X86_64,
        )
        is None
    )
    assert download_size("<html>", ALL, "3.11", Platform.LINUX_X86_64) is None
    assert download_size("[]", ALL, "3.11", Platform.LINUX_X86_64) is None
