"""What a failed experiment teaches."""

from pathlib import Path

import pytest

from envmgr.app.inferring.lessons import Lessons
from envmgr.app.inferring.quest import Attempt, Quest
from envmgr.diagnose.observation import Observation
from envmgr.infer.eras import Era
from envmgr.infer.naming import Names, Wanted
from envmgr.model.finding import World
from envmgr.model.inference import MissingName, Proof
from envmgr.model.outcome import Phase


class Bare:
    """A laboratory in whose environments nothing is installed."""

    laboratory = property(lambda self: self)
    files = None

    def site_packages(self, _folder):
        return ()


def names(**distributions):
    return Names(
        standard=lambda _: False,
        last_python=lambda _: "",
        distributions=lambda module: distributions.get(module, ()),
        exists=lambda _: True,
        seen={},
    )


def quest(*wanted, known=None):
    return Quest(wanted=list(wanted), names=known or names(), pins={}, pythons=("3.8", "3.12"))


def lacking(module):
    why = f"ModuleNotFoundError: No module named '{module}'"
    seen = Observation(False, Phase.IMPORT, why, {}, 0.0, Path("anywhere"))
    proof = Proof(passed=False, missing=(MissingName(name=module, module=module, why=why),))
    return Attempt(World(python="3.12"), Era("", "3.12"), seen, proof, frozenset((module,)))


@pytest.mark.parametrize(("module", "line"), [("pkg_resources", "setuptools<82"), ("distutils", "setuptools")])
def test_a_module_that_a_library_once_had_brings_that_library(module, line):
    told = quest()
    assert Lessons(told, Bare()).learn(lacking(module))
    assert told.lines == [line]
    assert not Lessons(told, Bare()).learn(lacking(module))


def test_a_module_of_the_standard_library_of_older_pythons_brings_an_older_python():
    told = quest()
    assert Lessons(told, Bare()).learn(lacking("imp"))
    assert told.highest == "3.11"


def test_a_module_that_the_libraries_import_is_added_once():
    told = quest(known=names(hidden=("hidden-lib", "other")))
    assert Lessons(told, Bare()).learn(lacking("hidden"))
    assert told.wanted == [Wanted("hidden", ("hidden-lib", "other"), required=True)]
    assert told.why == ["hidden-lib is there for hidden, which the libraries import and do not require"]


def test_a_module_that_nothing_installs_teaches_nothing():
    told = quest()
    assert not Lessons(told, Bare()).learn(lacking("nowhere"))
    assert told.wanted == []
