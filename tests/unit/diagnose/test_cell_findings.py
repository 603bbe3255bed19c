import pytest

from envmgr.diagnose.cell_findings import of_parity, of_refusal
from envmgr.diagnose.cell_processes import of_process
from envmgr.diagnose.records import judge
from envmgr.diagnose.records.record import Facts, Record
from envmgr.model.cell import Cell
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


@pytest.mark.parametrize(
    ("reason", "kind", "name"),
    [
        ("one exists for macos-arm64; this host is linux-x86_64", "platform", "macos-arm64"),
        (
            "one wants Python 3.8 for linux-x86_64; found 3.11.7 x86_64; get it: envmgr python install 3.8",
            "python",
            "3.8",
        ),
    ],
)
def test_what_the_host_lacks_is_the_cause(reason, kind, name):
    found = refused(reason)
    assert (found.cause.kind, found.cause.name, found.phase) == (kind, name, Phase.INTERPRETER)
    assert found.evidence[0].quote == reason


def test_a_missing_device_is_hardware_and_impossible_here():
    found = refused("no device is reached through mps", phase=Phase.BACKEND, device_asked="mps")
    assert (found.cause.kind, found.cause.name) == ("hardware", "mps")
    assert found.impossible
    assert found.fix.host[0].name == "mps"


def test_a_python_that_can_be_had_is_not_impossible():
    found = refused("one wants Python 3.8 for linux-x86_64; found none; get it: envmgr python install 3.8")
    assert found.fix.python == "3.8"
    assert not found.impossible


def test_version_sets_that_lack_the_same_share_a_finding():
    said = "{} exists for macos-arm64; this host is linux-x86_64"
    assert refused(said.format("one")).id == refused(said.format("two"), label="two").id
    assert refused(said.format("one")).id != refused("one exists for windows-x86_64; this host is linux-x86_64").id


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
    ("reason", "kind", "name"),
    [
        ("one for linux: there is no demo==9.0: error: No solution found", "package", "demo"),
        ("there is no space left", "unknown", ""),
    ],
)
def test_what_cannot_be_built_accuses_what_is_not_to_be_had(reason, kind, name):
    made = cell(refusal=Outcome.BUILD_FAILED, phase=Phase.RESOLVE, reason=reason)
    found = of_refusal(made, judge(Record(reason, Facts())))
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
