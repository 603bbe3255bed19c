import pytest

from envmgr.diagnose.requirement import key_of, pins, read_line, with_line, without


@pytest.mark.parametrize(
    "text",
    ["a==1", "A.b[x,y]>=2,<3", "a @ https://host/a-1.whl", "a==1; python_version<'3.8'", "a[i18n]==3.1.6", "a"],
)
def test_a_line_says_the_same_after_reading_and_writing(text):
    line = read_line(text)
    assert read_line(line.text()) == line


@pytest.mark.parametrize("text", ["", "-r file.txt", "--pre", "./folder", "https://host/x.whl"])
def test_what_is_no_requirement_is_none(text):
    assert read_line(text) is None


def test_only_exact_versions_are_pins():
    assert pins(["a==1.0", "b>=2", "C_d===3+cpu", "e==1.*"]) == {"a": "1.0", "c-d": "3+cpu"}


def test_a_line_takes_the_place_of_that_for_the_same_distribution():
    assert with_line(("A_b==1", "c"), "a-b<2") == ("a-b<2", "c")
    assert with_line(("c",), "d") == ("c", "d")


def test_a_line_for_another_version_keeps_the_extras_that_were_asked_for():
    assert with_line(("a[fast, more]==1", "c"), "a<2") == ("a[fast,more]<2", "c")
    assert with_line(("a[fast]==1",), "a[slow]<2") == ("a[slow]<2",)
    assert with_line(("a[fast]==1",), "a @ https://host/a-1.whl") == ("a[fast] @ https://host/a-1.whl",)
    assert without(("A_b==1", "c"), key_of("a.b")) == ("c",)


def test_a_marker_is_judged_for_a_python():
    line = read_line('tomli; python_version<"3.11"')
    assert line.applies("3.10")
    assert not line.applies("3.11")
