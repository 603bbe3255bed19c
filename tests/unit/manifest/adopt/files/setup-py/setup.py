"""As they were written for years."""

import os
import re
import sys
from setuptools import setup, find_packages

here = os.path.dirname(__file__)
NUMPY = "1.19.5"
SCIPY_MIN = ">=1.4"
base = ["numpy==" + NUMPY, f"scipy{SCIPY_MIN}", "h5py>=%s,<%s" % ("2.10", "3")]
extras = {"plot": ["matplotlib>=3"], "test": ["pytest"]}
if sys.platform == "darwin":
    base.append("pyobjc")
base += ["six"]
extras["all"] = sum(extras.values(), [])


def version():
    with open(os.path.join(here, "thing", "__init__.py")) as f:
        return re.search('"(.*)"', f.read()).group(1)


if __name__ == "__main__":
    setup(
        name="Thing",
        version=version(),
        packages=find_packages(),
        python_requires=">=3.6.*, <3.10",
        install_requires=base + extras["plot"] + ["pandas{}".format("<1.2"), os.environ.get("EXTRA", "")],
        extras_require=extras,
        classifiers=["Programming Language :: Python :: 3.9"],
    )
