"""Is this device real: a matrix product on it, checked row by row and timed."""

# /// script
# requires-python = ">=3.6"
# dependencies = []
#
# [tool.envmgr]
# backends = ["plaidml", "tensorflow", "jax", "torch"]
# needs-device = true
# neutral = ["repeats", "warmup", "backend"]
#
# [tool.envmgr.parameters]
# size = 256
# repeats = 10
# warmup = 2
# backend = "auto"
#
# [tool.envmgr.metrics]
# gflops = "Gflop/s"
# ///
import sys

if sys.version_info < (3, 6):
    sys.stderr.write("envmgr-runner: too old a Python: wanted 3.6 or newer, found %d.%d\n" % sys.version_info[:2])
    raise SystemExit(86)

# [shared: prologue] The same text stands in every runner: a runner imports no sibling.
# ruff: noqa: B905 -- zip knows `strict` since Python 3.10 only
import argparse
import contextlib
import faulthandler
import importlib
import importlib.util
import json
import math
import os
import re
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

PROTOCOL = 1
Parameters = Dict[str, Tuple[Any, str]]  # name: (default, help)
Report = Dict[str, Any]


class PhaseError(Exception):
    """A failure that knows its phase; `cause` is what really happened."""

    def __init__(self, phase_name: str, cause: BaseException) -> None:
        super().__init__(phase_name, cause)
        self.phase_name = phase_name
        self.cause = cause


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """A failure of the block belongs to this phase, unless an inner block has claimed it."""
    try:
        yield
    except PhaseError:
        raise
    except (Exception, SystemExit) as error:
        raise PhaseError(name, error) from error


def installed_versions() -> Dict[str, str]:
    """Versions of all distributions on sys.path, by normalised name, and of Python itself."""
    versions = {}  # type: Dict[str, str]
    for folder in sys.path:
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            match = re.match(r"(.+?)-(\d[^-]*)(-.+)?\.(dist|egg)-info$", entry)
            if match:
                versions.setdefault(re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2))
    versions["python"] = "{}.{}.{}".format(*sys.version_info[:3])
    return versions


def peak_memory() -> Optional[int]:
    """The most memory that this process has held, in bytes; None where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    # On Linux this figure begins with what the parent had held when it started this process.
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(largest) if sys.platform == "darwin" else int(largest) * 1024


def strict(value: Any) -> Any:
    """The same value for strict JSON: a float that is not finite becomes "nan", "inf" or "-inf"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    return value


def write_report(path: str, report: Report) -> None:
    """The report is at its place whole, or not at all."""
    aside = "{}.{}.part".format(path, os.getpid())
    with open(aside, "w", encoding="utf-8") as file:
        json.dump(strict(report), file, indent=1, allow_nan=False)
    os.replace(aside, path)


def print_table(report: Report) -> None:
    """The report for a reader: one line a fact, long lists cut, outputs by their shapes."""
    rows = [(key, report[key]) for key in ("status", "backend", "device", "first_call", "warmup", "samples")]
    rows += [("median of samples", sorted(report["samples"])[len(report["samples"]) // 2])] if report["samples"] else []
    rows += [(key, report[key]) for key in ("items_per_sample", "peak_memory")]
    rows += sorted(report["metrics"].items())
    rows += [("output " + name, output["shape"]) for name, output in sorted(report["outputs"].items())]
    rows += [("check " + check["name"], "passed" if check["passed"] else check) for check in report["checks"]]
    rows += [("module " + name, origin) for name, origin in report.get("modules", {}).items()]
    rows += [("note", note) for note in report["notes"]]
    for name, value in rows:
        if isinstance(value, list):
            shown = ["{:.6g}".format(item) if isinstance(item, float) else str(item) for item in value]
            value = ", ".join(shown if len(shown) <= 12 else shown[:5] + ["..."] + shown[-5:])
        print("{:24} {:.6g}".format(name, value) if isinstance(value, float) else "{:24} {}".format(name, value))
    if report["error"]:
        print("{traceback}\nfailed in phase {phase}: {type}: {message}".format(**report["error"]))


def chosen_parameters(known: Parameters, given: Dict[str, Any]) -> Dict[str, Any]:
    """The defaults with what is given in their place; a ValueError names what does not fit."""
    for name, value in given.items():
        if name not in known:
            raise ValueError("unknown parameter {!r}; known are {}".format(name, ", ".join(sorted(known))))
        default = known[name][0]
        kinds = {float: (float, int), str: (str, list)}.get(type(default), (type(default),))
        if type(value) not in kinds:
            raise ValueError("parameter {!r} is {!r}; wanted the kind of {!r}".format(name, value, default))
    chosen = {name: default for name, (default, _) in known.items()}
    chosen.update(given)
    return chosen


def read_request(description: str, known: Parameters) -> Tuple[Dict[str, Any], Optional[str]]:
    """The request, from its file or from the command line, and the path for the report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--request", help="JSON file with the request; without it, the options below")
    parser.add_argument("--report", help="JSON file to write; without it, a table on stdout")
    parser.add_argument("--device", help="as the backend names it; without it, the backend's first choice")
    for name, (default, meaning) in known.items():
        shown = "{} (default: {})".format(meaning, json.dumps(default))
        parser.add_argument("--" + name, dest=name, type=type(default), help=shown)
    options = vars(parser.parse_args())
    request_path, report_path = options.pop("request"), options.pop("report")
    if request_path is None:
        device = options.pop("device")
        parameters = {name: value for name, value in options.items() if value is not None}
        return {"protocol": PROTOCOL, "cell": "by hand", "device": device, "parameters": parameters}, report_path
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    if request.get("protocol") != PROTOCOL:
        parser.error("the request speaks protocol {!r}; wanted {}".format(request.get("protocol"), PROTOCOL))
    return request, report_path


def run(description: str, known: Parameters, measure: Callable[[Dict[str, Any], Optional[str], Report], None]) -> int:
    """Measure, and report it whatever happens; the exit status of the process."""
    faulthandler.enable()  # the stack of a crash goes to stderr: evidence
    request, report_path = read_request(description, known)
    report = {"protocol": PROTOCOL, "cell": request.get("cell"), "status": "ok", "error": None}  # type: Report
    report.update({"backend": None, "device": None, "versions": installed_versions(), "first_call": None})
    report.update({"warmup": [], "samples": [], "items_per_sample": None, "peak_memory": None})
    report.update({"outputs": {}, "checks": [], "metrics": {}, "notes": []})
    try:
        with phase("run"):
            measure(chosen_parameters(known, request.get("parameters", {})), request.get("device"), report)
    except PhaseError as failure:
        cause = failure.cause
        lines = traceback.format_exception(type(cause), cause, cause.__traceback__)
        report["status"] = "failed"
        report["error"] = {"phase": failure.phase_name, "type": type(cause).__name__, "message": str(cause)}
        report["error"]["traceback"] = "".join(lines)
    report["peak_memory"] = peak_memory()
    if report_path is None:
        print_table(report)
        return 0 if report["status"] == "ok" and all(check["passed"] for check in report["checks"]) else 1
    write_report(report_path, report)
    return 0


def output(shape: List[int], values: List[float]) -> Dict[str, Any]:
    """An output of the report: its shape and its values, row by row."""
    return {"shape": list(shape), "values": [float(value) for value in values]}


def timed(call: Callable[[], Any]) -> Tuple[float, Any]:
    """The seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def is_warm(seconds: List[float], quiet: int) -> bool:
    """Whether warm-up is over after these calls, the first one included.

    It is over when the last `quiet` calls brought no progress (none was more than 5 % faster than the fastest before
    it), and after 10 times `quiet` calls at the latest.
    """
    if len(seconds) > 10 * quiet:
        return True
    last = range(len(seconds) - quiet, len(seconds))
    return len(seconds) > quiet and all(seconds[place] > 0.95 * min(seconds[:place]) for place in last)


def warm_up(call: Callable[[], Any], first_call: float, quiet: int) -> List[float]:
    """The seconds of the calls after the first one until the rule of `is_warm` ends the warm-up."""
    seconds = [first_call]
    while not is_warm(seconds, quiet):
        seconds.append(timed(call)[0])
    return seconds[1:]


# [end of shared: prologue]


# [shared: devices] The same text in every runner that opens a device for more than one backend.


def same_device(wanted: str, used: str) -> bool:
    """Whether two ids mean one device: "cuda", "gpu:0" and "/device:GPU:0" do."""
    plain = []
    for name in (wanted, used):
        name = name.lower().replace("/physical_device:", "").replace("/device:", "").replace("cuda", "gpu")
        plain.append(name if ":" in name or "." in name else name + ":0")
    return plain[0] == plain[1]


def demand(what: str, wanted: Optional[str], found: str, same: Callable[[str, str], bool]) -> None:
    """Nothing, if what is found is what is wanted; else the failure belongs to the phase `backend`."""
    with phase("backend"):
        if wanted is not None and not same(wanted, found):
            raise RuntimeError("another {} is active: wanted {}, found {}".format(what, wanted, found))


def ask_for_device(backend: Optional[str], device: Optional[str]) -> None:
    """Set, before the backend is imported, the variables that select a device; what is set already stays."""
    if device is None:
        return
    kind = device.lower().replace("/device:", "").partition(":")[0]
    if backend == "plaidml":
        os.environ.setdefault("PLAIDML_DEVICE_IDS", device)
    if backend == "jax" and kind != "gpu":  # JAX calls a GPU so, but selects it as cuda, rocm or metal
        os.environ.setdefault("JAX_PLATFORMS", kind)
    if backend == "torch":
        os.environ.setdefault("KERAS_TORCH_DEVICE", device)
    if kind == "cpu":
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def configure_plaidml() -> str:
    """Settle PlaidML's settings on one device, and return its id.

    Settings come from the environment, else from PlaidML's own files. Where they name no device, the first one that
    PlaidML lists is taken, default devices before experimental ones: what `plaidml-setup` would ask.
    """
    with phase("import"):
        plaidml = importlib.import_module("plaidml")
        settings = importlib.import_module("plaidml.settings")  # type: Any
    with phase("backend"):
        wanted = settings.device_ids
        invalid = []  # type: List[Any]
        open_to_choice = "PLAIDML_EXPERIMENTAL" not in os.environ
        for experimental in (False, True) if open_to_choice else (settings.experimental,):
            settings.experimental = experimental
            valid, invalid = plaidml.devices(plaidml.Context(), limit=100, return_all=True)
            if valid:
                settings.device_ids = [str(valid[0])]
                return str(valid[0])
        listed = ", ".join(str(device) for device in invalid) or "none"
        asked = " ".join(wanted) or "any"
        raise RuntimeError("PlaidML offers no such device: wanted {}, found {}".format(asked, listed))


def device_of(backend: str, tensor: Any) -> str:
    """The device on which a tensor of TensorFlow (eager), JAX or torch really is, as the backend names it."""
    if backend == "jax":
        device = min(tensor.devices(), key=str)
        return "{}:{}".format(device.platform, device.id)
    if backend == "torch":
        return str(tensor.device).replace("mps:0", "mps")
    return str(tensor.device).rpartition("device:")[2]


def device_of_session(session: Any) -> str:
    """The device that a TensorFlow 1 session prefers: a GPU if it has one, else the CPU."""
    names = [device.name.rpartition("device:")[2] for device in session.list_devices()]
    return next((name for name in names if name.startswith("GPU")), "CPU:0")


# [end of shared: devices]


PARAMETERS = {
    "size": (256, "rows and columns of the matrices"),
    "repeats": (10, "products measured"),
    "warmup": (2, "products in a row without progress that end the warm-up"),
    "backend": ("auto", "auto, plaidml, tensorflow, jax or torch"),
}  # type: Parameters
MODULES = ("plaidml", "torch", "jax", "tensorflow")  # auto takes the first that is installed
Matrix = List[List[float]]
Product = Tuple[str, Callable[[], Any], Callable[[Any], Matrix]]  # device really used, multiply and wait, fetch


def choose_backend(asked: str) -> str:
    """The backend asked for, else the one that Keras is told to use, else the first that is installed."""
    if asked != "auto":
        if asked not in MODULES:
            raise ValueError("unknown backend {!r}; known are {}".format(asked, ", ".join(MODULES)))
        return asked
    of_keras = os.environ.get("KERAS_BACKEND", "").partition(".")[0]
    if of_keras in MODULES:
        return of_keras
    installed = [name for name in MODULES if importlib.util.find_spec(name) is not None]
    if not installed:
        raise ImportError("no backend is installed; wanted one of {}".format(", ".join(MODULES)))
    return installed[0]


def small_integers(size: int, first: int, second: int) -> Matrix:
    """A square matrix of integers from -5 to 5: their products and sums are exact in every float format."""
    places = range(size)
    return [[float((row * first + column * second + row * column) % 11 - 5) for column in places] for row in places]


def multiply_plaidml(left: Matrix, right: Matrix, _device: Optional[str]) -> Product:
    """A product in PlaidML's own language, without Keras, on the device that its settings name."""
    used = configure_plaidml()
    plaidml = importlib.import_module("plaidml")
    with phase("backend"):
        context = plaidml.Context()
        opened = plaidml.Device(context, plaidml.devices(context)[0])
    size = len(left)
    shape = plaidml.Shape(context, plaidml.DType.FLOAT32, size, size)
    tensors = [plaidml.Tensor(opened, shape) for _ in range(3)]
    for tensor, matrix in zip(tensors, (left, right)):
        with tensor.mmap_discard(context) as view:
            for place, value in enumerate(value for row in matrix for value in row):
                view[place] = value
            view.writeback()
    code = "function (B[X, Z], C[Z, Y]) -> (A) { A[x, y : X, Y] = +(B[x, z] * C[z, y]); }"
    function = plaidml.Function(code)

    def multiply() -> Any:
        plaidml.run(context, function, inputs={"B": tensors[0], "C": tensors[1]}, outputs={"A": tensors[2]})
        with tensors[2].mmap_current():  # waits until the product is there
            return tensors[2]

    def fetch(product: Any) -> Matrix:
        with product.mmap_current() as view:
            values = [float(view[place]) for place in range(size * size)]
        return [values[row * size : (row + 1) * size] for row in range(size)]

    return used, multiply, fetch


def multiply_torch(left: Matrix, right: Matrix, device: Optional[str]) -> Product:
    """A product on CUDA or MPS if there is one and no device is asked for, else on the CPU."""
    with phase("import"):
        torch = importlib.import_module("torch")
    with phase("backend"):
        mps = getattr(torch.backends, "mps", None)  # since torch 1.12
        best = "cuda" if torch.cuda.is_available() else "mps" if mps is not None and mps.is_available() else "cpu"
        first, second = (torch.tensor(matrix, dtype=torch.float32).to(device or best) for matrix in (left, right))
    kind = first.device.type

    def multiply() -> Any:
        product = first @ second
        if kind in ("cuda", "mps"):
            getattr(torch, kind).synchronize()
        return product

    return device_of("torch", first), multiply, lambda product: product.cpu().tolist()


def multiply_jax(left: Matrix, right: Matrix, device: Optional[str]) -> Product:
    """A compiled product on the device of that platform and number, else on the first one."""
    with phase("import"):
        jax = importlib.import_module("jax")
    with phase("backend"):
        kind, _, number = (device or "").partition(":")
        known = jax.devices(kind.lower() or None)
        if int(number or 0) >= len(known):
            raise RuntimeError("JAX has no such device: wanted {}, found {}".format(device, known))
        chosen = known[int(number or 0)]
        first, second = (jax.device_put(jax.numpy.asarray(matrix, dtype="float32"), chosen) for matrix in (left, right))
    product = jax.jit(jax.numpy.matmul)
    return device_of("jax", first), lambda: product(first, second).block_until_ready(), lambda found: found.tolist()


def multiply_tensorflow(left: Matrix, right: Matrix, device: Optional[str]) -> Product:
    """A product in TensorFlow 2's eager mode, or in a session of TensorFlow 1."""
    with phase("import"):
        tensorflow = importlib.import_module("tensorflow")
    kind, _, number = (device or "").upper().replace("/DEVICE:", "").partition(":")
    place = "/device:{}:{}".format(kind, number or "0") if kind else None
    if tensorflow.__version__.startswith("1."):
        with phase("backend"):
            session = tensorflow.Session()
            with tensorflow.device(place):  # variables: the product of constants would be computed once only
                handle = tensorflow.matmul(*(tensorflow.Variable(matrix) for matrix in (left, right)))
            session.run(tensorflow.global_variables_initializer())
        used = device_of_session(session) if place is None else place.rpartition("device:")[2]
        return used, lambda: session.run(handle), lambda product: product.tolist()
    with phase("backend"), tensorflow.device(place):
        first, second = tensorflow.constant(left), tensorflow.constant(right)
        used = device_of("tensorflow", first)

    def multiply() -> Any:
        with tensorflow.device(place):
            return tensorflow.matmul(first, second).numpy()  # waits until the product is there

    return used, multiply, lambda product: product.tolist()


def weighted_sums(matrix: Matrix) -> List[float]:
    """For each row the sum of its numbers, each times its column's weight (1 to 7)."""
    return [math.fsum(value * (column % 7 + 1) for column, value in enumerate(row)) for row in matrix]


def wanted_sums(left: Matrix, right: Matrix) -> List[float]:
    """The weighted row sums of the product, without the product: exact, and quick in plain Python."""
    inner = weighted_sums(right)
    return [math.fsum(value * total for value, total in zip(row, inner)) for row in left]


def measure(parameters: Dict[str, Any], device: Optional[str], report: Report) -> None:
    """Multiply two matrices on the device, time it, and check every row of the product."""
    with phase("import"):
        report["backend"] = backend = choose_backend(parameters["backend"])
    ask_for_device(backend, device)
    openers = {"plaidml": multiply_plaidml, "torch": multiply_torch, "jax": multiply_jax}
    left, right = small_integers(parameters["size"], 3, 7), small_integers(parameters["size"], 5, 2)
    report["device"], multiply, fetch = openers.get(backend, multiply_tensorflow)(left, right, device)
    demand("device", device, report["device"], same_device)
    report["first_call"], product = timed(multiply)
    report["warmup"] = warm_up(multiply, report["first_call"], parameters["warmup"])
    report["items_per_sample"] = 1
    for _ in range(parameters["repeats"]):
        seconds, product = timed(multiply)
        report["samples"].append(seconds)
    found, wanted = weighted_sums(fetch(product)), wanted_sums(left, right)
    wrong = [row for row, (value, right_value) in enumerate(zip(found, wanted)) if value != right_value]
    check = {"name": "matrix product", "passed": not wrong}  # type: Dict[str, Any]
    if wrong:
        check.update({"wanted": wanted[wrong[0]], "found": found[wrong[0]]})
        report["notes"].append("{} of {} rows are wrong, row {} first".format(len(wrong), len(wanted), wrong[0]))
    report["checks"].append(check)
    report["outputs"]["weighted_row_sums"] = output([len(found)], found)
    best = min(report["samples"] or [report["first_call"]])
    report["metrics"]["gflops"] = 2 * parameters["size"] ** 3 / best / 1e9


if __name__ == "__main__":
    raise SystemExit(run(__doc__, PARAMETERS, measure))
