"""What saved models and pickles tell of the libraries that wrote them: read as text, never loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.model.inference import Clock

_KERAS = re.compile(r"keras_version\W{1,12}(\d+\.\d+\.\d+)")
_BACKEND = re.compile(
    r"\"backend\"\W{1,6}(tensorflow|theano|cntk|plaidml|jax|torch)|backend[^\w]{1,40}(tensorflow|theano|cntk|plaidml)"
)
_HEAP = re.compile(r"(?<![\w.])(\d\.\d{1,2}\.\d{1,2})(?:-tf)?(?![\w.])")
_LAMBDA = re.compile(r"\"class_name\":\s*\"Lambda\"")
_LEARNED = re.compile(r"_sklearn_version[^.]{1,14}?(\d+\.\d+(?:\.\d+)?)", re.DOTALL)
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
    backend = _BACKEND.search(text)
    if backend:
        yield Clock(kind="model", where=name, says=f"backend {backend[1] or backend[2]}", name=backend[1] or backend[2])
    if _LAMBDA.search(text):
        says = "a Lambda layer: its bytecode is read only by the Python minor that saved it"
        yield Clock(kind="model", where=name, says=says)
