"""Asked, locked, installed: each difference is one failing check."""

import pytest

from envmgr.env.compare import (
    compare_records,
    compare_with_asked,
    compare_with_interpreter,
    compare_with_lock,
    compare_with_machine,
    compare_with_requirements,
    fits,
)
from envmgr.env.inspect import Inspection, OwnedFile, Records, SharedFile
from envmgr.model.env import InstalledDistribution
from envmgr.model.host import Interpreter
from envmgr.model.lock import LockedDistribution
from envmgr.model.platform import Platform

PYTHON = Interpreter(executable="/p/3.8/bin/python", version="3.8.18", arch="x86_64", system="linux")
HASH = ("sha256:" + "0" * 64,)


def inspection(*distributions, **facts):
    given = {
        "prefix": "/envs/a",
        "base_prefix": "/p/3.8",
        "version": "3.8.18",
        "machine": "x86_64",
        "platform": "linux-x86_64",
        "markers": {"python_version": "3.8", "sys_platform": "linux", "platform_machine": "x86_64"},
        "import_path": ("/p/3.8/lib/python3.8", "/envs/a/lib/python3.8/site-packages"),
        "records": Records(),
    } | facts
    return Inspection(distributions=distributions, **given)


def distribution(name, version="1.0", **facts):
    return InstalledDistribution(name=name, version=version, **facts)


def locked(name, version="1.0", marker=None):
    return LockedDistribution(name=name, version=version, hashes=HASH, marker=marker)


def failures(checks):
    return [(check.subject, check.wanted, check.found) for check in checks if not check.passed]


def test_an_env_as_locked_passes_under_any_spelling():
    checks = compare_with_lock([locked("plaidml-keras")], inspection(distribution("plaidml_keras")))
    assert [check.passed for check in checks] == [True]


def test_missing_extra_and_other_versions_are_told_apart():
    found = inspection(distribution("numpy", "1.24.4"), distribution("stray", "2"))
    checks = compare_with_lock([locked("numpy", "1.21.6"), locked("six")], found)
    assert [(check.subject, check.found) for check in checks if not check.passed] == [
        ("numpy", "1.24.4"),
        ("six", "nothing"),
        ("stray", "2"),
    ]
    assert checks[0].wanted == "1.21.6"


def test_what_the_markers_leave_out_is_not_missing():
    only_windows = locked("colorama", marker="sys_platform == 'win32'")
    assert failures(compare_with_lock([only_windows, locked("six")], inspection(distribution("six")))) == []


def test_asked_requirements_are_checked_with_markers_and_pre_releases():
    found = inspection(distribution("torch", "2.9.0.dev20251101"), distribution("plaidml", "0.7.0"))
    asked = ["torch>=2.0", "plaidml==0.6.4", "absent", "colorama; sys_platform == 'win32'"]
    checks = compare_with_asked(asked, found)
    assert [(check.subject, check.passed, check.found) for check in checks] == [
        ("torch>=2.0", True, "2.9.0.dev20251101"),
        ("plaidml==0.6.4", False, "0.7.0"),
        ("absent", False, "nothing"),
    ]


def test_unmet_requirements_of_distributions_are_found_unless_overridden():
    keras = distribution("Keras", "2.2.4", requires=("numpy (>=1.9.1)", "h5py ; extra == 'visualize'", "bad spec ==="))
    found = inspection(keras, distribution("numpy", "1.8"))
    assert failures(compare_with_requirements(found)) == [("Keras 2.2.4", "numpy>=1.9.1", "1.8")]
    assert failures(compare_with_requirements(found, exempt=["NumPy"])) == []
    assert failures(compare_with_requirements(inspection(keras))) == [("Keras 2.2.4", "numpy>=1.9.1", "nothing")]


def test_a_foreign_folder_on_the_import_path_is_told():
    leaking = inspection(
        import_path=("/envs/a/lib/python3.8/site-packages", "/home/me/.local/lib/python3.8/site-packages")
    )
    wrong = failures(compare_with_interpreter(leaking, PYTHON, Platform.LINUX_X86_64))
    assert wrong == [
        ("sys.path", "the environment and its standard library", "/home/me/.local/lib/python3.8/site-packages")
    ]
    system = inspection(import_path=("/p/3.8/lib/python3.8/site-packages",))
    assert len(failures(compare_with_interpreter(system, PYTHON, Platform.LINUX_X86_64))) == 1
    assert failures(compare_with_interpreter(inspection(), PYTHON, Platform.LINUX_X86_64)) == []


def test_a_replaced_interpreter_and_a_wheel_for_another_machine_are_told():
    found = inspection(distribution("torch", "2.2.2", tags=("cp38-none-macosx_11_0_arm64",)), version="3.8.19")
    wrong = failures(compare_with_interpreter(found, PYTHON, Platform.LINUX_X86_64))
    assert [subject for subject, _, _ in wrong] == ["/p/3.8/bin/python", "torch 2.2.2"]


@pytest.mark.parametrize(
    ("tag", "minor", "platform", "good"),
    [
        ("py3-none-any", "3.12", Platform.WINDOWS_X86_64, True),
        ("py2.py3-none-manylinux1_x86_64", "3.8", Platform.LINUX_X86_64, True),
        ("cp38-cp38-manylinux_2_17_x86_64", "3.8", Platform.LINUX_X86_64, True),
        ("cp38-cp38-manylinux_2_17_x86_64", "3.9", Platform.LINUX_X86_64, False),
        ("cp36-abi3-manylinux2014_x86_64", "3.9", Platform.LINUX_X86_64, True),
        ("cp310-abi3-manylinux2014_x86_64", "3.9", Platform.LINUX_X86_64, False),
        ("py37-none-any", "3.9", Platform.LINUX_X86_64, True),
        ("cp311-cp311-macosx_10_9_universal2", "3.11", Platform.MACOS_ARM64, True),
        ("cp311-cp311-macosx_10_9_universal2", "3.11", Platform.MACOS_X86_64, True),
        ("cp311-cp311-macosx_11_0_arm64", "3.11", Platform.MACOS_X86_64, False),
        ("cp311-cp311-manylinux_2_17_aarch64", "3.11", Platform.LINUX_X86_64, False),
        ("cp311-cp311-win_amd64", "3.11", Platform.WINDOWS_X86_64, True),
        ("py2-none-any", "3.8", Platform.LINUX_X86_64, False),
    ],
)
def test_wheel_tags_against_interpreter_and_platform(tag, minor, platform, good):
    assert fits(distribution("a", tags=(tag,)), minor, platform) is good


def test_a_translated_python_is_amiss_only_where_a_native_one_could_serve():
    native = PYTHON.model_copy(update={"arch": "arm64", "system": "macos"})
    translated = native.model_copy(update={"arch": "x86_64", "translated": True})
    assert compare_with_machine(native, "arm64", native_serves=True).passed
    assert compare_with_machine(translated, "arm64", native_serves=False).passed
    amiss = compare_with_machine(translated, "arm64", native_serves=True)
    assert (amiss.passed, amiss.found) == (False, "x86_64, translated")


def test_one_fitting_tag_of_several_is_enough():
    both = distribution("a", tags=("cp38-cp38-win_amd64", "py3-none-any"))
    assert fits(both, "3.8", Platform.LINUX_X86_64)


def test_files_are_told_and_a_flood_is_cut():
    records = Records(
        checked=9,
        missing=(OwnedFile(distribution="a", path="/envs/a/x.py"),),
        changed=(OwnedFile(distribution="a", path="/envs/a/y.py"),),
        extra=("/envs/a/z.py",),
        shared=(SharedFile(path="/envs/a/s.py", owners=("a", "b")),),
    )
    checks = compare_records(records, deep=True)
    assert [(check.name, check.found) for check in checks] == [
        ("file", "missing"),
        ("file", "changed"),
        ("file", "a file of none"),
        ("owner", "a and b"),
    ]
    flood = compare_records(Records(extra=tuple(f"/envs/a/{number}" for number in range(50))), deep=True)
    assert (len(flood), flood[-1].subject) == (21, "30 more")
    assert [check.passed for check in compare_records(Records(checked=3), deep=True)] == [True]
