"""Which devices this torch knows, was built for, and can use here. Standard library of Python 3.6 and torch only."""

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


def kinds_known(torch: Any) -> List[str]:
    """The device types that this build knows: torch names them when it is asked for one that cannot be."""
    try:
        torch.device("nosuch")
    except RuntimeError as error:
        found = re.search(r"one of ([\w, ]+?) device type", str(error))
        return [kind.strip() for kind in found.group(1).split(",")] if found else []
    return []


def look_at_cuda(torch: Any, listing: Listing) -> None:
    api = "rocm" if getattr(torch.version, "hip", None) else "cuda"
    built = torch.version.cuda is not None or api == "rocm"
    available = bool(built and torch.cuda.is_available())
    listing["built"][api], listing["available"][api] = built, available
    listing["facts"][api] = str(getattr(torch.version, "hip", None) or torch.version.cuda or "")
    if not built:
        listing["reasons"][api] = "this torch was built without CUDA"
    elif not available:
        listing["reasons"][api] = "this torch has %s %s and finds no usable card" % (api, listing["facts"][api])
    for number in range(torch.cuda.device_count() if available else 0):
        properties = torch.cuda.get_device_properties(number)
        capability = "%d.%d" % (properties.major, properties.minor)
        detail = "%s, %.1f GiB, compute capability %s" % (
            properties.name,
            properties.total_memory / 2.0**30,
            capability,
        )
        device = {"id": "cuda:%d" % number, "api": api, "physical": properties.name, "detail": detail}
        listing["devices"].append(device)


def look_at_mps(torch: Any, listing: Listing) -> None:
    backend = getattr(getattr(torch, "backends", None), "mps", None)
    built = bool(backend is not None and backend.is_built())
    available = bool(built and backend is not None and backend.is_available())
    listing["built"]["mps"], listing["available"]["mps"] = built, available
    if available:
        listing["devices"].append({"id": "mps", "api": "mps", "detail": "Metal Performance Shaders"})
    else:
        listing["reasons"]["mps"] = why_no_mps(backend, built, listing["facts"])


def why_no_mps(backend: Any, built: bool, facts: Dict[str, str]) -> str:
    """Facts first: torch's own text names a macOS version that is not the one that is lacking."""
    if facts["system"] != "darwin":
        return "MPS exists on macOS only"
    if backend is None:
        return "this torch is older than 1.12, the first with MPS"
    if facts["machine"] != "arm64" and not built:
        return "this Python is %s, and torch for it was built without MPS" % facts["machine"]
    if not built:
        return "this torch was built without MPS"
    version = [int(part) for part in facts.get("macos", "0.0").split(".")[:2]]
    if version < [12, 3]:
        return "MPS wants macOS 12.3 or newer, found %s" % facts.get("macos")
    return "MPS is built in, and Metal offers no device to it"


def multiply(torch: Any, listing: Listing, device: str) -> None:
    left, right, _ = operands()
    start = time.perf_counter()
    product = torch.matmul(torch.tensor(left).to(device), torch.tensor(right).to(device))
    used = str(product.device)
    found = product.cpu().tolist()
    note_operation(listing, used, found, time.perf_counter() - start)


def fill(listing: Listing, device: Optional[str]) -> None:
    torch = importlib.import_module("torch")
    listing["version"] = str(torch.__version__)
    listing["error_phase"] = "backend"
    listing["kinds"] = kinds_known(torch)
    listing["facts"]["threads"] = str(torch.get_num_threads())
    listing["devices"].append({"id": "cpu", "api": "cpu", "physical": "cpu"})
    look_at_cuda(torch, listing)
    look_at_mps(torch, listing)
    if device:
        listing["error_phase"] = "run"
        multiply(torch, listing, device)


if __name__ == "__main__":
    serve("torch", fill)
