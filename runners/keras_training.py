"""Whether a Keras network trains rightly on one backend and device, and how fast."""

# /// script
# requires-python = ">=3.6"
# dependencies = ["keras"]
#
# [tool.envmgr]
# backends = ["plaidml", "tensorflow", "jax", "torch"]
# needs-device = true
# neutral = ["steps", "batch-size", "warmup", "backend", "perturb-layer"]
#
# [tool.envmgr.parameters]
# steps = 20
# batch-size = 32
# warmup = 2
# batch-sizes = "1,4,8"
# learning-rate = 0.05
# backend = "auto"
# seed = 0
# perturb-layer = -1
#
# [tool.envmgr.metrics]
# loss_curve = "1"
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


# [shared: keras] The same text in every runner that measures through Keras, 2.2.4 or 3.


def choose_backend(asked: str) -> Optional[str]:
    """The backend to ask Keras for; None leaves the choice to Keras (its variable, its file, its default)."""
    if asked != "auto":
        return asked
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"].replace("plaidml.keras.backend", "plaidml")
    versions = installed_versions()
    return "plaidml" if "plaidml" in versions and versions.get("keras", "").startswith("2.") else None


def import_keras(asked: str, device: Optional[str], report: Report) -> Any:
    """Keras with the backend and the device that were asked for; the report names those that are active."""
    backend = choose_backend(asked)
    ask_for_device(backend, device)
    if backend == "plaidml":
        os.environ.setdefault("KERAS_BACKEND", "plaidml.keras.backend")
        report["device"] = configure_plaidml()
    elif backend is not None:
        os.environ.setdefault("KERAS_BACKEND", backend)
    with phase("import"):
        keras = importlib.import_module("keras")
        for name in ("applications", "backend", "datasets", "layers", "models", "optimizers"):
            importlib.import_module("keras." + name)
    report["backend"] = keras.backend.backend().replace("plaidml.keras.backend", "plaidml")
    demand("backend", backend, report["backend"], str.__eq__)
    keras.backend.set_image_data_format("channels_last")  # whatever the user's keras.json says
    return keras


def active_device(keras: Any, backend: str) -> str:
    """The device on which Keras puts the weights of a layer: of one made for the purpose."""
    if backend == "plaidml":
        plaidml = importlib.import_module("plaidml")
        return str(plaidml.devices(plaidml.Context())[0])
    layer = keras.layers.Dense(1)
    layer(keras.layers.Input(shape=(1,)))
    weight = layer.weights[0]
    tensor = weight if callable(weight.value) else weight.value  # a variable of TensorFlow, or of Keras 3
    if backend == "tensorflow" and not str(tensor.device):  # TensorFlow 1 leaves the place to its session
        return device_of_session(keras.backend.get_session())
    return device_of(backend, tensor)


def seeded_array(numpy: Any, random: Any, shape: Tuple[int, ...], place: int, layer_kind: str) -> Any:
    """Weights that keep the spread of what flows through: kernels by their fan-in, the rest close to neutral.

    Uniform numbers of the frozen RandomState stream are the same bits on every platform and numpy version.
    """
    uniform = random.random_sample(shape) * 2 - 1
    if layer_kind == "BatchNormalization":  # gamma, beta, moving mean, moving variance
        return (0 if place in (1, 2) else 1) + 0.1 * uniform
    if len(shape) == 1:
        return 0.05 * uniform
    fan_in = numpy.prod(shape[:2] if layer_kind == "DepthwiseConv2D" else shape[:-1])
    return numpy.sqrt(6.0 / fan_in) * uniform


def seed_weights(numpy: Any, model: Any, seed: int) -> None:
    """Set all weights, each layer from a seed of its own.

    Layers are counted along the network and arrays in the order of `get_weights()`: that is the same in every Keras,
    while the order of `model.weights` is not.
    """
    for index, layer in enumerate(layer for layer in model.layers if layer.get_weights()):
        random = numpy.random.RandomState([seed, index])
        kind = type(layer).__name__
        shapes = [array.shape for array in layer.get_weights()]
        layer.set_weights([seeded_array(numpy, random, shape, place, kind) for place, shape in enumerate(shapes)])


def perturb_layer(model: Any, index: int) -> str:
    """Multiply the weights of one layer by 1.01; the layer's name."""
    layer = [layer for layer in model.layers if layer.get_weights()][index]
    layer.set_weights([array * 1.01 for array in layer.get_weights()])
    return str(layer.name)


# [end of shared: keras]


PARAMETERS = {
    "steps": (20, "training steps measured"),
    "batch-size": (32, "images in a measured step"),
    "warmup": (2, "steps in a row without progress that end the warm-up"),
    "batch-sizes": ("1,4,8", "batch sizes for which losses and weights are compared, separated by commas"),
    "learning-rate": (0.05, "of plain gradient descent"),
    "backend": ("auto", "auto, plaidml, tensorflow, jax or torch"),
    "seed": (0, "of weights, images and targets"),
    "perturb-layer": (-1, "this layer's weights times 1.01, counted over layers with weights: a test of parity checks"),
}  # type: Parameters
LOSSES_COMPARED = 5
CLASSES = 4


def build_network(keras: Any, side: int, width: int) -> Any:
    """Two convolutions and a dense layer on square images of three channels.

    There is no pooling, depthwise or normalising layer: PlaidML 0.7.0 on llvm_cpu gives other gradients through those
    than every other backend does, and what is compared here must tell devices apart, not releases.
    """
    layers = keras.layers
    image = layers.Input(shape=(side, side, 3))
    x = layers.Conv2D(width, (3, 3), padding="same", activation="relu")(image)
    x = layers.Conv2D(width, (3, 3), strides=(2, 2), padding="same", activation="relu")(x)
    return keras.models.Model(image, layers.Dense(CLASSES)(layers.Flatten()(x)))


def prepare(keras: Any, numpy: Any, parameters: Dict[str, Any], sizes: Tuple[int, int, int]) -> Tuple[Any, Any]:
    """A network ready to train, and a batch for it; `sizes` are side, width and images in the batch."""
    side, width, count = sizes
    model = build_network(keras, side, width)
    seed_weights(numpy, model, parameters["seed"])
    if parameters["perturb-layer"] >= 0:
        perturb_layer(model, parameters["perturb-layer"])
    rate = "lr" if keras.__version__.startswith("2.") else "learning_rate"
    descent = keras.optimizers.SGD(**{rate: parameters["learning-rate"]})
    model.compile(optimizer=descent, loss="mean_squared_error")
    random = numpy.random.RandomState([parameters["seed"], 2**31])
    images = (random.random_sample((count, side, side, 3)) * 2 - 1).astype("float32")
    return model, (images, random.random_sample((count, CLASSES)).astype("float32"))


def train_step(numpy: Any, model: Any, batch: Tuple[Any, Any]) -> float:
    """One step of training; the loss before it, fetched from the device."""
    return float(numpy.ravel(model.train_on_batch(*batch))[0])


def flat_weights(numpy: Any, model: Any) -> List[Tuple[str, Any]]:
    """All weights with a name that is the same in every Keras: the layer's number, and kernel or bias."""
    layers = [layer for layer in model.layers if layer.get_weights()]
    return [
        ("{} {}".format(place, "bias" if array.ndim == 1 else "kernel"), numpy.asarray(array, dtype="float64"))
        for place, layer in enumerate(layers)
        for array in layer.get_weights()
    ]


def train_for_parity(keras: Any, numpy: Any, parameters: Dict[str, Any], count: int, report: Report) -> None:
    """Outputs that every device must agree on: what one step changed in each layer, and the losses of a few steps."""
    model, batch = prepare(keras, numpy, parameters, (12, 8, count))
    before = flat_weights(numpy, model)
    losses = [train_step(numpy, model, batch)]
    for (name, old), (_, new) in zip(before, flat_weights(numpy, model)):
        change = new - old
        report["outputs"]["step with {} images, layer {}".format(count, name)] = output(
            [change.shape[0], change.size // change.shape[0]], change.ravel().tolist()
        )
    losses += [train_step(numpy, model, batch) for _ in range(LOSSES_COMPARED - 1)]
    report["outputs"]["losses with {} images".format(count)] = output([len(losses)], losses)
    negative = [loss for loss in losses if loss < 0]
    check = {"name": "squared error with {} images".format(count), "passed": not negative}  # type: Dict[str, Any]
    if negative:
        check.update({"wanted": "not below 0", "found": negative[0]})
    report["checks"].append(check)


def settle_tensorflow_1(keras: Any, report: Report) -> None:
    """Let TensorFlow 1 do one operation after the other, if it is the backend.

    Keras 2.2.4 keeps weights in variables that a step overwrites while another operation of the same step may still
    read them: with several operations at a time, the same training gives one of several results.
    """
    if report["backend"] != "tensorflow" or not report["versions"].get("tensorflow", "").startswith("1."):
        return
    tensorflow = importlib.import_module("tensorflow")  # type: Any
    keras.backend.set_session(tensorflow.Session(config=tensorflow.ConfigProto(inter_op_parallelism_threads=1)))
    report["notes"].append("TensorFlow 1 does one operation at a time: its training is a race otherwise")


def measure(parameters: Dict[str, Any], device: Optional[str], report: Report) -> None:
    """Time training steps, then keep what training changes for several batch sizes."""
    keras = import_keras(parameters["backend"], device, report)
    with phase("import"):
        numpy = importlib.import_module("numpy")
    settle_tensorflow_1(keras, report)
    with phase("backend"):
        report["device"] = active_device(keras, report["backend"])
    demand("device", device, report["device"], same_device)
    counts = [int(word) for word in str(parameters["batch-sizes"]).split(",")]
    model, batch = prepare(keras, numpy, parameters, (32, 16, parameters["batch-size"]))
    losses = report["metrics"]["loss_curve"] = []

    def step() -> None:
        losses.append(train_step(numpy, model, batch))

    report["first_call"] = timed(step)[0]
    print("First step: {:.3f} s".format(report["first_call"]), flush=True)
    report["warmup"] = warm_up(step, report["first_call"], parameters["warmup"])
    report["items_per_sample"] = parameters["batch-size"]
    report["samples"] += [timed(step)[0] for _ in range(parameters["steps"])]
    print("Loss from {:.4f} to {:.4f}".format(losses[0], losses[-1]), flush=True)
    for count in counts:
        train_for_parity(keras, numpy, parameters, count, report)


if __name__ == "__main__":
    raise SystemExit(run(__doc__, PARAMETERS, measure))
