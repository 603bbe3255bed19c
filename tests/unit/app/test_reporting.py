"""History, merging and importing of runs."""

import shutil

import pytest

from envmgr.app.comparing import CompareWishes, compare
from envmgr.app.importing import import_runs
from envmgr.app.merging import merged, runs_of
from envmgr.app.reporting import REPORTS, history_of, log_ends, reading_of
from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.model.comparison import Verdict
from envmgr.model.outcome import Outcome
from envmgr.report import terminal
from envmgr.report.json import run_data
from envmgr.report.look import Look

ONE, TWO, OTHER = "20260101T000000Z-a", "20260102T000000Z-b", "20260103T000000Z-c"


def test_history_marks_changes_beyond_doubt(workplace, store_run):
    store_run(ONE, {"alpha": 1.0, "beta": 2.0})
    store_run(TWO, {"alpha": 1.0, "beta": 2.4})
    store_run(OTHER, {"alpha": 1.0, "beta": 2.4, "gamma": 1.0})
    history = history_of(workplace, reading_of(workplace, workplace.store.load(OTHER)))
    assert set(history) == {"alpha-box", "beta-box"}
    assert [point.run for point in history["beta-box"]] == [ONE, TWO, OTHER]
    assert [point.change for point in history["beta-box"]] == [None, Verdict.SLOWER, Verdict.SAME]
    assert history["beta-box"][1].ratio == pytest.approx(1.2, rel=0.02)
    assert {point.change for point in history["alpha-box"][1:]} == {Verdict.SAME}


def test_history_goes_back_from_the_run_that_is_asked_for(workplace, store_run):
    store_run(ONE, {"alpha": 1.0})
    store_run(TWO, {"alpha": 1.0})
    assert history_of(workplace, reading_of(workplace, workplace.store.load(ONE))) == {}


def test_two_hosts_are_one_matrix_and_told_apart(workplace, store_run):
    store_run(ONE, {"alpha": 1.0, "beta": 2.0}, host="box")
    store_run(TWO, {"alpha": 0.5, "beta": 1.0}, host="mac")
    run = runs_of(workplace)
    assert run.record.host == "box, mac"
    assert [cell.host for cell in run.record.plan.cells] == ["box", "box", "mac", "mac"]
    reading = reading_of(workplace, run)
    assert reading.view.hosts == ("box", "mac")
    text = terminal.matrix(reading.view, Look(80))
    assert "\nhost " in text
    assert "speed: times as fast as alpha on cpu:0 of box\n" in text
    assert sum(line.startswith("mac ") for line in text.splitlines()) == 4
    cells = run_data(run, reading.judged, reading.summaries)["cells"]
    assert {cell["host"]: cell["resolved"] for cell in cells}["mac"] == {"keras": "3.12.0", "numpy": "2.1.0"}
    page = REPORTS["html"](workplace, reading)
    assert page.count('<td class="host">mac</td>') == 2


def test_numbers_of_one_host_are_held_against_those_of_another(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, host="box")
    store_run(TWO, {"beta": 0.1}, host="mac", answers={"beta": 2.01})
    reading = reading_of(workplace, runs_of(workplace))
    assert {each.cell.host: each.observed for each in reading.judged} == {"box": Outcome.PASSED, "mac": Outcome.WRONG}


def test_of_one_host_the_latest_measurement_counts(workplace, store_run):
    store_run(ONE, {"alpha": 1.0, "gamma": 3.0})
    store_run(TWO, {"alpha": 2.0})
    run = merged([workplace.store.load(TWO), workplace.store.load(ONE)])
    assert run.origins == {"alpha-box": TWO, "gamma-box": ONE}
    assert len(run.results) == 20
    reading = reading_of(workplace, run)
    assert reading.summaries["alpha-box"].median == pytest.approx(2.0, rel=0.02)


def test_another_matrix_takes_no_part_unless_it_is_named(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, host="mac", matrix="vgg19")
    store_run(TWO, {"alpha": 1.0})
    assert runs_of(workplace).record.id == TWO
    assert runs_of(workplace, (ONE, TWO)).record.plan.matrix == "vgg19, quick"


def test_a_damaged_head_elsewhere_is_named_and_left_out(workplace, store_run, project):
    store_run(ONE, {"alpha": 1.0}, host="mac")
    store_run(TWO, {"alpha": 1.0})
    (project / ".envmgr" / "runs" / ONE / "run.json").write_text("{")
    run = runs_of(workplace)
    assert run.record.id == TWO
    assert run.damaged[0].startswith(f"run {ONE}: damaged")


def test_a_damaged_earlier_run_disturbs_neither_history_nor_comparison(workplace, store_run, project):
    for name in (ONE, TWO, OTHER):
        store_run(name, {"alpha": 1.0})
    (project / ".envmgr" / "runs" / TWO / "run.json").write_text("{")
    history = history_of(workplace, reading_of(workplace, workplace.store.load(OTHER)))
    assert [point.run for point in history["alpha-box"]] == [ONE, OTHER]
    assert compare(workplace, CompareWishes()).first == ONE


def test_runs_from_another_machine_are_imported_once(workplace, store_run, project, tmp_path):
    store_run(ONE, {"alpha": 1.0}, host="mac", processes=2)
    elsewhere = tmp_path / "from-mac"
    shutil.move(project / ".envmgr" / "runs", elsewhere)
    first = import_runs(workplace, elsewhere)
    assert [(each.run, each.host, each.added, each.problem) for each in first] == [(ONE, "mac", 4, "")]
    assert workplace.store.load(ONE).finished
    assert import_runs(workplace, elsewhere / ONE)[0].added == 0


def test_a_run_of_the_same_name_with_other_results_is_left_alone(workplace, store_run, project, tmp_path):
    store_run(ONE, {"alpha": 1.0}, processes=2)
    elsewhere = tmp_path / "copy"
    shutil.copytree(project / ".envmgr" / "runs", elsewhere)
    changed = elsewhere / ONE / "results" / "alpha-box-0.json"
    changed.write_text(changed.read_text().replace('"elapsed": 0.0', '"elapsed": 9.0'))
    found = import_runs(workplace, elsewhere)[0]
    assert "another run of that name" in found.problem
    assert workplace.store.load(ONE).results[0].elapsed == 0.0


def test_a_link_in_an_imported_run_is_not_followed(workplace, store_run, project, tmp_path):
    store_run(ONE, {"alpha": 1.0}, processes=1)
    elsewhere = tmp_path / "copy"
    shutil.move(project / ".envmgr" / "runs", elsewhere)
    (tmp_path / "secret").write_text("secret")
    (elsewhere / ONE / "logs").mkdir()
    (elsewhere / ONE / "logs" / "alpha-box-0.log").symlink_to(tmp_path / "secret")
    import_runs(workplace, elsewhere)
    assert not (project / ".envmgr" / "runs" / ONE / "logs").exists()


def test_a_folder_without_runs_says_what_was_wanted(workplace, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="there is no run in"):
        import_runs(workplace, tmp_path / "empty")


def test_ends_of_logs_are_found_under_the_run_that_they_come_from(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, host="mac", processes=1)
    store_run(TWO, {"alpha": 1.0}, processes=1)
    log = workplace.store.log_path(ONE, "alpha-mac", 0)
    workplace.files.write(log, "".join(f"line {number}\n" for number in range(100)))
    ends = log_ends(workplace, reading_of(workplace, runs_of(workplace)))
    assert set(ends) == {"alpha-mac"}
    assert ends["alpha-mac"].splitlines()[0] == "line 60"


@pytest.mark.parametrize("form", sorted(REPORTS))
def test_every_form_of_report_is_made(workplace, store_run, form):
    store_run(ONE, {"alpha": 1.0, "beta": 2.0}, refused={"beta": Outcome.UNAVAILABLE})
    assert "alpha" in REPORTS[form](workplace, reading_of(workplace, runs_of(workplace)))


def test_reports_are_remade_from_what_is_stored(project, store_run):
    store_run(ONE, {"alpha": 1.0})
    texts = [
        REPORTS["csv"](place, reading_of(place, runs_of(place))) for place in (Workplace(project), Workplace(project))
    ]
    assert texts[0] == texts[1]


def test_two_machines_of_one_name_are_told_apart_and_a_run_that_cannot_tell_is_of_either(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, processes=1)
    store_run(TWO, {"alpha": 2.0}, processes=1, identities={"box": "3f2a77"})
    store_run(OTHER, {"alpha": 4.0}, processes=1, identities={"box": "b0c1d2"})
    log = workplace.store.log_path(TWO, "alpha-box", 0)
    workplace.files.write(log, "of the first machine\n")
    run = runs_of(workplace)
    assert run.record.host == "box (3f2a), box (b0c1)"
    assert [cell.host for cell in run.record.plan.cells] == ["box (3f2a)", "box (b0c1)"]
    reading = reading_of(workplace, run)
    medians = [reading.summaries[judged.cell.id].median for judged in reading.judged]
    assert medians == [pytest.approx(2.0, rel=0.1), pytest.approx(4.0, rel=0.1)]
    assert list(log_ends(workplace, reading).values()) == ["of the first machine"]
    assert set(run.record.envs) == {"box (3f2a)/alpha", "box (b0c1)/alpha"}
    alone = runs_of(workplace, [OTHER])
    assert alone.record.host == "box"
    assert history_of(workplace, reading_of(workplace, alone))["alpha-box"][0].run == ONE, "an old run is of either"
    assert TWO not in {point.run for point in history_of(workplace, reading_of(workplace, alone))["alpha-box"]}


def test_machines_of_one_name_are_not_compared_as_one(workplace, store_run):
    store_run(ONE, {"alpha": 1.0}, identities={"box": "3f2a77"})
    store_run(TWO, {"alpha": 1.0}, identities={"box": "b0c1d2"})
    found = compare(workplace, CompareWishes(runs=(ONE, TWO)))
    assert "measured on different machines, which are both called box" in found.notes
