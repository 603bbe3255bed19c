"""One process of a cell: whatever goes wrong around it, there is a result."""

from types import SimpleNamespace

import pytest

from envmgr.app.cells import CellRunner
from envmgr.errors import BuildError
from envmgr.model.cell import Cell
from envmgr.model.env import Env
from envmgr.model.host import Interpreter
from envmgr.model.outcome import Outcome

CELL = Cell(id="alpha-box", manifest="alpha", variant="default", runner="speed")
INTERPRETER = Interpreter(executable="/p/bin/python3.11", version="3.11.7", arch="x86_64", system="linux")
ENV = Env(
    key="k",
    manifest="alpha",
    variant="default",
    path="/e",
    python="/e/python",
    lock_digest="d",
    interpreter=INTERPRETER,
    resolved={},
)


class Lost:
    """Envs of which one cannot be looked after."""

    def __init__(self, error):
        self._error = error

    def __getitem__(self, label):
        return SimpleNamespace(env=ENV)

    def measure(self, label, visitor, run):
        raise self._error


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), BuildError("x is held", "", "wait")])
def test_what_fails_around_a_cell_fails_the_cell_alone(project, workplace, error):
    manifest = 'schema = 1\nname = "alpha"\npython = "==3.11.*"\nrequirements = ["six"]\nrunners = ["speed"]\n'
    (project / "manifests" / "alpha.toml").write_text(manifest)
    runner = CellRunner(workplace, "20260101T000000Z-a", Lost(error))
    for number in range(2):
        result = runner.run(number, CELL, number)
        assert (result.outcome, result.round) == (Outcome.FAILED, number)
        assert result.reason.startswith("envmgr could not run the cell: ")
    runner.close()
    assert not list(workplace.folders.scratch.iterdir())
