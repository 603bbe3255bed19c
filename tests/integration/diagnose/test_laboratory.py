"""What an experiment writes is seen by no other, and by no installer's cache; what is too large is not fetched."""

import hashlib
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.app.experiments.commands import Bench
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import take_snapshot
from envmgr.diagnose.observation import experiment_of
from envmgr.diagnose.releases import parse_page
from envmgr.model.finding import World
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.keeper import confines
from envmgr.system.process import RealProcess

from .conftest import PYTHON

pytestmark = pytest.mark.integration

VANDAL = (
    "import alpha, io\nassert alpha.value == 1, 'spoilt before'\n"
    "io.open(alpha.__file__, 'r+').write('value = 2')\nassert 0, 'spoilt now'\n"
)
CAREFUL_VANDAL = VANDAL.replace("io.open", "try:\n    io.open").replace(
    "\nassert 0", "\nexcept OSError:\n    pass\nassert 0"
)


@pytest.fixture
def laboratory(user, tmp_path):
    """Give laboratories with a probe, all in one room with one cache."""

    def made(probe, **more):
        environment, files = user.environment(), RealFiles(tmp_path / "scratch")
        user.rooms = getattr(user, "rooms", 0) + 1
        room = tmp_path / f"room{user.rooms}"
        snapshot = take_snapshot(files, user.home, user.folder, (), room / "snapshot")
        bench = Bench(
            environment=environment,
            given={},
            home=user.home,
            folder=user.folder,
            interpreters={PYTHON: Path(sys.executable)},
            probe=("-c", probe),
            **{"uv": Path(find_uv_bin()), "confines": confines(), **more},
        )
        return Laboratory(bench, RealProcess(environment), files, RealClock(), room, snapshot)

    return made


def cached(user):
    files = sorted(path for path in (user.root / "cache").rglob("*.py") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("probe", [VANDAL, CAREFUL_VANDAL], ids=["plain", "swallows what it is refused"])
@pytest.mark.parametrize("can_confine", [True, False])
def test_a_probe_that_writes_into_its_environment_spoils_neither_the_cache_nor_another(
    user, laboratory, probe, can_confine
):
    user.wheel("alpha", "1.0", "value = 1\n")
    user.wheel("beta", "1.0", "", requires=["alpha"])
    lab = laboratory(probe, confines=can_confine and confines())
    one, other = (World(python=PYTHON, requirements=(name,)) for name in ("alpha", "beta"))
    lab.observe(one)
    before = cached(user)
    assert before
    for world in (one, other, one):
        assert "spoilt now" in lab.observe(world).text
    assert "spoilt now" in lab.observe(one, in_place=True).text
    assert cached(user).items() >= before.items()


def test_files_are_shared_with_the_cache_only_where_a_probe_cannot_write_to_them(user, laboratory):
    user.wheel("alpha", "1.0", "value = 1\n")
    world = World(python=PYTHON, requirements=("alpha",))
    for can_confine in (True, False):
        lab = laboratory("import alpha", confines=can_confine)
        built = lab.observe(world).folder
        (module,) = built.rglob("alpha.py")
        assert (module.stat().st_nlink > 1) is can_confine


def test_a_confined_probe_writes_where_its_place_is_and_to_temporary_files(laboratory, user):
    user.wheel("alpha", "1.0", "")
    probe = (
        "import os, tempfile\nopen('here', 'w').close()\nopen(os.path.expanduser('~/there'), 'w').close()\n"
        "tempfile.TemporaryFile().close()\nopen('/dev/null', 'w').close()\n"
    )
    seen = laboratory(probe).observe(World(python=PYTHON, requirements=("alpha",)))
    assert seen.passed, seen.text
    assert not any(user.folder.iterdir())


def test_a_fresh_build_is_another_environment(user, laboratory):
    user.wheel("alpha", "1.0", "")
    lab = laboratory("import alpha")
    world = World(python=PYTHON, requirements=("alpha",))
    first, again, fresh = lab.observe(world), lab.observe(world), lab.observe(world, afresh=True)
    assert first.folder == again.folder != fresh.folder
    assert fresh.passed


def test_what_would_download_too_much_is_not_tried_and_says_so(user, laboratory):
    user.wheel("alpha", "1.0", "", requires=["heavy"])
    user.wheel("heavy", "1.0", "")
    page = '{"files": [{"filename": "heavy-1.0-py3-none-any.whl", "size": 3400000000}]}'
    releases = {"heavy": parse_page(page)}
    lab = laboratory("import heavy", most_bytes=1_500_000_000, releases=lambda name: releases.get(name, ()))
    world = World(python=PYTHON, requirements=("alpha",))
    seen = lab.observe(world)
    assert not seen.passed
    assert "3.4 GB (heavy 1.0 3.4 GB)" in seen.refused
    assert not list((user.root / "cache").rglob("heavy.py"))


def test_what_is_in_the_cache_already_weighs_nothing(user, laboratory):
    user.wheel("heavy", "1.0", "")
    page = '{"files": [{"filename": "heavy-1.0-py3-none-any.whl", "size": 3400000000}]}'
    world = World(python=PYTHON, requirements=("heavy",))
    assert laboratory("import heavy").observe(world).passed
    lab = laboratory("import heavy", most_bytes=1, releases=lambda _: parse_page(page))
    assert lab.observe(world).passed


def test_a_finding_names_what_was_too_large_and_does_not_call_it_impossible(user):
    user.wheel("alpha", "1.0", "from beta import new\n", requires=["beta"])
    user.wheel("beta", "1.0", "old = 1\n")
    user.wheel("beta", "2.0", "old = 1\n")
    finding = user.diagnose(["alpha==1.0", "beta==1.0"], "import alpha", most_bytes=-1)
    assert finding.fix is None
    assert any(one.outcome == "not-run" for one in finding.experiments)
    assert "--max-download" in finding.next
    assert not finding.impossible


FULL = "import errno, os\nraise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), 'weights.npz')\n"


def test_what_fails_for_want_of_space_was_not_tried_but_where_the_caller_stands_it_failed(user, laboratory):
    user.wheel("alpha", "1.0", "value = 1\n")
    lab, world = laboratory(FULL), World(python=PYTHON, requirements=("alpha",))
    seen = lab.observe(world)
    assert (seen.passed, seen.refused) == (False, "there was no space left on the disk")
    assert experiment_of("alpha", seen).outcome == "not-run"
    assert lab.observe(world, in_place=True).refused == ""


def test_a_build_that_fails_for_want_of_space_was_not_tried(user, laboratory, tmp_path):
    user.wheel("alpha", "1.0", "value = 1\n")
    uv = tmp_path / "full" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        f'#!/bin/sh\n[ "$1" = pip ] && {{ echo "failed to copy file: No space left on device (os error 28)" >&2; exit 2; }}\n'
        f'exec {find_uv_bin()} "$@"\n'
    )
    uv.chmod(0o755)
    seen = laboratory("import alpha", uv=uv).observe(World(python=PYTHON, requirements=("alpha",)))
    assert (seen.built, seen.refused) == (False, "there was no space left on the disk")
