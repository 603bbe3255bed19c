"""A fix that --apply writes into a manifest builds and passes, and what it does not touch stays as it was."""

import pytest

from .conftest import THIS_PYTHON

pytestmark = pytest.mark.integration

MANIFEST = """\
# why this set exists
schema = 1
name = "broken"                  # the stem
summary = "fails until it is mended"
python = "{python}"              # as we have it
runners = ["answer"]
{asked}

# what the cells get
[env]
KEPT = "1"                       # stays
{variables}
"""


def mended(project, probe):
    """Diagnose with --apply, then lock, build and run by hand; returns the finding and the manifest's text."""
    code, told = project.json("diagnose", "broken", "--probe", probe, "--apply")
    assert code == 1, told
    finding = told["data"]["finding"]
    assert finding["confirmed"], finding
    text = (project.root / "manifests" / "broken.toml").read_text()
    assert project.run("lock", "broken", "--check").returncode == 0
    built = project.run("build", "broken")
    assert built.returncode == 0, built.stderr
    again = project.run("run", "broken", "--", "python", "-c", probe)
    assert again.returncode == 0, again.stderr
    for comment in ("# why this set exists", "# the stem", "# what the cells get", "# stays"):
        assert comment in text
    return finding, text


def write(project, asked, variables="", python=None):
    text = MANIFEST.format(asked=asked, variables=variables, python=python or f"=={THIS_PYTHON}.*")
    project.write("manifests/broken.toml", text)


def test_a_cap_on_what_lost_a_name(project, index):
    index.add("demo", "3.0", {"demo.py": "__version__ = '3.0'\n"})
    index.add("outer", "1.0", {"outer.py": "from demo import ANSWER\n"}, ["demo"])
    write(project, 'requirements = ["outer==1.0"]   # ours')
    finding, text = mended(project, "import outer")
    assert finding["cause"]["name"] == "demo"
    assert "outer==1.0" in text


def test_a_history_that_gives_way_to_one_resolution(project, index):
    index.add("outer", "1.0", {"outer.py": "from demo import ANSWER\nassert ANSWER == 42\n"}, ["demo<2"])
    write(project, "", '\n[[step]]\ninstall = ["outer==1.0"]\n\n[[step]]\ninstall = ["demo==2.0"]\n')
    finding, text = mended(project, "import outer")
    assert finding["cause"]["name"] == "demo"
    assert "[[step]]" not in text


def test_a_variable_that_is_taken_out(project, index):
    code = "import os\nif os.environ.get('MOODY_MODE') == 'odd': raise ValueError('bad mode')\n"
    index.add("moody", "1.0", {"moody.py": code})
    write(project, 'requirements = ["moody==1.0"]', 'MOODY_MODE = "odd"')
    finding, text = mended(project, "import moody")
    assert finding["cause"]["name"] == "MOODY_MODE"
    assert "KEPT" in text


def test_what_is_not_confirmed_is_not_applied(project, index):
    index.add("hopeless", "1.0", {"hopeless.py": "raise RuntimeError('never')\n"})
    write(project, 'requirements = ["hopeless==1.0"]')
    before = (project.root / "manifests" / "broken.toml").read_text()
    code, told = project.json("diagnose", "broken", "--probe", "import hopeless", "--apply")
    assert code == 2
    assert told["error"]["what"]
    assert (project.root / "manifests" / "broken.toml").read_text() == before


def test_a_requirements_file_is_diagnosed_as_it_is(project, index):
    index.add("outer", "1.0", {"outer.py": "import demo\nassert demo.__version__ == '1.0', 'wants 1.0'\n"}, ["demo"])
    project.write("fit.txt", "outer==1.0\ndemo==1.0\n")
    probe = ("--python", THIS_PYTHON, "--probe", "import outer")
    assert project.run("diagnose", "--from", "fit.txt", *probe).returncode == 0
    code, told = project.json("diagnose", "--from", "nothing.txt", *probe)
    assert (code, told["error"]["code"]) == (2, "usage")
    code, told = project.json("diagnose", "--from", "manifests", *probe)
    assert (code, "is no environment" in told["error"]["what"]) == (2, True)
    code, told = project.json("diagnose", "--from", "fit.txt", *probe, "--apply")
    assert (code, "no manifest" in told["error"]["what"]) == (2, True)
