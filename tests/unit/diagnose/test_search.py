import re

from envmgr.diagnose.refine import Refinement
from envmgr.diagnose.requirement import read_line
from envmgr.diagnose.search import Search
from envmgr.diagnose.verdict import solved, unsolved
from envmgr.diagnose.worlds import asked, difference
from envmgr.model.finding import FileChanges, Variables


def admitted(world, planted, name):
    """The version that a resolver would take: the newest that the world's requirement and date admit."""
    line = next((read_line(text) for text in asked(world) if read_line(text).key == name), None)
    known = planted.releases(name)
    fitting = [r for r in known if (line is None or line.admits(str(r.version)))]
    fitting = [r for r in fitting if not world.exclude_newer or r.uploaded <= world.exclude_newer]
    return fitting[-1].version.major if fitting else None


def find(planted, world):
    journal = planted.journal(world)

    def situation(changed, seen):
        return planted.situation(world, changed, seen)

    search = Search(journal, situation)
    solution = search.solve(world, journal.observe([world])[0])
    first = situation(world, journal.observe([world])[0])
    if solution is None:
        return unsolved(first, journal.experiments, search.furthest)
    refined = Refinement(journal, first, lambda: 0.0).refine(solution)
    return solved(first, refined, journal.experiments, confirmed=True)


def test_a_variable_that_breaks_it_is_unset(planted, world):
    planted.variables = {"ALPHA_MODE": "odd", "OTHER": "x"}
    planted.rule = lambda w: "" if "ALPHA_MODE" in w.variables.unset else "ValueError: ALPHA_MODE is odd"
    finding = find(planted, world)
    assert (finding.cause.kind, finding.cause.name) == ("env-state", "ALPHA_MODE")
    assert finding.fix.env == Variables(unset=("ALPHA_MODE",))


def test_without_any_text_the_culprit_among_many_variables_is_found(planted, world):
    planted.variables = {f"NAME_{letter}": "x" for letter in "ABCDEFGH"}
    planted.rule = lambda w: "" if "NAME_F" in w.variables.unset else " "
    assert find(planted, world).fix.env.unset == ("NAME_F",)


def test_a_file_that_shadows_the_standard_library_goes(planted, world):
    planted.files = {"cwd/secrets.py": "", "cwd/mine.py": ""}
    planted.rule = lambda w: (
        "" if "cwd/secrets.py" in w.files.remove else "ImportError: cannot import name 'x' from 'secrets'"
    )
    finding = find(planted, world)
    assert finding.fix.files == FileChanges(remove=("cwd/secrets.py",))
    assert finding.cause.name == "secrets.py"


def test_what_came_after_the_pin_is_capped_at_its_exact_boundary(planted, world, distribution):
    planted.release("alpha", ("1.0", "2020-01-10"))
    planted.release("beta", ("1.0", "2019-06-01"), ("2.0", "2021-01-01"), ("3.0", "2022-01-01"), ("4.0", "2023-01-01"))
    planted.installed = (distribution("alpha", "1.0", modules=frozenset({"alpha"})), distribution("beta", "4.0"))

    def rule(w):
        version = admitted(w, planted, "beta")
        planted.installed = (planted.installed[0], distribution("beta", f"{version}.0"))
        return "" if version < 3 else "AttributeError: module 'beta' has no attribute 'old'"

    planted.rule = rule
    finding = find(planted, world)
    assert finding.cause.name == "beta"
    assert finding.fix.requirements == ("alpha==1.0", "beta<3.0")


def test_a_pin_that_lost_a_name_moves_to_the_nearest_release_that_has_it(planted, world, distribution):
    days = [(f"{major}.{minor}", f"20{10 + major}-0{minor + 1}-01") for major in (1, 2, 3) for minor in range(5)]
    planted.release("alpha", *days)

    def rule(w):
        line = read_line(asked(w)[0])
        version = [r.version for r in planted.releases("alpha") if line.admits(str(r.version))][-1]
        planted.installed = (distribution("alpha", str(version), modules=frozenset({"alpha"})),)
        return "" if version.release <= (2, 1) else "AttributeError: module 'alpha' has no attribute 'old'"

    planted.rule = rule
    finding = find(planted, world.model_copy(update={"requirements": ("alpha==3.4",)}))
    assert finding.fix.requirements == ("alpha==2.1",)
    assert "alpha 2.1 works, 2.2 breaks" in finding.cause.why


def test_the_nearest_release_is_looked_for_with_the_extras_that_were_asked_for(planted, world, distribution):
    planted.release("alpha", *((f"{major}.{minor}", "2020-01-01") for major in (1, 2, 3) for minor in range(5)))

    def rule(w):
        line = read_line(asked(w)[0])
        version = [r.version for r in planted.releases("alpha") if line.admits(str(r.version))][-1]
        planted.installed = (distribution("alpha", str(version), modules=frozenset({"alpha"})),)
        good = version.release <= (2, 1) and line.extras == ("fast",)
        return "" if good else "AttributeError: module 'alpha' has no attribute 'old'"

    planted.rule = rule
    finding = find(planted, world.model_copy(update={"requirements": ("alpha[fast]==3.4",)}))
    assert finding.fix.requirements == ("alpha[fast]==2.1",)


def test_an_older_release_that_gets_stuck_earlier_is_given_the_companions_of_its_time(planted, world, distribution):
    planted.release("alpha", ("1.0", "2019-01-10"), ("2.0", "2023-01-10"))
    planted.release("beta", ("1.0", "2018-06-01"), ("2.0", "2022-01-01"))
    planted.probe = "import alpha; alpha.old()"
    frame = 'Traceback (most recent call last):\n  File "{}", line 3, in {}\n'
    lost = frame.format("/e/lib/python3.10/site-packages/alpha/core.py", "__getattr__")
    stuck = frame.format("/e/lib/python3.10/site-packages/beta/core.py", "<module>")

    def rule(w):
        alpha, beta = (admitted(w, planted, name) for name in ("alpha", "beta"))
        planted.installed = (
            distribution("alpha", f"{alpha}.0", modules=frozenset({"alpha", "alpha.core"})),
            distribution("beta", f"{beta}.0", modules=frozenset({"beta", "beta.core"})),
        )
        if alpha == 2:
            return f"{lost}AttributeError: 'Table' object has no attribute 'old'\n"
        return f"{stuck}ImportError: beta 2 is too new\n" if beta == 2 else ""

    planted.rule = rule
    finding = find(planted, world.model_copy(update={"requirements": ("alpha==2.0",)}))
    assert finding.fix.requirements == ("alpha==1.0", "beta<2.0")


def test_what_was_missing_and_does_not_build_is_given_what_its_build_needs(planted, world):
    planted.release("beta", ("1.0", "2020-01-01"), tag=None)
    planted.probe = "import beta"

    def rule(w):
        if "beta" not in asked(w):
            return "ModuleNotFoundError: No module named 'beta'"
        lacks = "Failed to build `beta==1.0`\nModuleNotFoundError: No module named 'gamma'"
        return "" if "gamma" in w.build_requires.get("beta", ()) else f"build:{lacks}"

    planted.rule = rule
    finding = find(planted, world)
    assert (finding.fix.requirements, finding.fix.build_requires) == (("alpha==1.0", "beta"), {"beta": ("gamma",)})
    assert finding.cause.name == "beta"


def test_an_older_python_is_taken_for_a_name_that_python_lost(planted, world):
    text = "ImportError: cannot import name 'Iterable' from 'collections' (x)"
    planted.rule = lambda w: "" if w.python in {"3.8", "3.9"} else text
    finding = find(planted, world)
    assert finding.fix.python == "3.9"
    assert finding.cause.kind == "python"


def test_a_second_failure_behind_the_first_is_followed(planted, world, distribution):
    planted.variables = {"ALPHA_MODE": "odd"}
    planted.release("gamma", ("1.0", "2020-01-01"))

    def rule(w):
        if "ALPHA_MODE" not in w.variables.unset:
            return "ValueError: ALPHA_MODE is odd"
        return "" if any("gamma" in line for line in asked(w)) else "ModuleNotFoundError: No module named 'gamma'"

    planted.rule = rule
    finding = find(planted, world)
    assert {cause.name for cause in finding.causes} == {"ALPHA_MODE", "gamma"}
    assert finding.fix.env.unset == ("ALPHA_MODE",)
    assert "gamma" in finding.fix.requirements


def test_an_extra_that_is_not_needed_is_left_out_of_the_fix(planted, world):
    planted.variables = {"A_ONE": "1", "B_TWO": "2", "C_THREE": "3"}
    planted.rule = lambda w: "" if {"A_ONE", "C_THREE"} <= set(w.variables.unset) else " "
    assert set(find(planted, world).fix.env.unset) == {"A_ONE", "C_THREE"}


def test_where_nothing_helps_nothing_is_claimed(planted, world):
    planted.rule = lambda _: "RuntimeError: no"
    finding = find(planted, world)
    assert finding.fix is None
    assert not finding.confirmed
    assert all(experiment.outcome != "passed" for experiment in finding.experiments)


def test_a_marker_that_keeps_out_what_is_imported_is_dropped(planted, world):
    world = world.model_copy(update={"requirements": ('tomli; python_version < "3.9"',)})
    planted.probe = "import tomli"
    planted.rule = lambda w: "" if asked(w) == ("tomli",) else "ModuleNotFoundError: No module named 'tomli'"
    finding = find(planted, world)
    assert finding.fix == difference(world, world.model_copy(update={"requirements": ("tomli",)}))


def test_a_build_that_no_index_has_becomes_the_plain_version(planted, world):
    planted.release("alpha", ("1.0", "2020-01-01"))
    world = world.model_copy(update={"requirements": ("alpha==1.0+cu126",)})
    planted.rule = lambda w: "resolve: no solution" if re.search(r"\+", asked(w)[0]) else ""
    assert find(planted, world).fix.requirements == ("alpha==1.0",)


def test_what_made_the_failure_move_on_is_told_where_nothing_passes(planted, world):
    planted.variables = {"ALPHA_MODE": "odd"}
    trace = 'Traceback (most recent call last):\n  File "<string>", line {}, in <module>\nValueError: {}'
    planted.rule = lambda w: trace.format(
        *((5, "no") if "ALPHA_MODE" in w.variables.unset else (2, "ALPHA_MODE is odd"))
    )
    finding = find(planted, world)
    assert finding.fix is None
    assert not finding.impossible
    assert ("env-state", "ALPHA_MODE") in {(cause.kind, cause.name) for cause in finding.causes}
