"""Which devices TensorFlow, 1 or 2, lists here. Standard library of Python 3.6 and TensorFlow only."""

import argparse
import importlib
import io
import json
import os
import platform
import re
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

# [shared: prologue] The same text stands in every probe: a probe imports no sibling.
Listing = Dict[str, Any]


def new_listing(backend: str) -> Listing:
    facts = {"python": platform.python_version(), "machine": platform.machine(), "system": sys.platform}
    if sys.platform == "darwin":
        facts["macos"] = platform.mac_ver()[0]
    return {
        "backend": backend,
        "version": "",
        "devices": [],
        "kinds": [],
        "built": {},
        "available": {},
        "reasons": {},
        "facts": facts,
        "error": "",
        "error_phase": None,
    }


def serve(backend: str, fill: Callable[[Listing, Optional[str]], None]) -> None:
    """Answer one request: {"device": null} lists devices, an id also tries a small operation on it."""
    parser = argparse.ArgumentParser(description="Lists what %s offers in this environment." % backend)
    parser.add_argument("--request", required=True)
    parser.add_argument("--report", required=True)
    options = parser.parse_args()
    with io.open(options.request, encoding="utf-8") as stream:
        request = json.load(stream)
    listing = new_listing(backend)
    listing["error_phase"] = "import"
    try:
        fill(listing, request.get("device"))
        listing["error_phase"] = None
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        first_line = (str(error).strip().splitlines() or [""])[0]
        listing["error"] = "%s: %s" % (type(error).__name__, first_line) if first_line else type(error).__name__
    aside = options.report + ".part"
    with io.open(aside, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(listing))
    os.replace(aside, options.report)


# [end of shared: prologue]


# [shared: operation] The same text in every probe that tries a device.
SIZE = 16
Matrix = List[List[float]]


def operands() -> Tuple[Matrix, Matrix, Matrix]:
    """Two small matrices of whole numbers and their exact product."""
    places = range(SIZE)
    left = [[float((row * 3 + column * 5) % 7 - 3) for column in places] for row in places]
    right = [[float((row * 2 + column * 3) % 5 - 2) for column in places] for row in places]
    product = [[sum(left[row][k] * right[k][column] for k in places) for column in places] for row in places]
    return left, right, product


def note_operation(listing: Listing, device: str, found: Matrix, seconds: float) -> None:
    """Compare a product with the exact one; what was found, and how far off, are facts of the listing."""
    wanted = operands()[2]
    whole = len(found) == SIZE and all(len(row) == SIZE for row in found)
    differences = [abs(wanted[row][column] - found[row][column]) for row in range(SIZE) for column in range(SIZE)]
    sound = whole and all(difference <= 1e-3 for difference in differences)  # also False for what is not a number
    listing["facts"].update(
        {
            "operation": "right" if sound else "wrong",
            "operation_device": device,
            "operation_deviation": "%g" % max(differences),
            "operation_seconds": "%.6f" % seconds,
        }
    )


# [end of shared: operation]


def description_of(device: Any) -> str:
    """The card's name from what TensorFlow says of a device, or its whole text."""
    text = str(getattr(device, "physical_device_desc", ""))
    found = re.search(r"name: ([^,]+)", text)
    return found.group(1) if found else text


def fill(listing: Listing, device: Optional[str]) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    tensorflow = importlib.import_module("tensorflow")
    listing["version"] = str(tensorflow.__version__)
    listing["error_phase"] = "backend"
    cuda = bool(tensorflow.test.is_built_with_cuda())
    listing["built"]["cuda"] = cuda
    client = importlib.import_module("tensorflow.python.client.device_lib")
    local = client.list_local_devices()
    for each in local:
        identity = each.name.rpartition("device:")[2]
        kind = identity.partition(":")[0]
        if kind.startswith("XLA_"):
            continue
        api = {"CPU": "cpu", "GPU": "metal" if sys.platform == "darwin" else "cuda"}.get(kind, kind.lower())
        detail = description_of(each)
        physical = "cpu" if api == "cpu" else detail
        listing["devices"].append({"id": identity, "api": api, "physical": physical, "detail": detail})
        if api not in listing["kinds"]:
            listing["kinds"].append(api)
    listing["available"]["cuda"] = any(each["api"] == "cuda" for each in listing["devices"])
    if not listing["available"]["cuda"]:
        built = "this TensorFlow has CUDA and finds no usable card or CUDA library"
        listing["reasons"]["cuda"] = built if cuda else "this TensorFlow was built without CUDA"
    if device:
        listing["error_phase"] = "run"
        multiply(tensorflow, listing, device)


def multiply(tensorflow: Any, listing: Listing, device: str) -> None:
    left, right, _ = operands()
    start = time.perf_counter()
    with tensorflow.device("/device:" + device):
        product = tensorflow.matmul(tensorflow.constant(left), tensorflow.constant(right))
    if hasattr(product, "numpy"):
        used, found = product.device, product.numpy().tolist()
    else:
        used = product.device
        with tensorflow.Session() as session:
            found = session.run(product).tolist()
    note_operation(listing, used.rpartition("device:")[2], found, time.perf_counter() - start)


if __name__ == "__main__":
    serve("tensorflow", fill)
