"""Feeds bad input to everything that reads: mutated at random, or guided by coverage where atheris is installed.

    python benchmarks/robustness/fuzz.py --inputs 10000 --seed 1
    python -m pip install atheris && python benchmarks/robustness/fuzz.py --guided manifest --inputs 10000

Prints a JSON line a target; exit 1 at the first fault, with the input that caused it.
"""

import argparse
import importlib
import json
import pkgutil
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

NAMES = ("manifest", "matrix", "lock", "report", "result", "command")
TOLD_EVERY = 1000
PIECES = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b'"', b"'''", b"[", b"[[", b"{", b"}", b"=", b"\n", b"\r", b"#", b"\\", b"\\u0000",
    b"-1", b"1e999", b"NaN", b"99999999999999999999", b"true", b"null", b"[]", b"{}", b"../", b"/", b"@", b"==", b">=",
    b"; ", b"sha256:", b" \\\n", b"0x", b"\xe2\x80\xae", b"\x1b[31m", b"schema", b"name", b"python", b"expect", b"index",
)  # fmt: skip


def mutate(data, rng, others):
    """Return the bytes with one to eight random changes."""
    content = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(content) + 1)
        kind = rng.randrange(6)
        if kind == 0 and content:
            content[place % len(content)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            content[place:place] = rng.choice(PIECES)
        elif kind == 2:
            del content[place : place + rng.choice((1, 2, 8, 64))]
        elif kind == 3:
            piece = content[place : place + rng.randint(1, 40)]
            content[place:place] = piece * rng.choice((1, 2, 50))
        elif kind == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            content[place:place] = other[start : start + rng.randint(1, 80)]
        else:
            content[place : place + 1] = bytes([rng.randrange(256)])
    return bytes(content[:20000])


def targets(folder):
    """Return every target as a function of bytes alone."""
    import targets as room

    found = {name: getattr(room, name) for name in NAMES}
    found["result"] = partial(room.result, folder=folder)
    found["command"] = partial(room.command, project=room.make_project(folder))
    return found, room.seeds()


def run(folder, names, inputs, seed):
    """Feed each target so many inputs and return the faults: target, input, what went wrong."""
    functions, seeds = targets(folder)
    faults = []
    for name in names:
        rng = random.Random(f"{seed} {name}")
        begun = time.monotonic()
        for _ in range(inputs):
            data = mutate(rng.choice(seeds[name]), rng, seeds[name])
            try:
                functions[name](data)
            except BaseException as error:  # noqa: BLE001 - whatever comes out is the fault that is looked for
                faults.append(
                    {"target": name, "fault": f"{type(error).__name__}: {error}"[:600], "input": repr(data)[:3000]}
                )
                break
        told = {"target": name, "inputs": inputs, "seconds": round(time.monotonic() - begun, 1)}
        print(json.dumps({**told, "faults": [each for each in faults if each["target"] == name]}), flush=True)
    return faults


def counted(function, name, inputs):
    """Return a target that tells, every now and then and at the end, to how many inputs it has stood up."""
    begun, seen = time.monotonic(), 0

    def target(data):
        nonlocal seen
        function(data)
        seen += 1
        if seen % TOLD_EVERY == 0 or seen == inputs:
            told = {"target": name, "guided": True, "inputs": seen, "seconds": round(time.monotonic() - begun, 1)}
            print(json.dumps(told), flush=True)

    return target


def run_guided(folder, name, inputs, seed):
    """Let atheris look for inputs that reach new code; it ends the program itself, with a message at a fault."""
    import atheris

    import envmgr

    with atheris.instrument_imports(include=["envmgr", "packaging", "tomllib", "tomlkit"]):
        functions, seeds = targets(folder)
        if name == "command":  # what commands import when they are run must be instrumented as well
            for module in pkgutil.walk_packages(envmgr.__path__, "envmgr."):
                if ".probes" not in module.name and not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(seeds[name]):
        (corpus / str(number)).write_bytes(data)
    atheris.Setup(
        [sys.argv[0], f"-runs={inputs}", f"-seed={seed}", "-max_len=8000", "-timeout=30", "-verbosity=0", str(corpus)],
        counted(functions[name], name, inputs),
    )
    atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--guided", choices=NAMES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.guided:
            run_guided(Path(folder), options.guided, options.inputs, options.seed)
        return int(bool(run(Path(folder), options.only or NAMES, options.inputs, options.seed)))


if __name__ == "__main__":
    sys.exit(main())
