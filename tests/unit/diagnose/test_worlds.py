from envmgr.diagnose.worlds import (
    apply,
    asked,
    describe,
    difference,
    parts,
    with_files,
    with_requirement,
    with_variables,
    without_requirement,
)
from envmgr.model.finding import Edit, FileChanges, Variables, World
from envmgr.model.manifest import Step

BASE = World(python="3.8", requirements=("a==1", "b"))
HISTORY = World(python="3.8", steps=(Step(install=("a==1",)), Step(install=("b==2",), flags=("--no-deps",))))


def test_a_difference_applied_gives_the_other_world():
    other = with_variables(with_requirement(BASE, "b<2"), Variables(set={"X": "1"}, unset=("Y",)))
    other = other.model_copy(update={"python": "3.9", "exclude_newer": "2020-01-01"})
    assert apply(BASE, difference(BASE, other)) == other


def test_a_difference_leaves_out_what_is_the_same():
    fix = difference(BASE, with_requirement(BASE, "c"))
    assert fix.model_dump(exclude_none=True) == {"requirements": ("a==1", "b", "c")}


def test_a_requirement_of_a_history_is_exchanged_where_it_stands():
    changed = with_requirement(HISTORY, "b==3")
    assert [step.install for step in changed.steps] == [("a==1",), ("b==3",)]
    assert changed.steps[1].flags == ("--no-deps",)
    assert asked(without_requirement(HISTORY, "b")) == ("a==1",)


def test_each_part_can_be_undone_alone():
    other = with_variables(with_requirement(BASE, "b<2"), Variables(unset=("Y",)))
    found = {part.name: part.rest for part in parts(BASE, other)}
    assert found["b<2"].requirements == BASE.requirements
    assert found["unset Y"].variables == Variables()
    assert set(found) == {"b<2", "unset Y"}


def test_a_removed_file_and_an_edit_are_parts():
    other = with_files(BASE, FileChanges(remove=("cwd/a.py",), edit=(Edit(path="home/x.json", key="k"),)))
    assert [part.name for part in parts(BASE, other)] == ["remove cwd/a.py", "edit home/x.json"]


def test_a_change_is_described_in_words():
    other = with_variables(with_requirement(BASE, "b<2"), Variables(unset=("Y",)))
    assert describe(BASE, other) == "b<2; without Y"
    assert describe(BASE, BASE) == "nothing changed"
