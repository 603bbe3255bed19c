"""Which devices JAX lists here. Standard library of Python 3.6 and JAX only."""

import argparse
import importlib
import io
import json
import os
import platform
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


PLATFORMS = ("cpu", "cuda", "rocm", "tpu", "METAL")


def platform_devices(jax: Any, name: str, listing: Listing) -> List[Any]:
    """The devices of one platform; why there are none is a reason of the listing."""
    try:
        found = list(jax.devices(name))
    except Exception as error:
        listing["reasons"][name.lower()] = (str(error).splitlines() or [type(error).__name__])[0]
        return []
    return found


def fill(listing: Listing, device: Optional[str]) -> None:
    jax = importlib.import_module("jax")
    listing["version"] = str(jax.__version__)
    listing["error_phase"] = "backend"
    jaxlib = importlib.import_module("jaxlib.version")
    listing["facts"]["jaxlib"] = str(jaxlib.__version__)
    listing["facts"]["default"] = "{0.platform}:{0.id}".format(jax.devices()[0])
    known = {}  # type: Dict[str, Any]
    for name in PLATFORMS:
        found = platform_devices(jax, name, listing)
        api = name.lower()
        listing["available"][api] = bool(found)
        if found:
            listing["kinds"].append(api)
        for each in found:
            identity = "{0.platform}:{0.id}".format(each)
            known[identity.lower()] = each
            physical = "cpu" if api == "cpu" else str(each.device_kind)
            listing["devices"].append(
                {"id": identity, "api": api, "physical": physical, "detail": str(each.device_kind)}
            )
    if device:
        listing["error_phase"] = "run"
        if device.lower() not in known:
            raise RuntimeError("JAX has no device %s: found %s" % (device, ", ".join(sorted(known))))
        multiply(jax, listing, known[device.lower()])


def multiply(jax: Any, listing: Listing, place: Any) -> None:
    left, right, _ = operands()
    start = time.perf_counter()
    first, second = (jax.device_put(jax.numpy.asarray(each, dtype="float32"), place) for each in (left, right))
    product = jax.jit(jax.numpy.matmul)(first, second).block_until_ready()
    used = min(product.devices(), key=str)
    note_operation(listing, "{0.platform}:{0.id}".format(used), product.tolist(), time.perf_counter() - start)


if __name__ == "__main__":
    serve("jax", fill)
