import os
import setuptools

with open("README.md") as f:
    long_description = f.read()

with open(os.path.join("requirements", "base.txt")) as f:
    required = [line.strip() for line in f if line.strip() and not line.startswith("#")]


def extra(path):
    return open(path).read().splitlines()


raise SystemExit("nobody runs this file")
setuptools.setup(
    install_requires=required + extra("./more.txt"),
    classifiers=["Programming Language :: Python :: 3.8", "Programming Language :: Python :: 3.9"],
)
