"""Train PyTorch's MNIST network on one device: how fast, how well, and with which numbers."""

# /// script
# requires-python = ">=3.6"
# dependencies = ["torch"]
#
# [tool.envmgr]
# backends = ["torch"]
# needs-device = true
# neutral = ["epochs", "batches", "batch-size", "warmup", "data", "data-folder", "gamma", "perturb-layer"]
#
# [tool.envmgr.parameters]
# epochs = 1
# batches = 0
# batch-size = 64
# warmup = 2
# batch-sizes = "1,4,16"
# data = "auto"
# data-folder = "~/.cache/mnist"
# learning-rate = 1.0
# gamma = 0.7
# seed = 0
# perturb-layer = -1
#
# [tool.envmgr.metrics]
# accuracy = "share"
# test_loss = "nat"
# loss_curve = "nat"
# ///
import sys

if sys.version_info < (3, 6):
    sys.stderr.write("envmgr-runner: too old a Python: wanted 3.6 or newer, found %d.%d\n" % sys.version_info[:2])
    raise SystemExit(86)

import copy
import random
import socket

# isort: split
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


PARAMETERS = {
    "epochs": (1, "passes over the training images"),
    "batches": (0, "training batches in an epoch; 0: all"),
    "batch-size": (64, "images in a training batch"),
    "warmup": (2, "training batches in a row without progress that end the warm-up"),
    "batch-sizes": ("1,4,16", "batch sizes for which losses and weights are compared, separated by commas"),
    "data": ("auto", "auto, synthetic, or mnist (downloaded through torchvision)"),
    "data-folder": ("~/.cache/mnist", "where torchvision finds or puts MNIST"),
    "learning-rate": (1.0, "of Adadelta"),
    "gamma": (0.7, "the learning rate is multiplied by it after each epoch"),
    "seed": (0, "of weights, synthetic digits and order"),
    "perturb-layer": (-1, "this layer's weights times 1.01, of the four: a test of parity checks"),
}  # type: Parameters
PARITY_BATCHES = 5  # training steps with dropout off whose losses are compared
NUMBERS_A_TENSOR = 256  # that stand for what a step changed in a layer
TRAINING_DIGITS, TEST_DIGITS = 8192, 1024  # of the synthetic set
SEGMENTS = {  # of a seven-segment digit: rows and columns in a box of 16 x 10
    "top": (0, 2, 0, 10), "middle": (7, 9, 0, 10), "bottom": (14, 16, 0, 10), "upper left": (0, 9, 0, 2),
    "upper right": (0, 9, 8, 10), "lower left": (7, 16, 0, 2), "lower right": (7, 16, 8, 10),
}  # fmt: skip
UNLIT = {
    0: ("middle",), 1: ("top", "middle", "bottom", "upper left", "lower left"), 2: ("upper left", "lower right"),
    3: ("upper left", "lower left"), 4: ("top", "bottom", "lower left"), 5: ("upper right", "lower left"),
    6: ("upper right",), 7: ("middle", "bottom", "upper left", "lower left"), 8: (), 9: ("lower left",),
}  # type: Dict[int, Tuple[str, ...]]  # fmt: skip
Digits = Tuple[Any, Any]  # images (n, 1, 28, 28) as floats, labels (n)


def build_network(torch: Any, seed: int) -> Any:
    """The two-convolution network of PyTorch's MNIST example, on the CPU, without its final log-softmax.

    Weights come from Python's own generator, so they are the same numbers for every version of torch.
    """
    nn = torch.nn
    network = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    )  # fmt: skip
    generator = random.Random(seed)
    with torch.no_grad():
        for weights in network.parameters():
            bound = math.sqrt(1.0 / weights[0].numel()) if weights.dim() > 1 else 0.05
            values = [(generator.random() * 2 - 1) * bound for _ in range(weights.numel())]
            weights.copy_(torch.tensor(values).reshape(weights.shape))
    return network


def draw_digits(torch: Any, count: int, seed: int) -> Digits:
    """Seven-segment digits at random places, of random brightness, in noise: the same pixels everywhere."""
    generator = random.Random(seed)
    noise = torch.tensor([generator.random() * 0.3 for _ in range(64 * 784)]).reshape(64, 1, 28, 28)
    images = noise[torch.tensor([generator.randrange(64) for _ in range(count)])]
    labels = [generator.randrange(10) for _ in range(count)]
    for image, label in zip(images, labels):
        down, right, light = generator.randrange(3, 10), generator.randrange(5, 14), 0.5 + 0.5 * generator.random()
        for name, (top, bottom, left, end) in SEGMENTS.items():
            if name not in UNLIT[label]:
                image[0, down + top : down + bottom, right + left : right + end] = light
    return (images - 0.1307) / 0.3081, torch.tensor(labels)


def load_mnist(folder: str) -> Tuple[Digits, Digits]:
    """The real training and test digits, downloaded where they are not there yet."""
    datasets = importlib.import_module("torchvision.datasets")
    socket.setdefaulttimeout(30)  # an index that does not answer is a failure, not a wait
    both = []
    for train in (True, False):
        found = datasets.MNIST(os.path.expanduser(folder), train=train, download=True)
        both.append(((found.data.unsqueeze(1).float() / 255 - 0.1307) / 0.3081, found.targets))
    return both[0], both[1]


def load_digits(torch: Any, parameters: Dict[str, Any], report: Report) -> Tuple[Digits, Digits]:
    """Training and test digits; a note says which ones, and why not the real ones."""
    if parameters["data"] not in ("auto", "synthetic", "mnist"):
        raise ValueError("unknown data {!r}; known are auto, synthetic, mnist".format(parameters["data"]))
    if parameters["data"] != "synthetic":
        try:
            digits = load_mnist(parameters["data-folder"])
            report["notes"].append("data: MNIST through torchvision")
            return digits
        except Exception as error:
            if parameters["data"] == "mnist":
                raise
            reason = "{}: {}".format(type(error).__name__, error)
            report["notes"].append("MNIST through torchvision is not to be had here ({})".format(reason))
    report["notes"].append("data: synthetic seven-segment digits")
    seed = parameters["seed"]
    return draw_digits(torch, TRAINING_DIGITS, seed + 1), draw_digits(torch, TEST_DIGITS, seed + 2)


def open_device(torch: Any, wanted: Optional[str]) -> Any:
    """The device asked for, else CUDA, else MPS, else the CPU; a small sum on it has come out right."""
    mps = getattr(torch.backends, "mps", None)  # since torch 1.12
    best = "cuda" if torch.cuda.is_available() else "mps" if mps is not None and mps.is_available() else "cpu"
    probe = torch.ones(4).to(wanted or best)
    if float(probe.sum()) != 4.0:
        raise RuntimeError("the device {} adds four ones to {}; wanted 4".format(probe.device, float(probe.sum())))
    return probe.device


def wait_for(torch: Any, device: Any) -> None:
    """Return when the device has done all that it was given."""
    if device.type in ("cuda", "mps"):
        getattr(torch, device.type).synchronize()


def train_step(torch: Any, network: Any, optimizer: Any, images: Any, labels: Any) -> Any:
    """One step of training; the loss before it, on the device."""
    optimizer.zero_grad()
    loss = torch.nn.functional.nll_loss(torch.log_softmax(network(images), dim=1), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()


def stand_ins(torch: Any, tensor: Any) -> List[float]:
    """A few numbers in place of a large tensor: sums of neighbours, which count 1 to 7 times in turn.

    One number that is wrong, and numbers that change places, show in their sum.
    """
    flat = tensor.detach().cpu().double().flatten()
    size = -(-len(flat) // NUMBERS_A_TENSOR)
    weighted = flat * (torch.arange(len(flat)) % 7 + 1).double()
    return [float(part.sum()) for part in weighted.split(size)]


def train_for_parity(
    torch: Any, network: Any, digits: Digits, parameters: Dict[str, Any], count: int, report: Report
) -> None:
    """Outputs of training on a batch of `count` images: what one step changed in each layer, and losses of a few."""
    network = copy.deepcopy(network)
    images, labels = (part[:count] for part in digits)
    optimizer = torch.optim.Adadelta(network.parameters(), lr=parameters["learning-rate"])
    before = [weights.detach().cpu().double() for weights in network.parameters()]
    losses = [float(train_step(torch, network, optimizer, images, labels))]
    for place, (old, weights) in enumerate(zip(before, network.parameters())):
        numbers = stand_ins(torch, weights.detach().cpu().double() - old)
        name = "step with {} images, layer {} {}".format(count, place // 2, "bias" if weights.dim() == 1 else "kernel")
        report["outputs"][name] = output([len(numbers)], numbers)
    losses += [float(train_step(torch, network, optimizer, images, labels)) for _ in range(PARITY_BATCHES - 1)]
    report["outputs"]["losses with {} images".format(count)] = output([len(losses)], losses)


def answer_for_parity(torch: Any, device: Any, parameters: Dict[str, Any], report: Report) -> None:
    """Outputs that any device must agree on: logits of the first weights, and training without dropout."""
    counts = [int(word) for word in str(parameters["batch-sizes"]).split(",")]
    network = build_network(torch, parameters["seed"])
    if parameters["perturb-layer"] >= 0:
        layer = [module for module in network if hasattr(module, "weight")][parameters["perturb-layer"]]
        with torch.no_grad():
            layer.weight.mul_(1.01)
        report["notes"].append("the weights of layer {} are multiplied by 1.01".format(parameters["perturb-layer"]))
    network = network.to(device).eval()  # in this network it switches dropout off, and nothing else
    drawn = draw_digits(torch, max(64 * PARITY_BATCHES, *counts), parameters["seed"])
    images, labels = (part.to(device) for part in drawn)
    with torch.no_grad():
        logits = network(images[:16]).cpu()
    report["outputs"]["logits"] = output(list(logits.shape), logits.flatten().tolist())
    for count in counts:
        train_for_parity(torch, network, (images, labels), parameters, count, report)
    optimizer = torch.optim.Adadelta(network.parameters(), lr=parameters["learning-rate"])
    batches = [slice(start, start + 64) for start in range(0, 64 * PARITY_BATCHES, 64)]
    losses = [float(train_step(torch, network, optimizer, images[batch], labels[batch])) for batch in batches]
    report["outputs"]["losses_without_dropout"] = output([len(losses)], losses)


def train(torch: Any, network: Any, device: Any, digits: Digits, parameters: Dict[str, Any], report: Report) -> None:
    """Train as many epochs as asked for; each batch is timed until the device has done it."""
    images, labels = digits
    size, losses = parameters["batch-size"], report["metrics"]["loss_curve"]
    optimizer = torch.optim.Adadelta(network.parameters(), lr=parameters["learning-rate"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=parameters["gamma"])
    seconds = []  # type: List[float]
    network.train()
    for epoch in range(parameters["epochs"]):
        order = torch.randperm(len(images))
        whole = len(images) // size
        for index in range(min(parameters["batches"] or whole, whole)):
            chosen = order[index * size : (index + 1) * size]
            start = time.perf_counter()
            loss = train_step(torch, network, optimizer, images[chosen].to(device), labels[chosen].to(device))
            wait_for(torch, device)
            seconds.append(time.perf_counter() - start)
            losses.append(float(loss))
            if index % 100 == 0:
                print("Epoch {} batch {}: loss {:.4f}".format(epoch + 1, index + 1, losses[-1]), flush=True)
        scheduler.step()
    split = next((n for n in range(1, len(seconds)) if is_warm(seconds[:n], parameters["warmup"])), len(seconds))
    report["first_call"], report["warmup"], report["samples"] = seconds[0], seconds[1:split], seconds[split:]
    report["items_per_sample"] = size


def evaluate(torch: Any, network: Any, device: Any, digits: Digits, report: Report) -> None:
    """Accuracy and mean loss on the test digits."""
    network.eval()
    images, labels = digits
    right, loss = 0, 0.0
    with torch.no_grad():
        for start in range(0, len(images), 500):
            part = labels[start : start + 500]
            scores = torch.log_softmax(network(images[start : start + 500].to(device)), dim=1).cpu()
            right += int((scores.argmax(dim=1) == part).sum())
            loss += float(torch.nn.functional.nll_loss(scores, part, reduction="sum"))
    report["metrics"]["accuracy"] = right / len(images)
    report["metrics"]["test_loss"] = loss / len(images)


def measure(parameters: Dict[str, Any], device: Optional[str], report: Report) -> None:
    """Compare first, then train and test."""
    with phase("import"):
        torch = importlib.import_module("torch")
    report["backend"] = "torch"
    with phase("backend"):
        opened = open_device(torch, device)
        report["device"] = str(opened).replace("mps:0", "mps")
    answer_for_parity(torch, opened, parameters, report)
    digits, test_digits = load_digits(torch, parameters, report)
    report["metrics"]["loss_curve"] = []
    torch.manual_seed(parameters["seed"])
    network = build_network(torch, parameters["seed"]).to(opened)
    train(torch, network, opened, digits, parameters, report)
    evaluate(torch, network, opened, test_digits, report)


if __name__ == "__main__":
    raise SystemExit(run(__doc__, PARAMETERS, measure))
