from envmgr.diagnose.contents import Contents, Distribution

MARKERS = {"python_version": "3.11", "sys_platform": "linux"}


def test_unmet_requirements_are_absent_or_of_another_version():
    contents = Contents(
        (
            Distribution("a", "1", ("b<2", "c", "d; python_version < '3.8'", "e; extra == 'x'", "b>=1")),
            Distribution("b", "3"),
        )
    )
    assert [(lack.name, lack.found) for lack in contents.unmet(MARKERS)] == [("b", "3"), ("c", "")]


def test_two_owners_of_one_file_are_seen_and_a_shared_folder_is_not_enough():
    contents = Contents(
        (
            Distribution("x", "1", files=frozenset({"cv2/__init__.py"})),
            Distribution("y", "1", files=frozenset({"cv2/__init__.py"})),
            Distribution("z", "1", files=frozenset({"cv2/other.py"})),
        )
    )
    assert contents.shared() == (("x", "y"),)


def test_a_module_belongs_to_the_nearest_package_that_installs_it():
    contents = Contents(
        (
            Distribution("plaidml", "1", modules=frozenset({"plaidml", "plaidml.op"})),
            Distribution(
                "plaidml-keras", "1", modules=frozenset({"plaidml", "plaidml.keras", "plaidml.keras.backend"})
            ),
        )
    )
    assert contents.owner_of("plaidml.keras.backend.x") == "plaidml-keras"
    assert contents.owner_of("plaidml") == "plaidml"
    assert contents.owner_of("elsewhere") == ""
