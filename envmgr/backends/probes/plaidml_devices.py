"""What `plaidml-setup` would list here, without a dialogue. Standard library of Python 3.6 and PlaidML only.

Settings are neither read from files nor written: the listing starts from none, as `plaidml-setup` does.
"""

import argparse
import ctypes
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


OPENCL_LIBRARIES = ("libOpenCL.so", "libOpenCL.so.1")
DEVICE_TYPE, DEVICE_NAME, DEVICE_VENDOR = 0x1000, 0x102B, 0x102C
ALL_DEVICES, TYPE_CPU = 0xFFFFFFFF, 2


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def installed_version(distribution: str) -> str:
    """The version in the name of a distribution's metadata folder, or ""."""
    for folder in sys.path:
        for entry in os.listdir(folder) if os.path.isdir(folder) else ():
            name, _, rest = entry.partition("-")
            if name.lower().replace("-", "_") == distribution and entry.endswith((".dist-info", ".egg-info")):
                return rest.rpartition(".")[0]
    return ""


def describe(config: Any, experimental: bool, valid: bool) -> Dict[str, Any]:
    identity = text_of(config.id)
    api = identity.partition("_")[0]
    name = identity.partition("_")[2].rpartition(".")[0]
    return {
        "id": identity,
        "api": api,
        "physical": "cpu" if name == "cpu" else name,
        "experimental": experimental,
        "valid": valid,
        "detail": text_of(config.description),
    }


def list_devices(plaidml: Any, listing: Listing) -> None:
    settings = importlib.import_module("plaidml.settings")  # type: Any
    settings._setup_for_test()  # noqa: SLF001 - plaidml-setup does so
    context = plaidml.Context()
    found = {}  # type: Dict[str, Dict[str, Any]]
    for experimental in (False, True):
        settings.experimental = experimental
        valid, invalid = plaidml.devices(context, limit=100, return_all=True)
        listing["facts"]["experimental devices" if experimental else "default devices"] = " ".join(map(str, valid))
        for config in valid:
            if not found.get(text_of(config.id), {}).get("valid"):
                found[text_of(config.id)] = describe(config, experimental, True)
        for config in invalid:
            found.setdefault(text_of(config.id), describe(config, True, False))
    listing["devices"] = [found[identity] for identity in sorted(found)]
    listing["kinds"] = sorted({device["api"] for device in listing["devices"]})


def open_device(plaidml: Any, context: Any, device: str) -> Any:
    """Open the device by its id, from the default configuration if that has it, else from the experimental one."""
    settings = importlib.import_module("plaidml.settings")  # type: Any
    for experimental in (False, True):
        settings.experimental = experimental
        valid, _ = plaidml.devices(context, limit=100, return_all=True)
        for config in valid:
            if text_of(config.id) == device:
                return plaidml.Device(context, config)
    raise RuntimeError("PlaidML offers no device %s here" % device)


def multiply(plaidml: Any, listing: Listing, device: str) -> None:
    """The product of `plaidml-setup`, with its value looked at."""
    left, right, _ = operands()
    start = time.perf_counter()
    context = plaidml.Context()
    opened = open_device(plaidml, context, device)
    shape = plaidml.Shape(context, plaidml.DType.FLOAT32, SIZE, SIZE)
    tensors = [plaidml.Tensor(opened, shape) for _ in range(3)]
    for number, matrix in enumerate((left, right)):
        with tensors[number].mmap_discard(context) as view:
            for index, value in enumerate(value for row in matrix for value in row):
                view[index] = value
            view.writeback()
    code = "function (B[X,Z], C[Z,Y]) -> (A) { A[x,y : X,Y] = +(B[x,z] * C[z,y]); }"
    inputs = {"B": tensors[0], "C": tensors[1]}
    plaidml.run(context, plaidml.Function(code), inputs=inputs, outputs={"A": tensors[2]})
    with tensors[2].mmap_current() as view:
        flat = [float(view[index]) for index in range(SIZE * SIZE)]
    found = [flat[row * SIZE : (row + 1) * SIZE] for row in range(SIZE)]
    note_operation(listing, device, found, time.perf_counter() - start)


def look_at_opencl(facts: Dict[str, str]) -> None:
    """Which of OpenCL's library names can be opened, and the devices behind it; PlaidML on Linux opens the first name."""
    if not sys.platform.startswith("linux"):
        return
    library = None
    for name in OPENCL_LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            facts["opencl_library"] = name
            break
        except OSError:
            continue
    if library is None:
        facts["opencl_library"] = ""
        return
    facts["opencl_library_path"] = loaded_path("libOpenCL.so")
    facts["opencl_devices"] = json.dumps(opencl_devices(library))


def loaded_path(name: str) -> str:
    """The file of a library that this process has loaded, links resolved, or ""."""
    with io.open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
        paths = [line.split(None, 5)[5].strip() for line in stream if len(line.split(None, 5)) == 6]
    return next((path for path in paths if os.path.basename(path).startswith(name)), "")


def opencl_devices(library: Any) -> List[Dict[str, str]]:
    count = ctypes.c_uint(0)
    if library.clGetPlatformIDs(0, None, ctypes.byref(count)) != 0 or not count.value:
        return []
    platforms = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count.value, platforms, None)
    listed = []
    for each in platforms:
        number = ctypes.c_uint(0)
        kind = ctypes.c_ulong(ALL_DEVICES)
        if library.clGetDeviceIDs(ctypes.c_void_p(each), kind, 0, None, ctypes.byref(number)) != 0:
            continue
        devices = (ctypes.c_void_p * number.value)()
        library.clGetDeviceIDs(ctypes.c_void_p(each), kind, number.value, devices, None)
        listed += [opencl_device(library, ctypes.c_void_p(device)) for device in devices]
    return listed


def opencl_device(library: Any, device: Any) -> Dict[str, str]:
    kind = ctypes.c_ulong(0)
    library.clGetDeviceInfo(device, DEVICE_TYPE, ctypes.c_size_t(ctypes.sizeof(kind)), ctypes.byref(kind), None)
    texts = []
    for query in (DEVICE_NAME, DEVICE_VENDOR):
        buffer = ctypes.create_string_buffer(1024)
        library.clGetDeviceInfo(device, query, ctypes.c_size_t(1024), buffer, None)
        texts.append(text_of(buffer.value))
    return {"type": "cpu" if kind.value & TYPE_CPU else "gpu", "name": texts[0], "vendor": texts[1]}


def fill(listing: Listing, device: Optional[str]) -> None:
    facts = listing["facts"]
    facts["core"] = installed_version("plaidml")
    facts["bridge"] = installed_version("plaidml_keras")
    for variable in ("PLAIDML_EXPERIMENTAL_CONFIG", "PLAIDML_DEFAULT_CONFIG"):
        path = os.environ.get(variable)
        if path and not os.path.isfile(path):
            listing["error_phase"] = "backend"
            raise RuntimeError("%s names %s, and there is no such file" % (variable, path))
    plaidml = importlib.import_module("plaidml")
    plaidml.quiet()
    listing["version"] = str(plaidml.__version__)
    listing["error_phase"] = "backend"
    facts["experimental_config"] = os.environ.get("PLAIDML_EXPERIMENTAL_CONFIG", "")
    list_devices(plaidml, listing)
    if device:
        listing["error_phase"] = "run"
        multiply(plaidml, listing, device)
    else:
        look_at_opencl(facts)


if __name__ == "__main__":
    serve("plaidml", fill)
