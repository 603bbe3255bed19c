"""Imports with their circumstances, and the chains of names used from them."""

import ast

import pytest

from envmgr.infer.surface import surface_of


def surface(code):
    return surface_of(ast.parse(code))


def necessities(code):
    return {each.module: each.necessity for each in surface(code).imports}


def names(code, *, required=None):
    return sorted(use.name for use in surface(code).uses if required in {None, use.required})


def test_imports_at_the_top_are_required_and_those_in_functions_are_not():
    assert necessities("import a.b\ndef f():\n    import c") == {"a.b": "required", "c": "function"}


def test_what_may_fail_is_optional():
    assert necessities("try:\n    import a\nexcept ImportError:\n    a = None") == {"a": "optional"}


def test_a_handler_that_gives_up_makes_it_required_again():
    code = "import sys\ntry:\n    import a\nexcept ImportError:\n    sys.exit(1)"
    assert necessities(code)["a"] == "required"


def test_alternatives_stand_in_one_group():
    found = surface("try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle")
    assert [[each.module for each in branch] for branch in found.groups[0]] == [["cPickle"], ["pickle"]]
    assert {each.necessity for each in found.imports} == {"alternative"}


def test_alternatives_within_alternatives_are_branches_of_one_group():
    code = (
        "try:\n    import a\nexcept ImportError:\n    try:\n        import b\n    except ImportError:\n        import c"
    )
    found = surface(code)
    assert len(found.groups) == 1
    assert [[each.module for each in branch] for branch in found.groups[0]] == [["a"], ["b"], ["c"]]


def test_a_branch_for_another_python_is_optional():
    code = "import sys\nif sys.version_info[0] < 3:\n    import urllib2\nelse:\n    import urllib.request"
    assert necessities(code) == {"sys": "required", "urllib2": "optional", "urllib.request": "optional"}


def test_chains_are_followed_from_aliases_packages_and_names():
    code = (
        "import numpy as np\nimport keras.utils\nfrom os import path\n"
        "np.linalg.norm(1).sum()\nkeras.utils.np_utils.to_categorical\npath.join"
    )
    assert names(code) == ["keras.utils.np_utils.to_categorical", "numpy.linalg.norm", "os.path.join"]


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nnp = None\nnp.float",
        "import numpy as np\ndef f(np):\n    return np.float",
        "import numpy as np\nfor np in []:\n    np.float",
        "import a as x\nimport b as x\nx.y",
    ],
)
def test_a_name_that_means_other_things_as_well_is_left_alone(code):
    assert names(code) == []


def test_what_is_written_to_is_not_looked_up():
    assert names("import a\na.b.c = 3\na.d = 4") == ["a.b"]


@pytest.mark.parametrize(
    "code",
    [
        "import a\nif hasattr(a, 'b'):\n    a.b",
        "import a\ntry:\n    a.b\nexcept AttributeError:\n    pass",
        "try:\n    import a\nexcept ImportError:\n    a = 1\nelse:\n    pass\nimport c as a2\ntry:\n    a2.b\nexcept Exception:\n    pass",
    ],
)
def test_a_name_that_is_asked_for_with_care_is_not_required(code):
    assert names(code, required=True) == []


def test_relative_imports_are_the_authors_own():
    found = surface("from . import helper\nfrom .data import load\nhelper.x")
    assert found.relative == ("helper", "data")
    assert found.imports == ()
    assert found.uses == ()
