"""Runs put together, and brought from other machines."""

from envmgr.app.importing import import_runs
from envmgr.app.merging import merged
from envmgr.app.workplace import Workplace
from envmgr.model.finding import Cause, Finding

OLD, NEW = "20260101T000000Z-a", "20260102T000000Z-b"


def proven(why):
    cause = Cause(kind="package", name="lib", why=why)
    return Finding(id="f1", phase="import", cause=cause, causes=(cause,))


def test_the_envs_of_a_fleets_run_are_found_after_it_was_put_together_with_another(workplace, store_run):
    one = workplace.store.load(store_run(OLD, {"alpha": 1.0}, host="a"))
    two = workplace.store.load(store_run(NEW, {"beta": 1.0}, host="b"))
    record = two.record.model_copy(update={"host": "b, c", "envs": {"b/beta": two.record.envs["beta"]}})
    run = merged([one, two.model_copy(update={"record": record})])
    assert [run.env_name(cell) for cell in run.record.plan.cells] == ["a/alpha", "b/beta"]


def test_what_was_proven_after_a_run_comes_with_it_and_is_not_overwritten(workplace, store_run, tmp_path):
    finding = proven("there")
    workplace.store.prove(store_run(OLD, {"alpha": 1.0}), finding)
    other = tmp_path / "other"
    (other / "manifests").mkdir(parents=True)
    here = Workplace(other)
    assert not any(each.problem for each in import_runs(here, workplace.project.runs))
    assert here.store.load(OLD).proven == {"f1": finding}
    here.store.prove(OLD, proven("here"))
    assert not any(each.problem for each in import_runs(here, workplace.project.runs))
    assert here.store.load(OLD).proven["f1"].cause.why == "here"
