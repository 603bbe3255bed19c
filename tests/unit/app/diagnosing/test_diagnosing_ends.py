import pytest

from envmgr.app.diagnosing.ends import good_end
from envmgr.errors import UsageError
from envmgr.model.finding import World
from envmgr.model.host import HostFacts

BAD = World(python="3.11", requirements=("demo==2",))
HERE = HostFacts(name="box", system="linux", machine="x86_64")


def test_a_day_is_a_good_end_of_which_only_the_requirements_are_known(workplace):
    world, loose = good_end(workplace, "2026-01-31", BAD, HERE)
    assert (world.exclude_newer, world.requirements, loose) == ("2026-01-31", BAD.requirements, True)


def test_a_day_that_is_none_is_told(workplace):
    with pytest.raises(UsageError, match="2026-02-31 is no day"):
        good_end(workplace, "2026-02-31", BAD, HERE)


@pytest.mark.parametrize("library", ["lib/python3.11", "Lib"])
def test_an_environment_is_a_good_end_with_what_is_installed_in_it(workplace, tmp_path, library):
    site = tmp_path / "venv" / library / "site-packages"
    for name, version in (("demo", "1"), ("pip", "24")):
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("version_info = 3.11.99\n")
    world, loose = good_end(workplace, str(tmp_path / "venv"), BAD, HERE)
    assert (world.python, world.requirements, loose) == ("3.11", ("demo==1",), False)
