from envmgr.app.diagnosing import runs as diagnosing_runs
from envmgr.app.diagnosing.cases import Asked
from envmgr.diagnose.hunt import Searched
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell
from envmgr.system.clock import RealClock


class Clock(RealClock):
    """Stands still unless it is moved."""

    now_at = 0.0

    def monotonic(self):
        return self.now_at


def test_a_budget_is_for_all_environments_of_a_run_together(workplace, store_run, monkeypatch, tmp_path):
    workplace.clock = Clock()
    run = workplace.store.load(store_run("R1", {"alpha": 1.0, "beta": 1.0, "gamma": 1.0}))
    judged = [JudgedCell(cell=cell, outcome=Outcome.FAILED, observed=Outcome.FAILED) for cell in run.record.plan.cells]
    budgets = []

    def search(work, cells, _good, _suspects):
        budgets.append(work.asked.budget)
        workplace.clock.now_at += 200
        return Searched((), {each.cell.id: "nothing that differs explains it" for each in cells}, 1, 1)

    monkeypatch.setattr(diagnosing_runs, "_search", search)
    work = diagnosing_runs._Work(workplace, Asked(budget=300.0), run, None, tmp_path)
    found = diagnosing_runs._regressed(work, judged, "good.lock")
    assert budgets == [300, 100, 0]
    assert len(found.unexplained) == 3
