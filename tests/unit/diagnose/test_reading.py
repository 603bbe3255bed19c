import pytest

from envmgr.diagnose.reading import read, telling_lines

CHAIN = """Traceback (most recent call last):
  File "/x/lib/python3.11/site-packages/first/a.py", line 3, in load
    raise KeyError('k')
KeyError: 'k'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/x/lib/python3.11/site-packages/second/__init__.py", line 7, in <module>
    from collections import Iterable
ImportError: cannot import name 'Iterable' from 'collections' (/usr/lib/python3.11/collections/__init__.py)
"""


def test_the_last_exception_of_a_chain_and_its_frames_count():
    reading = read(CHAIN)
    assert reading.exception == "ImportError"
    assert [frame.top for frame in reading.frames] == ["", "second"]
    assert reading.names == (("collections", "Iterable"),)


def test_a_missing_module_is_named_with_its_dots():
    assert read("ModuleNotFoundError: No module named 'a.b.c'").missing == "a.b.c"


def test_a_lost_attribute_names_its_module():
    assert read("AttributeError: module 'numpy' has no attribute 'object'.").names == (("numpy", "object"),)


def test_two_texts_of_one_failure_have_one_signature_and_another_line_has_another():
    one = read(CHAIN)
    assert one.signature == read(CHAIN.replace("/x/", "/elsewhere/")).signature
    assert one.signature != read(CHAIN.replace("line 7", "line 8")).signature


def test_a_word_is_found_only_as_a_word_of_its_own():
    reading = read("the keras package")
    assert reading.says("keras")
    assert not read("the tf_keras_x package").says("keras")


def test_telling_lines_end_with_the_last_line():
    assert telling_lines("error: one\nnoise\nthe end")[-1] == "the end"
    assert telling_lines("") == ()


def test_variables_and_libraries_are_found():
    reading = read("OSError: libfoo.so.1: cannot open; set MY_FLAG=1")
    assert reading.libraries == ("libfoo.so.1",)
    assert "MY_FLAG" in reading.variables


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["a" * 300_000, "The '" + "a" * 300_000, "a.b-" * 80_000, "\n" * 300_000, " " * 300_000]
)
def test_lines_without_an_end_are_read_at_once(text):
    found = read(f"{text}\nImportError: libcuda.so.1: cannot open shared object file\n")
    assert (found.exception, found.libraries) == ("ImportError", ("libcuda.so.1",))
