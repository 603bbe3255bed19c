"""A script's code out of files: plain text, notebooks of both forms, cells that only IPython reads."""

import json

from envmgr.infer.source import read_source


def notebook(cells, **metadata):
    return json.dumps({"nbformat": 4, "cells": cells, "metadata": metadata})


def code(*lines):
    return {"cell_type": "code", "source": [f"{line}\n" for line in lines]}


def test_a_plain_script_is_its_own_code():
    assert read_source("a.py", "import os\n").code == "import os\n"


def test_magics_go_and_their_lines_stay():
    text = notebook([code("%matplotlib inline", "import numpy as np", "files = !ls", "np.zeros?")])
    assert read_source("a.ipynb", text).code.split("\n") == [
        "pass",
        "import numpy as np",
        "files = None",
        "pass",
        "",
        "",
    ]


def test_a_magic_in_a_block_keeps_its_place():
    text = notebook([code("if True:", "    %timeit x")])
    compile(read_source("a.ipynb", text).code, "a", "exec")


def test_cells_in_other_languages_and_prose_are_left_out():
    cells = [code("%%bash", "ls"), {"cell_type": "markdown", "source": "import lost"}, code("%%time", "import kept")]
    found = read_source("a.ipynb", notebook(cells)).code
    assert "import kept" in found
    assert "ls" not in found
    assert "lost" not in found


def test_what_a_notebook_installs_and_its_kernel_are_told():
    text = notebook([code("!pip install keras==2.0.8")], language_info={"version": "3.5.2"})
    found = read_source("a.ipynb", text)
    assert found.installs == ("keras==2.0.8",)
    assert found.kernel == "3.5"


def test_a_kernel_of_python_2_is_told_by_its_name_alone():
    assert read_source("a.ipynb", notebook([], kernelspec={"name": "python2"})).kernel == "2"


def test_the_older_form_of_notebooks_is_read():
    cells = [{"cell_type": "code", "input": ["import theano\n"]}]
    assert "import theano" in read_source("a.ipynb", json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]})).code


def test_a_notebook_that_is_none_is_taken_for_code():
    assert read_source("a.ipynb", "import os").code == "import os"


def test_a_byte_order_mark_is_no_part_of_the_code():
    assert read_source("a.py", "\ufeffimport os\n").code == "import os\n"
    assert "import os" in read_source("a.ipynb", "\ufeff" + notebook([code("import os")])).code


def test_what_is_no_text_is_told_and_a_name_in_another_encoding_is_text():
    assert read_source("a.py", "PK\x03\x04\x00\x00").garbled
    assert read_source("a.py", "\ufffd\ufffdimport os").garbled
    assert not read_source("a.py", "# by Andr\ufffd\nimport os\n" + "x = 1\n" * 10).garbled


def test_the_language_of_a_notebook_is_told_when_it_is_not_python():
    assert read_source("a.ipynb", notebook([], language_info={"name": "R"})).language == "R"
    assert read_source("a.ipynb", notebook([], kernelspec={"name": "ir", "language": "R"})).language == "R"
    assert read_source("a.ipynb", notebook([], language_info={"name": "ipython"})).language == ""
