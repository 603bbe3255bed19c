"""What the user has: diagnosed where it stands, and the same to the byte afterwards."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from uv import find_uv_bin

from envmgr.app.diagnosing.diagnose import Question
from envmgr.app.diagnosing.own import diagnose_own
from envmgr.app.diagnosing.standing import read_own
from envmgr.errors import HostError
from envmgr.model.finding import World
from envmgr.system.files import RealFiles
from envmgr.system.keeper import confines
from envmgr.system.process import RealProcess

pytestmark = pytest.mark.integration


class Theirs:
    """A virtual environment of the user's, filled by hand."""

    def __init__(self, user):
        self.user = user
        self.folder = user.root / "theirs"
        self.python = self.folder / "bin" / "python"
        self._call("venv", "-q", "-p", sys.executable, str(self.folder))

    def _call(self, *words):
        subprocess.run([find_uv_bin(), *words], env=self.user.environment(), check=True, capture_output=True)

    def install(self, *words):
        source = ("--default-index", self.user.index.as_uri(), "--link-mode", "copy")
        self._call("pip", "install", "-q", "-p", str(self.python), *source, *words)

    def uninstall(self, *names):
        self._call("pip", "uninstall", "-q", "-p", str(self.python), *names)

    @property
    def site(self):
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def digest(self):
        found = {}
        for path in sorted(self.folder.rglob("*")):
            facts = path.lstat()
            content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else ""
            found[str(path)] = (facts.st_mode, facts.st_mtime_ns, hashlib.sha256(str(content).encode()).hexdigest())
        return found

    def diagnose(self, probe):
        """Diagnose it; it, HOME and the folder must be the same afterwards."""
        user, before = self.user, (self.digest(), self.user.digest())
        place = replace(user.place(), confines=confines())
        files = RealFiles(user.root / "scratch")
        own = read_own(files, RealProcess(user.environment()), self.folder)
        question = Question(World(python=own.version), ("-c", probe), probe, budget=60.0)
        finding = diagnose_own(question, own, place)
        assert (self.digest(), user.digest()) == before
        return finding


@pytest.fixture
def theirs(user):
    return Theirs(user)


def test_a_sound_environment_gets_no_finding_and_no_bytecode(user, theirs):
    user.wheel("alpha", "1.0", "value = 1\n")
    theirs.install("alpha")
    assert theirs.diagnose("import alpha; open('written', 'w').close()") is None


def test_a_later_install_that_broke_an_earlier_one_is_found_by_its_order(user, theirs):
    user.wheel("alpha", "1.0", "from beta import old\n", requires=["beta<2"])
    user.wheel("beta", "1.0", "old = 1\n")
    user.wheel("beta", "2.0", "new = 1\n")
    theirs.install("alpha")
    theirs.install("beta==2.0")
    finding = theirs.diagnose("import alpha")
    assert (finding.cause.kind, finding.cause.name) == ("package", "beta")
    assert finding.fix.requirements == ("alpha==1.0",)
    assert finding.confirmed
    assert any("beta==2.0" in item.quote for item in finding.evidence)


def test_versions_that_are_older_than_what_would_be_resolved_today_are_taken_as_they_are(user, theirs):
    user.wheel("alpha", "1.0", "import beta\nassert not beta.broken, 'broken'\n", requires=["beta"])
    user.wheel("beta", "1.0", "broken = True\n")
    theirs.install("alpha")
    user.wheel("beta", "1.1", "broken = False\n")
    finding = theirs.diagnose("import alpha")
    assert finding.cause.name == "beta"
    assert finding.confirmed


@pytest.mark.parametrize("planted", ["altered", "lost", "foreign"])
def test_what_a_fresh_environment_does_not_have_is_its_state_and_proven_by_planting_it(user, theirs, planted):
    user.wheel("alpha", "1.0", "import gamma\nassert gamma.value == 1\n", requires=["gamma", "beta"])
    user.wheel("beta", "1.0", "value = 1\n")
    user.wheel("gamma", "1.0", "value = 1\n")
    theirs.install("alpha")
    (theirs.site / "harmless_notes.py").write_text("")
    gamma = theirs.site / "gamma.py"
    if planted == "altered":
        gamma.write_text("value = 2\n")
    elif planted == "lost":
        gamma.unlink()
    else:
        (theirs.site / "gamma").mkdir()
        (theirs.site / "gamma" / "__init__.py").write_text("value = 3\n")
    finding = theirs.diagnose("import alpha")
    wanted = {"altered": ("env-state", "gamma.py"), "lost": ("package", "gamma")}
    wanted["foreign"] = ("env-state", "gamma/__init__.py")
    assert (finding.cause.kind, finding.cause.name) == wanted[planted]
    assert finding.fix.requirements == ("alpha==1.0",)
    assert finding.confirmed
    assert any(finding.cause.name.removesuffix(".py") in item.quote for item in finding.evidence)


def test_what_was_taken_away_although_another_needs_it_is_missing(user, theirs):
    user.wheel("alpha", "1.0", "import beta\n", requires=["beta"])
    user.wheel("beta", "1.0", "")
    theirs.install("alpha")
    theirs.uninstall("beta")
    finding = theirs.diagnose("import alpha")
    assert finding.cause.name in {"alpha", "beta"}
    assert finding.confirmed


@pytest.mark.skipif(not confines(), reason="needs a kernel with Landlock")
def test_a_probe_that_would_write_into_the_environment_cannot(user, theirs):
    user.wheel("alpha", "1.0", "value = 1\n")
    theirs.install("alpha")
    finding = theirs.diagnose("import alpha, io; io.open(alpha.__file__, 'a').write('value = 2')")
    assert finding is None or Path(theirs.site / "alpha.py").read_text() == "value = 1\n"


def test_a_conda_prefix_tells_what_was_asked_for_in_its_own_records(user, theirs):
    user.wheel("alpha", "1.0", "", requires=["beta"])
    user.wheel("beta", "1.0", "")
    theirs.install("alpha")
    (theirs.folder / "conda-meta").mkdir()
    for name, spec in (("alpha", ""), ("beta", "beta 1.*")):
        (theirs.site / f"{name}-1.0.dist-info" / "INSTALLER").write_text("conda\n")
        told = {"name": name, "version": "1.0", "requested_spec": spec}
        (theirs.folder / "conda-meta" / f"{name}-1.0-py_0.json").write_text(json.dumps(told))
    files = RealFiles(user.root / "scratch")
    own = read_own(files, RealProcess(user.environment()), theirs.folder)
    assert {one.name for one in own.standing.installed if one.requested} == {"beta"}
    assert {one.installer for one in own.standing.installed} == {"conda"}


def test_an_interpreter_that_does_not_run_is_said_to_be_so(user, theirs):
    theirs.python.unlink()
    theirs.python.symlink_to("/nowhere/python")
    with pytest.raises(HostError, match="does not run"):
        read_own(RealFiles(user.root / "scratch"), RealProcess(user.environment()), theirs.folder)
