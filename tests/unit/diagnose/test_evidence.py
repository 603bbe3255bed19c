"""Each item of evidence is a quote with where it stands, and shows no secret."""

from dataclasses import replace

import pytest

from envmgr.diagnose.evidence import evidence
from envmgr.diagnose.observation import Observation
from envmgr.model.finding import Cause, World
from envmgr.model.outcome import Phase

TRACE = (
    "Traceback (most recent call last):\n"
    '  File "<string>", line 1, in <module>\n'
    '  File "/v/lib/python3.10/site-packages/alpha/core.py", line 7, in start\n'
    "ImportError: cannot import name 'x' from 'beta'\n"
)


@pytest.fixture
def told(planted, distribution):
    """Return what evidence says of a planted failure, as {where: quotes}."""

    def tell(world=None, seen=None, causes=(), **more):
        world = world or World(python="3.10", requirements=("alpha==1.0",))
        seen = seen or Observation(False, Phase.IMPORT, TRACE, {one.name: one.version for one in planted.installed})
        situation = replace(planted.situation(world, seen=seen), **more)
        found = {}
        for item in evidence(situation, causes):
            found.setdefault(item.where, []).append(item.quote)
        return found

    planted.installed = (
        distribution("alpha", "1.0", ("beta>=2",), modules=frozenset({"alpha", "alpha.core"}), files=frozenset({"common.py"})),
        distribution("beta", "1.5", modules=frozenset({"beta", "enum"}), files=frozenset({"common.py"}), lost=("beta.py",)),
    )  # fmt: skip
    planted.release("alpha", ("1.0", "2020-05-01"))
    return tell


def test_the_exception_with_its_line_and_frames_with_distribution_version_and_date(told):
    found = told()
    assert found["the probe's output, line 4"] == ["ImportError: cannot import name 'x' from 'beta'"]
    assert found["alpha 1.0, released 2020-05-01"] == ["/v/lib/python3.10/site-packages/alpha/core.py:7 start"]


def test_the_derivation_of_the_resolver_in_full(told):
    text = "error: no solution\n  Because alpha==1.0 depends on\n  beta>=9, we can conclude that nothing fits."
    found = told(seen=Observation(False, Phase.RESOLVE, text))
    assert found["the resolver's derivation"] == [
        "Because alpha==1.0 depends on",
        "beta>=9, we can conclude that nothing fits.",
    ]


def test_an_end_by_signal(told):
    assert told(seen=Observation(False, Phase.RUN, "", signal=11))["the probe's exit status"] == [
        "ended by signal 11 (SIGSEGV)"
    ]


def test_what_was_asked_for_locked_and_installed_where_they_differ(told):
    world = World(python="3.10", requirements=("alpha==1.0", "beta==1.2"))
    found = told(world, locked={"alpha": "1.0", "beta": "1.3"})
    assert found["requirements; METADATA of beta"] == ["beta==1.2 was asked for; 1.5 is installed"]
    assert found["lock; METADATA of beta"] == ["beta 1.3 is locked; 1.5 is installed now"]
    assert found["metadata of alpha"] == ["alpha requires beta>=2: there is beta 1.5"]


def test_owners_of_one_file_files_that_are_gone_and_modules_that_shadow(told, planted):
    planted.files = {"cwd/alpha.py": "", "cwd/notes.py": "", "cwd/queue/__init__.py": ""}
    found = told()
    assert found["RECORD of alpha and RECORD of beta"] == ["common.py belongs to alpha and beta"]
    assert "beta.py of beta is not there" in found["RECORD of beta"]
    assert "beta installs a module enum, as the standard library does" in found["RECORD of beta"]
    shadows = found["the caller's folder"]
    assert [quote.split()[0] for quote in shadows] == ["alpha", "queue"]


def test_variables_and_settings_that_take_part_and_nothing_else(told, planted):
    planted.variables = {
        "PYTHONPATH": "/here",
        "ALPHA_MODE": "odd",
        "KERAS_BACKEND": "jax",
        "GREETING": "hello",
        "PIP_USER": "1",
    }
    planted.files = {"home/.alpha/alpha.json": '{"mode":\n "odd"}', "home/.other/other.json": "{}"}
    found = told()
    assert found["the caller's variables"] == ["ALPHA_MODE=odd", "KERAS_BACKEND=jax", "PYTHONPATH=/here"]
    assert found["~/.alpha/alpha.json"] == ['{"mode": "odd"}']
    assert "~/.other/other.json" not in found


def test_what_steers_installers_where_they_stopped(told, planted):
    planted.variables = {
        "PIP_INDEX_URL": "https://me:secret@mirror.example/simple",
        "ALPHA_MODE": "odd",
        "UV_OFFLINE": "1",
    }
    planted.files = {"home/.config/pip/pip.conf": "[global]\nindex-url = https://me:secret@mirror.example/simple"}
    found = told(seen=Observation(False, Phase.RESOLVE, "no"))
    assert found["the caller's variables"] == ["PIP_INDEX_URL=https://mirror.example/simple", "UV_OFFLINE=1"]
    assert "secret" not in str(found)
    assert found["~/.config/pip/pip.conf"] == ["[global] index-url = https://mirror.example/simple"]


def test_the_value_of_a_variable_that_is_named_as_a_secret_is_not_shown(told, planted):
    planted.variables = {"ALPHA_TOKEN": "abc123"}
    found = told(causes=(Cause(kind="env-state", name="ALPHA_TOKEN", why=""),))
    assert found["the caller's variables"] == ["ALPHA_TOKEN=(not shown)"]


def test_the_machine(told):
    assert told()["this machine"] == ["linux x86_64, manylinux2014_x86_64, Python 3.10, no accelerator"]
