"""Which backend Keras really uses here, and where that came from. Standard library of Python 3.6 and Keras only."""

import argparse
import importlib
import io
import json
import os
import platform
import sys
import traceback
from typing import Any, Callable, Dict, Optional

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


def fill(listing: Listing, _: Optional[str]) -> None:
    facts = listing["facts"]
    facts["variable"] = os.environ.get("KERAS_BACKEND", "")
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    facts["settings_file"] = os.path.join(home, "keras.json")
    facts["settings_backend"] = settings_backend(facts["settings_file"])
    keras = importlib.import_module("keras")
    listing["version"] = str(keras.__version__)
    listing["error_phase"] = "backend"
    backend = importlib.import_module("keras.backend")
    facts["active"] = str(backend.backend())
    facts["source"] = "KERAS_BACKEND" if facts["variable"] else "keras.json" if facts["settings_backend"] else "default"
    facts["image_data_format"] = str(backend.image_data_format())
    facts["floatx"] = str(backend.floatx())


def settings_backend(path: str) -> str:
    """The backend that the settings file names, before Keras writes one of its own; "" where it names none."""
    try:
        with io.open(path, encoding="utf-8") as stream:
            return str(json.load(stream).get("backend", ""))
    except (OSError, ValueError, AttributeError):
        return ""


if __name__ == "__main__":
    serve("keras", fill)
