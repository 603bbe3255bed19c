"""Over manifests and troubles made at random: a fix that --apply writes builds and passes, and spoils no other line."""

import tomllib
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .conftest import THIS_PYTHON

pytestmark = [pytest.mark.integration, pytest.mark.indexes]

NUMBERS = count(1)
KEYS = ('summary = "made at random"', f'python = "=={THIS_PYTHON}.*"', 'runners = ["answer"]', 'unset = ["OLD"]')
TABLES = (
    '[[expect]]\nrunner = "answer"\noutcome = "failed"\nreason = "known"',
    f'[variants]\npython = ["{THIS_PYTHON}"]',
)


class Trouble:
    """Distributions of which one has lost a name in one of its releases, or minds a variable; what asks for them."""

    def __init__(self, index, kind, lost_in):
        number = next(NUMBERS)
        library, self.outer = f"lib{number}", f"outer{number}"
        self.variable = f"LIB{number}_MODE" if kind == "variable" else ""
        for version in range(1, 5):
            has = "NAME = 1\n" if version < lost_in or self.variable else ""
            minds = f"import os\nassert os.environ.get('{self.variable}') != 'odd'\n" if self.variable else ""
            index.add(library, f"{version}.0", {f"{library}.py": minds + has})
        index.add(self.outer, "1.0", {f"{self.outer}.py": f"from {library} import NAME\n"}, [library])
        pins = {"cap": [f"{self.outer}==1.0"], "pin": [f"{self.outer}==1.0", f"{library}==4.0"]}
        self.asked = pins.get(kind, [f"{self.outer}==1.0"])


@st.composite
def layouts(draw):
    """The lines of a manifest in any order, each with a comment of its own; tables and their comments after them."""
    keys = [f"{line}   # behind {at}" for at, line in enumerate(KEYS)]
    head = draw(st.permutations(["schema = 1   # the format", 'name = "broken"   # the stem', *keys, "ASKED"]))
    return head, draw(st.permutations(draw(st.sampled_from([(), TABLES[:1], TABLES[1:], TABLES]))))


@pytest.mark.timeout(400)
@settings(
    max_examples=3,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(layouts(), st.sampled_from(["cap", "pin", "variable"]), st.integers(2, 4))
def test_what_is_applied_builds_and_passes_and_spoils_nothing(project, index, layout, kind, lost_in):
    trouble = Trouble(index, kind, lost_in)
    head, tables = layout
    asked = f"requirements = {trouble.asked}   # asked for".replace("'", '"')
    lines = [asked if line == "ASKED" else line for line in head]
    lines += [part for at, table in enumerate(tables) for part in ("", f"# about table {at}", *table.splitlines())]
    mode = [f'{trouble.variable} = "odd"'] if trouble.variable else []
    lines += ["", "# what the cells get", "[env]", 'KEPT = "1"   # stays', *mode]
    path = project.write("manifests/broken.toml", "\n".join(lines) + "\n")
    before = tomllib.loads(path.read_text())

    probe = f"import {trouble.outer}"
    code, told = project.json("diagnose", "broken", "--probe", probe, "--apply")
    assert code == 1, told
    fix = told["data"]["finding"]["fix"]

    text = path.read_text()
    changed = {"requirements"} if kind != "variable" else {"unset"}
    kept = [line for line in lines if line.partition(" ")[0] not in {*changed, trouble.variable or "-"}]
    assert [line for line in kept if line not in text.splitlines()] == []
    after = tomllib.loads(text)
    if kind == "variable":
        assert (after["unset"], after["env"]) == (["OLD", trouble.variable], {"KEPT": "1"})
    else:
        assert after["requirements"] == fix["requirements"]
    assert {key: after[key] for key in before if key not in {*changed, "env"}} == {
        key: before[key] for key in before if key not in {*changed, "env"}
    }
    assert project.run("lock", "broken", "--check").returncode == 0
    built = project.run("build", "broken")
    assert built.returncode == 0, built.stderr
    again = project.run("run", "broken", "--", "python", "-c", probe)
    assert again.returncode == 0, again.stderr
