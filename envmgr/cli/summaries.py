"""What a list of commands says of each in one line, where the first sentence of its help would be cut."""

from __future__ import annotations

SUMMARIES: dict[str, str] = {
    "init": "Start a project here, or make manifests of other tools' files.",
    "show": "Show a manifest, its locks, and whether it is built.",
    "path": "Print the folder of a built environment.",
    "doctor": "Show this machine, and which version sets it can have.",
    "list": "List the manifests, and which are locked and built.",
    "lock": "Resolve manifests into locks with hashes.",
    "build": "Build environments, locked and verified.",
    "verify": "Compare what was asked, locked and installed.",
    "devices": "List the devices that an environment and this host offer.",
    "run": "Run your own command in an environment, in this folder.",
    "shell": "Open a shell in an environment, in this folder.",
    "diagnose": "Find by experiment why something fails, and what mends it.",
    "bisect": "Find the release, nightly, day or Python that broke it.",
    "diff": "Tell what differs between two environments, locks or hosts.",
    "infer": "Find an environment in which old scripts work.",
    "clean": "Remove built environments, and tell what that frees.",
    "schema": "Print the JSON Schema of manifests and of --json outputs.",
    "export": "Write a lock as requirements, pylock, conda, or a bundle.",
    "bug-report": "Write what a maintainer needs to know, nothing private.",
    "import": "Take a bundle into this project.",
    "matrix plan": "Show which cells would be measured, and which cannot be.",
    "matrix run": "Build what is missing, measure every cell, show the table.",
    "matrix show": "Show a run's table again.",
    "matrix logs": "Print what a cell's processes wrote.",
    "matrix compare": "Compare two runs, or two cells of one.",
    "matrix report": "Write a run as HTML, Markdown, CSV, JUnit or pyperf JSON.",
    "matrix import": "Take runs of another machine into this project.",
    "matrix watch": "Measure the newest nightly beside the last good one.",
    "python list": "List the Pythons of this host that serve, and why others do not.",
    "fleet up": "Start a scheduler with some workers here, until Ctrl-C.",
    "fleet worker": "Be a host of a fleet: build and measure what it is sent.",
    "kernel install": "Make an environment a kernel of Jupyter.",
}
"""By the words of a command."""
