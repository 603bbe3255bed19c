"""Where modules come from: told apart without a network."""

import ast

from envmgr.infer.naming import Names, origins, wanted
from envmgr.infer.surface import surface_of

INDEX = {"pillow", "numpy", "matplotlib", "basemap", "pyyaml", "simplejson"}


def names(seen=None):
    known = {"PIL": ("pillow",), "yaml": ("pyyaml",), "mpl_toolkits": ("basemap",)}
    return Names(
        standard=lambda module: module in {"os", "json", "pickle", "imp"},
        last_python=lambda module: {"imp": "3.11", "urllib2": "2.7", "cPickle": "2.7"}.get(module, ""),
        distributions=lambda module: known.get(module, (module,)),
        exists=lambda name: name in INDEX,
        seen=seen or {},
    )


def read(code, local=(), seen=None):
    surfaces = [surface_of(ast.parse(code))]
    found = origins(surfaces, local, names(seen))
    return found, wanted(surfaces, found, names(seen))


def kinds(code, local=(), seen=None):
    return {origin.module: (origin.kind, origin.distribution) for origin in read(code, local, seen)[0]}


def test_every_kind_is_told_apart():
    assert kinds("import os, PIL.Image, urllib2, helper, bpy", local={"helper"}) == {
        "os": ("standard-library", ""),
        "PIL": ("distribution", "pillow"),
        "urllib2": ("python-2", ""),
        "helper": ("local", ""),
        "bpy": ("unreachable", ""),
    }


def test_a_file_beside_the_script_goes_before_an_index():
    assert kinds("import numpy", local={"numpy"}) == {"numpy": ("local", "")}


def test_what_left_the_standard_library_says_when():
    assert read("import imp")[0][0].why == "the last Python to have it is 3.11"


def test_a_module_of_a_wheel_that_is_there_anyway_needs_no_other():
    seen = {"mpl_toolkits": ("matplotlib",), "matplotlib": ("matplotlib",)}
    assert kinds("import matplotlib, mpl_toolkits", seen=seen)["mpl_toolkits"] == ("distribution", "matplotlib")


def test_of_alternatives_the_one_in_the_standard_library_is_enough():
    _, sought = read("try:\n    import simplejson as json\nexcept ImportError:\n    import json")
    assert sought == ()


def test_of_alternatives_one_that_can_be_had_is_wanted():
    _, sought = read("try:\n    import cPickle as p\nexcept ImportError:\n    import simplejson as p")
    assert [(one.module, one.required) for one in sought] == [("simplejson", True)]


def test_an_import_in_a_function_is_wanted_and_not_required():
    _, sought = read("def f():\n    import yaml")
    assert [(one.module, one.candidates, one.required) for one in sought] == [("yaml", ("pyyaml",), False)]
