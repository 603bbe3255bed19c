import pytest

from envmgr.diagnose.cell_findings import of_parity, of_refusal
from envmgr.diagnose.cell_processes import of_process
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, Record
from envmgr.model.cell import Cell
from envmgr.model.lacking import Lacking
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Parity

TRACE = 'Traceback (most recent call last):\n  File "/x/run.py", line 3, in <module>\n    import acme\n'


def cell(label="one", **fields):
    return Cell(id=label, manifest=label, variant="default", runner="r", **fields)


def refused(reason, outcome=Outcome.UNAVAILABLE, phase=Phase.INTERPRETER, label="one", **fields):
    return of_refusal(cell(label, refusal=outcome, phase=phase, reason=reason, **fields))


def failed(log, label="one", outcome=Outcome.FAILED, reason="it failed", **fields):
    result = CellResult(cell=label, outcome=outcome, phase=Phase.IMPORT, reason=reason)
    return of_process(judge(Record(log, Facts())), cell(label, **fields), result, log)


@pytest.mark.parametrize(("kind", "name"), [("platform", "macos-arm64"), ("python", "3.8")])
def test_what_the_host_lacks_is_the_cause(kind, name):
    found = refused("whatever it says", lacking=Lacking(kind=kind, name=name))
    assert (found.cause.kind, found.cause.name, found.phase) == (kind, name, Phase.INTERPRETER)
    assert (found.evidence[0].quote, found.impossible) == ("whatever it says", "whatever it says")


def test_a_cell_that_was_stored_before_anything_was_named_accuses_its_python():
    stored = cell(refusal=Outcome.UNAVAILABLE, phase=Phase.INTERPRETER, reason="no", python="3.8.18")
    old = {name: value for name, value in stored.model_dump(mode="json").items() if name != "lacking"}
    assert of_refusal(Cell.model_validate(old)).cause.name == "3.8"


def test_what_has_left_its_index_is_named():
    found = refused("it is gone", Outcome.GONE, Phase.DOWNLOAD, lacking=Lacking(kind="distribution", name="demo==1.0"))
    assert (found.cause.kind, found.cause.name) == ("index", "demo==1.0")


def test_a_missing_device_is_hardware_and_impossible_here():
    found = refused("no device is reached through mps", phase=Phase.BACKEND, device_asked="mps")
    assert (found.cause.kind, found.cause.name) == ("hardware", "mps")
    assert found.impossible
    assert found.fix.host[0].name == "mps"


def test_a_python_that_can_be_had_is_not_impossible():
    found = refused("it wants Python 3.8", lacking=Lacking(kind="python", name="3.8", obtainable=True))
    assert found.fix.python == "3.8"
    assert not found.impossible


def test_version_sets_that_lack_the_same_share_a_finding():
    mac, windows = (Lacking(kind="platform", name=name) for name in ("macos-arm64", "windows-x86_64"))
    said = "{} is not for this host"
    first = refused(said.format("one"), lacking=mac)
    assert first.id == refused(said.format("two"), label="two", lacking=mac).id
    assert first.id != refused(said.format("one"), lacking=windows).id


def test_processes_that_fail_alike_share_a_finding_wherever_they_stood():
    first = failed(TRACE + "ModuleNotFoundError: No module named 'acme'\n")
    elsewhere = failed(TRACE.replace("/x/", "/y/z/") + "ModuleNotFoundError: No module named 'acme'\n", label="two")
    assert (first.cause.kind, first.cause.name) == ("missing", "acme")
    assert first.id == elsewhere.id
    assert first.id != failed(TRACE + "ModuleNotFoundError: No module named 'other'\n").id
    assert not first.confirmed


def test_what_nothing_accuses_is_unknown_and_says_how_it_ended():
    found = failed("", outcome=Outcome.TIMEOUT, reason="it did not end within 600 s")
    assert (found.cause.kind, found.cause.why) == ("unknown", "it did not end within 600 s")


def test_memory_is_hardware():
    assert failed("", outcome=Outcome.OUT_OF_MEMORY).cause.name == "memory"


def test_wrong_numbers_accuse_the_library_that_computed_them():
    parity = Parity(reference="c1", max_abs=1, max_rel=1, share_off=1, verdict="disagrees", worst="row 2")
    found = of_parity(cell(backend="plaidml", group="g"), parity, "row 2")
    assert (found.cause.kind, found.cause.name, found.phase) == ("package", "plaidml", Phase.CHECK)


@pytest.mark.parametrize(
    ("lacking", "kind", "name"),
    [(Lacking(kind="distribution", name="demo==9.0"), "package", "demo"), (None, "unknown", "")],
)
def test_what_cannot_be_built_accuses_what_is_not_to_be_had(lacking, kind, name):
    made = cell(refusal=Outcome.BUILD_FAILED, phase=Phase.RESOLVE, reason="it stopped", lacking=lacking)
    found = of_refusal(made, judge(Record("it stopped", Facts())))
    assert (found.cause.kind, found.cause.name, found.check) == (kind, name, "the build")


def quotes(log, reason):
    return [(each.quote, each.where) for each in failed(log, reason=reason).evidence]


def test_the_reason_of_a_result_is_not_quoted_where_the_log_says_it():
    said = "ModuleNotFoundError: No module named 'acme'"
    assert quotes(f"{TRACE}{said}\n", said) == [(said, "the log")]


def test_a_line_of_the_log_is_not_quoted_where_the_reason_says_more():
    reason = "ended by SIGABRT: fatal error: 3 of 4 failed"
    assert quotes("fatal error: 3 of 4 failed\n", reason) == [(reason, "the result")]


def test_what_no_log_says_is_quoted_from_the_result():
    assert quotes("", "ended by SIGSEGV") == quotes("ended by SIGSEGV", "ended by SIGSEGV")
    assert quotes("", "ended by SIGSEGV") == [("ended by SIGSEGV", "the result")]


def test_a_reason_that_the_log_does_not_give_is_quoted_beside_it():
    assert quotes("fatal error\n", "no report") == [("fatal error", "the log"), ("no report", "the result")]
