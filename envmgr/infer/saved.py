"""What saved models and pickles tell of the libraries that wrote them: read as text, never loaded."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator

from envmgr.model.inference import Clock

_KERAS = re.compile(r"keras_version\W{1,12}(\d+\.\d+\.\d+)")
_BACKEND = re.compile(
    r"\"backend\"\W{1,6}(tensorflow|theano|cntk|plaidml|jax|torch)|backend[^\w]{1,40}(tensorflow|theano|cntk|plaidml)"
)
_HEAP_BACKEND = re.compile(r"\x00(tensorflow|theano|cntk|plaidml)\x00")
_HEAP = re.compile(r"(?<![\w.])(\d\.\d{1,2}\.\d{1,2})(?:-tf)?(?![\w.])")
_LAMBDA = re.compile(r"\"class_name\":\s*\"Lambda\"(?:[^\x00]{0,200}?\"function\":\s*\[\"(?P<code>[\w+/=\\]{32,}))?")
_LEARNED = re.compile(r"_sklearn_version[^.]{1,14}?(\d+\.\d+(?:\.\d+)?)", re.DOTALL)
_CODE, _BYTES = 0xE3, (b"s", b"\xf3")
ENDINGS = (".h5", ".hdf5", ".keras", ".pkl", ".pickle", ".joblib")
"""The ends of names of the files that are worth a look."""


def of_saved(name: str, text: str) -> Iterator[Clock]:
    """Yield what a file of one of the `ENDINGS` tells; `text` is its content with bytes that are no text replaced."""
    if name.endswith((".pkl", ".pickle", ".joblib")):
        for version in dict.fromkeys(_LEARNED.findall(text)):
            yield Clock(kind="pickle", where=name, says=f"scikit-learn {version}", name="scikit-learn", version=version)
        return
    if "keras_version" not in text:
        return
    version = _KERAS.search(text) or _HEAP.search(text, max(text.find("GCOL"), 0))
    if version:
        yield Clock(kind="model", where=name, says=f"keras_version {version[1]}", name="keras", version=version[1])
    said = _BACKEND.search(text)
    heap = _HEAP_BACKEND.search(text, max(text.find("GCOL"), 0)) if "backend" in text else None
    backend = (said[1] or said[2]) if said else (heap[1] if heap else "")
    if backend:
        yield Clock(kind="model", where=name, says=f"backend {backend}", name=backend)
    layer = _LAMBDA.search(text)
    if layer:
        saved = _saved_by(layer["code"] or "")
        says = f"a Lambda layer{saved}: its bytecode is read only by the Python minor that saved it"
        yield Clock(kind="model", where=name, says=says)


def _saved_by(code: str) -> str:
    """Return which Pythons can have written a marshalled function, by the numbers at its head; it is never loaded."""
    try:
        head = base64.b64decode(code.replace("\\n", "")[:40])
        kind, *numbers = struct.unpack("<B6i", head[:25])
    except (ValueError, struct.error):
        return ""
    if kind != _CODE:
        return ""
    if head[25:26] in _BYTES:
        return ", saved by Python 3.8 to 3.10"
    arguments, _, third = numbers[:3]
    if head[21:22] not in _BYTES or not arguments:
        return ""
    return ", saved by Python 3.7 or older" if third >= arguments else ", saved by Python 3.11 or newer"
