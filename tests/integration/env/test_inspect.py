"""What is really in an env: told by its own interpreter, back to old Pythons and old installers."""

import shutil
from pathlib import Path

import pytest

from envmgr.env.build import build
from envmgr.env.compare import compare_records, compare_with_interpreter
from envmgr.env.inspect import inspect
from envmgr.errors import BuildError
from envmgr.model.platform import Platform

pytestmark = pytest.mark.integration


@pytest.fixture
def built(wheelhouse, tools, ask, each_interpreter):
    lines = (
        wheelhouse.wheel("alpha", "1.0", requires=["beta>=2 ; python_version >= '3.0'"]),
        wheelhouse.wheel("beta", "2.0"),
    )
    return build(ask(*lines, python=each_interpreter), tools)


def site_packages(env):
    return next(Path(env.path).glob("[Ll]ib/**/site-packages"))


def look(env, tools, **options):
    return inspect(Path(env.python), tools.process, tools.files, **options)


def test_distributions_with_what_they_say_of_themselves(built, tools):
    found = look(built, tools)
    assert found.resolved == {"alpha": "1.0", "beta": "2.0"}
    alpha = found.distributions[0]
    assert (alpha.installer, alpha.tags) == ("uv", ("py3-none-any",))
    assert alpha.requires == ("beta>=2 ; python_version >= '3.0'",)
    assert found.version == built.interpreter.version
    platform = Platform(f"{built.interpreter.system}-{built.interpreter.arch}")
    assert all(check.passed for check in compare_with_interpreter(found, built.interpreter, platform))


def test_a_clean_env_has_clean_records(built, tools):
    records = look(built, tools, deep=True).records
    assert records.checked > 0
    assert all(check.passed for check in compare_records(records, deep=True))


def test_changed_missing_and_unowned_files(built, tools):
    folder = site_packages(built)
    (folder / "alpha.py").write_text("version = 'other'\n")
    (folder / "beta.py").unlink()
    (folder / "stray.py").write_text("")
    shallow = look(built, tools).records
    assert (len(shallow.missing), shallow.changed, shallow.extra) == (1, (), ())
    deep = look(built, tools, deep=True).records
    assert [Path(each.path).name for each in deep.changed] == ["alpha.py"]
    assert [(each.distribution, Path(each.path).name) for each in deep.missing] == [("beta", "beta.py")]
    assert [Path(path).name for path in deep.extra] == ["stray.py"]


def test_a_recorded_file_that_is_a_link_counts_as_what_it_leads_to(built, tools):
    folder = site_packages(built)
    (folder / "alpha.py").rename(folder / "moved.py")
    (folder / "alpha.py").symlink_to("moved.py")
    (folder / "beta.py").unlink()
    (folder / "beta.py").symlink_to("nowhere.py")
    assert [Path(each.path).name for each in look(built, tools).records.missing] == ["beta.py"]


def test_two_owners_of_one_file(wheelhouse, tools, ask):
    lines = (
        wheelhouse.wheel("alpha", "1.0", files={"shared.py": "owner = 'alpha'\n", "same.py": ""}),
        wheelhouse.wheel("beta", "1.0", files={"shared.py": "owner = 'beta'\n", "same.py": ""}),
    )
    records = look(build(ask(*lines), tools), tools, deep=True).records
    assert [(Path(each.path).name, each.owners) for each in records.shared] == [("shared.py", ("alpha", "beta"))]


def test_metadata_of_old_installers(built, tools):
    folder = site_packages(built)
    egg = folder / "Old_Style-0.9-py3.6.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Metadata-Version: 1.1\nName: Old-Style\nVersion: 0.9\n")
    (egg / "requires.txt").write_text("numpy>=1.9\n\n[fast:python_version < '4']\ncython\n")
    (folder / "single-1.2.egg-info").write_text("Metadata-Version: 1.0\nName: single\nVersion: 1.2\n")
    zipped = folder / "eggy-3.0-py3.6.egg" / "EGG-INFO"
    zipped.mkdir(parents=True)
    (zipped / "PKG-INFO").write_text("Metadata-Version: 1.1\nName: eggy\nVersion: 3.0\n")
    (folder / "broken-1.0.dist-info").mkdir()
    found = look(built, tools)
    assert {"old-style": "0.9", "single": "1.2", "eggy": "3.0"}.items() <= found.resolved.items()
    old = next(each for each in found.distributions if each.name == "Old-Style")
    assert old.requires == ("numpy>=1.9", "cython ; extra == \"fast\" and (python_version < '4')")
    assert [Path(path).name for path in found.damaged] == ["broken-1.0.dist-info"]


def test_an_interpreter_that_cannot_tell_is_an_error(built, tools):
    shutil.rmtree(Path(built.python).parent)
    with pytest.raises(BuildError) as caught:
        look(built, tools)
    assert caught.value.phase == "verify"
