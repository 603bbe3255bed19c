"""What saved models tell, in the bytes that libraries really wrote (text made of them as the disk gives it)."""

import base64
import json
import marshal
import sys

import pytest

from envmgr.infer.saved import of_saved

ATTRIBUTE = "\x19\x01\x00\x00\x10\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00\x00\x00\x00\x08\x00"
HEAP = "GCOL\x01\x00\x00\x00\x01\x00\x05\x00\x002.2.4\x00\x00\x00\x02\x00\n\x00\x00tensorflow\x00\x00\x03\x00"
OF_36 = "4wEAAAAAAAAAAQAAAAIAAABDAAAAcwgAAAB8AGQBFABTACkCTukCAAAAqQApAdoBeHICAAAAcgIA\\nAAD6B3NhdmUucHnaCDxsYW1iZGE+"
OF_38 = "4wEAAAAAAAAAAAAAAAEAAAACAAAAQwAAAHMIAAAAfABkARQAUwApAk7pAgAAAKkAKQHaAXhyAgAA"


def model(heap=HEAP, layers=""):
    return f"\x89HDF\r\n\x1a\nkeras_version\x00\x00{ATTRIBUTE}backend\x00{ATTRIBUTE}{heap}{layers}\x00"


def layer(code):
    config = {"name": "l", "trainable": True, "function": ["CODE", None]}
    return json.dumps({"class_name": "Lambda", "config": config}).replace("CODE", code)


def test_the_heap_of_a_model_tells_version_and_backend():
    told = [clock.says for clock in of_saved("m.h5", model())]
    assert told == ["keras_version 2.2.4", "backend tensorflow"]


@pytest.mark.parametrize(
    ("code", "saved"), [(OF_36, "3.7 or older"), (OF_38, "3.8 to 3.10"), ("AAAA" * 20, ""), ("4wEA", "")]
)
def test_the_bytecode_of_a_lambda_tells_which_pythons_can_have_saved_it(code, saved):
    (told,) = [clock.says for clock in of_saved("m.h5", model(layers=layer(code))) if "Lambda" in clock.says]
    assert "is read only by the Python minor that saved it" in told
    assert told.startswith(f"a Lambda layer, saved by Python {saved}:" if saved else "a Lambda layer:")


def test_what_this_python_writes_is_known_for_its_own():
    code = base64.b64encode(marshal.dumps((lambda x: x * 2).__code__)).decode()
    (told,) = [clock.says for clock in of_saved("m.h5", model(layers=layer(code))) if "Lambda" in clock.says]
    assert sys.version_info >= (3, 11)
    assert "saved by Python 3.11 or newer" in told
