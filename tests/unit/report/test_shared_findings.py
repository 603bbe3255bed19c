from envmgr.model.cell import Cell
from envmgr.model.finding import Cause, Finding
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import JudgedCell
from envmgr.report.shared_findings import shared_findings


def judged(ident, finding):
    cell = Cell(id=ident, manifest=f"m{ident}", variant="default", runner="r")
    return JudgedCell(cell=cell, outcome=Outcome.FAILED, observed=Outcome.FAILED, finding=finding)


def finding(ident, why, **fields):
    cause = Cause(kind="package", name="acme", why=why)
    return Finding(id=ident, phase=Phase.RUN, cause=cause, causes=(cause,), **fields)


def shared(cells, notes=None, host=""):
    return shared_findings(cells, notes or {}, {each.cell.id: f"{host}{each.cell.name}" for each in cells})


def test_each_finding_stands_once_with_its_cells():
    one, other = finding("f1", "it broke", next="envmgr diagnose R#a"), finding("f2", "gone", confirmed=True)
    first, second = shared([judged("a", one), judged("b", other), judged("c", one), judged("d", None)])
    assert (first.cells, first.ids) == (("ma/r", "mc/r"), ("a", "c"))
    assert first.causes == ("package acme: it broke",)
    assert first.state == "from evidence; to prove it: envmgr diagnose R#a"
    assert (second.cells, second.state) == (("mb/r",), "the fix was seen to work")


def test_what_a_note_says_already_is_pointed_at():
    (found,) = shared([judged("a", finding("f1", "no Python 3.8 here"))], {"no Python 3.8 here": 4})
    assert found.causes == ("package acme, for reason 4",)


def test_an_unknown_cause_reads_as_one():
    unknown = Cause(kind="unknown", name="", why="it ended")
    broken = Finding(id="f1", phase=Phase.RUN, cause=unknown, causes=(unknown,))
    (alone,), (noted,) = (shared([judged("a", broken)], notes) for notes in ({}, {"it ended": 2}))
    assert alone.causes == ("cause unknown: it ended",)
    assert noted.causes == ("cause unknown; all that is known is reason 2",)


def test_cells_have_the_names_that_the_tables_give_them():
    (found,) = shared([judged("a", finding("f1", "it broke"))], host="studio ")
    assert found.cells == ("studio ma/r",)


def test_what_is_not_to_be_had_here_is_not_offered_for_proof():
    (found,) = shared([judged("a", finding("f1", "no such card", impossible="a card", next="envmgr diagnose R#a"))])
    assert found.state == "from evidence; it cannot be had here"
