"""What stands under the help of a command: command lines to begin with."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from envmgr.cli.summaries import SUMMARIES

BEGIN = (
    "envmgr doctor                                 what this machine can have",
    "envmgr matrix run                             measure what is shipped",
    "envmgr init --from requirements.txt           begin with what you have",
    'envmgr diagnose NAME --probe "import keras"   why it fails, and what mends it',
)
"""What stands under the help of all."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": (
        "envmgr init",
        "envmgr init --from requirements.txt --name mine",
        "envmgr init --from pyproject.toml --with test",
    ),
    "list": ("envmgr list", "envmgr list --project ../other --json"),
    "path": ("envmgr path keras-jax",),
    "show": ("envmgr show plaidml-0.6.4@py3.9",),
    "doctor": ("envmgr doctor", "envmgr doctor --host facts.json"),
    "lock": ("envmgr lock keras-jax --platform macos-arm64", "envmgr lock --check"),
    "build": (
        "envmgr build plaidml-0.6.4 keras-jax",
        "envmgr build keras-jax --again",
        "envmgr build plaidml-0.7.0@py3.9 --offline",
    ),
    "verify": ("envmgr verify plaidml-0.7.0 --deep",),
    "devices": ("envmgr devices plaidml-0.6.4",),
    "run": ("envmgr run plaidml-0.7.0 --device llvm_cpu.0 -- python train.py", "envmgr run torch-cpu -- pytest -x"),
    "shell": ("envmgr shell keras-jax",),
    "diagnose": (
        'envmgr diagnose plaidml-0.7.0-python3.12 --probe "import keras"',
        'envmgr diagnose --python 3.9 --require keras==2.2.4 --probe "import keras"',
        "envmgr diagnose latest --good 20260101T033000Z",
    ),
    "infer": ("envmgr infer train.py", "envmgr infer notebook.ipynb --date 2018-03-01 --name old-notebook"),
    "bisect": (
        'envmgr bisect --package h5py --python 3.8 --require h5py --good 2.10.0 --bad 3.8.0 --probe "import h5py"',
        "envmgr bisect torch-nightly --nightly --good 2026-10-01 --bad 2026-11-20 --runner torch_mnist --outcome wrong",
    ),
    "diff": ("envmgr diff plaidml-0.6.4 plaidml-0.7.0", "envmgr diff here other-machine.json"),
    "clean": ("envmgr clean --dry-run", "envmgr clean torch-stable --yes"),
    "schema": ("envmgr schema manifest --output manifest.json", "envmgr schema matrix run"),
    "export": ("envmgr export keras-jax --to pylock --output pylock.toml",),
    "import": ("envmgr import keras-jax.zip", "envmgr import keras-jax.zip --no-build"),
    "bug-report": ("envmgr bug-report plaidml-0.6.4 --output bug.md",),
    "matrix plan": ("envmgr matrix plan vgg19 -e plaidml-0.6.4", "envmgr matrix plan --host facts.json"),
    "matrix run": (
        "envmgr matrix run",
        "envmgr matrix run vgg19 -e plaidml-0.7.0 -e keras-jax --effort default",
        "envmgr matrix run --resume",
    ),
    "matrix compare": (
        "envmgr matrix compare --baseline latest --fail-if-slower 10%",
        "envmgr matrix compare --cell plaidml-0.6.4/keras_inference --cell plaidml-0.7.0/keras_inference",
    ),
    "matrix show": ("envmgr matrix show", "envmgr matrix show latest --markdown"),
    "matrix report": ("envmgr matrix report --html report.html", "envmgr matrix report --junit junit.xml"),
    "matrix import": ("envmgr matrix import ../runs-of-the-mac",),
    "matrix watch": ("envmgr matrix watch nightly --good 2026-11-01",),
    "matrix logs": ("envmgr matrix logs plaidml-0.7.0/keras_inference",),
    "fleet up": ("envmgr fleet up --workers 2",),
    "fleet worker": ("envmgr fleet worker tcp://127.0.0.1:8786 --name mac",),
    "python list": ("envmgr python list",),
    "python install": ("envmgr python install 3.8",),
    "kernel install": ("envmgr kernel install keras-jax",),
    "kernel list": ("envmgr kernel list",),
    "kernel remove": ("envmgr kernel remove keras-jax",),
}


def told(lines: Sequence[str]) -> str:
    """Return examples as the end of a help, line by line as they are."""
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in lines)])


def add_examples(group: typer.Typer, before: str = "") -> None:
    """Give every command of a group, and of the groups in it, its line in lists and its examples."""
    for command in group.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        command.short_help = SUMMARIES.get(f"{before}{name}")
        lines = EXAMPLES.get(f"{before}{name}")
        if lines:
            command.epilog = told(lines)
    for inner in group.registered_groups:
        if inner.typer_instance is not None and inner.name:
            add_examples(inner.typer_instance, f"{before}{inner.name} ")
