"""Three bisections of real releases: probes used against the bound, and the samples of the one that is about speed.

    bisects.py [numpy h5py plaidml] [--processes N] [--json FILE]

`numpy`: the first release without `np.float`. `h5py`: the first release whose attributes break Keras 2.2.4 when it loads
a model that it saved. `plaidml`: which release (its bridge moved along) changed the time that MobileNet takes for one
picture on llvm_cpu. Each is one command line of envmgr, printed with its answer as Markdown. The package index is needed;
numpy takes half a minute, h5py two minutes, plaidml about a quarter of an hour on a quiet machine.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

KERAS_PROBE = """\
import os, tempfile
os.environ["KERAS_BACKEND"] = "plaidml.keras.backend"
os.environ["PLAIDML_EXPERIMENTAL"] = "0"
os.environ["PLAIDML_DEVICE_IDS"] = "llvm_cpu.0"
import numpy
from keras.layers import Dense
from keras.models import Sequential, load_model
model = Sequential([Dense(3, input_shape=(4,), activation="tanh"), Dense(2)])
path = os.path.join(tempfile.mkdtemp(), "model.h5")
model.save(path)
again = load_model(path)
picture = numpy.ones((1, 4), dtype="float32")
assert numpy.allclose(model.predict(picture), again.predict(picture)), "the numbers differ"
"""
KERAS = ["plaidml==0.7.0", "plaidml-keras==0.7.0", "keras==2.2.4"]


def questions(processes: int, plaidml: str) -> dict:
    """Return the arguments of each bisection."""
    keras = [word for line in KERAS for word in ("--require", line)]
    return {
        "numpy": [
            "--package", "numpy", "--python", "3.8", "--require", "numpy", "--good", "1.18.0", "--bad", "1.24.4",
            "--probe", "import numpy; numpy.float",
        ],
        "h5py": [
            "--package", "h5py", "--python", "3.7", *keras, "--require", "h5py", "--good", "2.8.0", "--bad", "3.8.0",
            "--probe", KERAS_PROBE,
        ],
        "plaidml": [
            "--package", "plaidml", "--python", "3.7", *keras, "--require", "h5py<3", "--good", plaidml, "--bad", "0.7.0",
            "--runner", "keras_inference", "--device", "llvm_cpu.0", "--set", "model=mobilenet", "--set", "batch-size=1",
            "--set", "batches=5", "--metric", "seconds", "--processes", str(processes),
        ],
    }  # fmt: skip


def bisect(arguments: list, folder: str) -> dict:
    """Run one bisection and return what it says, with the seconds that it took."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "envmgr", "bisect", *arguments, "--json"],
        cwd=folder, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    return {"exit": done.returncode, "error": answer["error"], "took": time.monotonic() - begun} | (
        answer["data"] or {}
    )


def row(name: str, answer: dict) -> str:
    """Return one line of the table of all."""
    if answer["error"]:
        return f"| {name} | {answer['error']['what']} | {answer['error']['why']} | | | {answer['took']:.0f} s |"
    found = answer["bisect"]
    ends = [found[end]["point"] for end in ("last_good", "first_bad")]
    told = [f"{end['label']} ({end['date']})" for end in ends]
    why = (found["reason"] or f"{found['first_bad'].get('ratio') or 1:.2f} times the time").replace("|", "/")
    probes = f"{found['probes']} of {found['bound']}, {found['repeats']} repeated"
    return (
        f"| {name} | {told[0]} | {told[1]} | {why} | {probes} for {found['points']} points | {answer['took']:.0f} s |"
    )


def samples(answer: dict) -> list:
    """Return the table that proves a metric's verdicts: each process's median."""
    found = answer.get("bisect") or {"tried": []}
    measured = [each for each in found["tried"] if each["samples"]]
    if not measured:
        return []
    lines = ["", "| release | verdict | median | to the good end | its processes | the good end's | the bad end's |"]
    lines.append("|---|---|---|---|---|---|---|")
    for each in measured:
        middles = [_medians(each[name]) for name in ("samples", "good_samples", "bad_samples")]
        ratio = f"{each['ratio']:.2f}" if each["ratio"] else ""
        head = f"| {each['point']['label']} | {each['verdict']} | {each['median']:.3g} s | {ratio} | "
        lines.append(f"{head}{' | '.join(middles)} |")
    return lines


def _medians(samples: list) -> str:
    return " ".join(f"{sorted(each)[len(each) // 2]:.3g}" for each in samples if each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], "numpy", "h5py", "plaidml"], help="which (default: all)")
    parser.add_argument("--processes", type=int, default=4, help="processes at each point of the metric bisection")
    parser.add_argument("--plaidml", default="0.6.0", metavar="RELEASE", help="the good end of the metric bisection")
    parser.add_argument("--folder", default=".", help="where envmgr is started: the project that keeps the runs")
    parser.add_argument("--json", type=Path, help="a file for all the answers")
    wishes = parser.parse_args()
    asked = questions(wishes.processes, wishes.plaidml)
    answers = {name: bisect(asked[name], wishes.folder) for name in wishes.names or asked}
    print("| bisect | last good | first bad | why | probes | took |\n|---|---|---|---|---|---|")
    for name, answer in answers.items():
        print(row(name, answer))
    print("\n".join(line for answer in answers.values() for line in samples(answer)))
    for name in answers:
        print(f"\n`envmgr bisect {shlex.join('...' if word == KERAS_PROBE else word for word in asked[name])}`")
    if wishes.json:
        wishes.json.write_text(json.dumps(answers, indent=1))


if __name__ == "__main__":
    main()
