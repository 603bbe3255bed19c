from envmgr.diagnose.knowledge import (
    cap_for_lost_module,
    distributions_for,
    families,
    in_standard_library,
    last_python_with,
    rivals,
)


def test_names_that_left_the_standard_library_are_known_by_their_last_python():
    assert last_python_with("distutils.version") == "3.11"
    assert last_python_with("collections", "Mapping") == "3.9"
    assert last_python_with("exceptions") == "2.7"
    assert last_python_with("json") == ""


def test_a_module_leads_to_the_distributions_that_install_it():
    assert distributions_for("cv2")[0] == "opencv-python"
    assert distributions_for("docx")[0] == "python-docx"
    assert distributions_for("redis") == ("redis",)


def test_rivals_install_the_same_module():
    assert "opencv-python-headless" in rivals("opencv-python")
    assert rivals("tensorflow-macos")[0] == "tensorflow-cpu"


def test_what_belongs_to_python_is_told_from_what_does_not():
    assert in_standard_library("distutils")
    assert in_standard_library("secrets")
    assert not in_standard_library("numpy")
    assert not in_standard_library("ConfigParser")


def test_every_family_says_why():
    assert all(len(members) > 1 and why for _, members, why in families())
    assert cap_for_lost_module("pkg_resources") == ("setuptools", "82")
