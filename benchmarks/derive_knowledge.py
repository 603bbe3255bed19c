"""Derive the data of envmgr/diagnose/knowledge from their sources, so that nobody types lists of complaints.

derive_knowledge.py stdlib PYTHON... > stdlib.json        what left the standard library: asked of the interpreters given
derive_knowledge.py imports WHEEL RANKS > import_names.json   import name -> distributions: from what pigar ships and a table of downloads
derive_knowledge.py lost MODULE VERSION=PYTHON...   names that left a module, with the first version asked that has each no more:
    asked of interpreters that have it installed; lost.json holds the answers
"""

import itertools
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

NO_ONES = {
    "test",
    "tests",
    "testing",
    "example",
    "examples",
    "doc",
    "docs",
    "src",
    "scripts",
    "tools",
    "benchmarks",
    "setup",
    "build",
    "dist",
    "lib",
    "bin",
    "data",
    "conftest",
    "sample",
    "samples",
    "demo",
}

ASK_LIBRARY = r"""
import json, pkgutil, sys, warnings, os
warnings.simplefilter("ignore")
names = set(sys.builtin_module_names)
for _, name, _ in pkgutil.iter_modules([os.path.dirname(os.__file__), os.path.join(os.path.dirname(os.__file__), "lib-dynload")]):
    names.add(name)
names = sorted(n for n in names if not n.startswith("_") and n not in ("this", "antigravity", "idlelib", "test", "turtledemo", "lib2to3") and "site-packages" not in n)
found = {}
for name in names:
    try:
        module = __import__(name)
        found[name] = sorted(x for x in dir(module) if not x.startswith("_"))
    except BaseException:
        found[name] = []
print("\n@@" + json.dumps({"version": "%d.%d" % sys.version_info[:2], "modules": found}))
"""

ASK_NAMES = r"""
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
kept = {}
for name, wanted in json.load(sys.stdin).items():
    try:
        module = importlib.import_module(name)
    except BaseException:
        continue
    kept[name] = []
    for x in wanted:
        try:
            getattr(module, x)
            kept[name].append(x)
        except BaseException:
            pass
print("\n@@" + json.dumps(kept))
"""

ASK_MODULE = r"""
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
print("\n@@" + json.dumps(sorted(x for x in dir(importlib.import_module(sys.argv[1])) if not x.startswith("_"))))
"""


def ask(python, code, *arguments, told=""):
    command = [python, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, input=told)
    return json.loads(done.stdout.rsplit("@@", 1)[1])


def same(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def order(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def lost(by_version):
    """Names by the last version that had them, for those that the newest version lacks."""
    versions = sorted(by_version, key=order)
    last = {}
    for version in versions:
        for name in by_version[version]:
            last[name] = version
    return {name: version for name, version in sorted(last.items()) if version != versions[-1]}


def left(module, pythons):
    """Public names by the first series (`1.24`), of those asked, that lacks them; lazy names are asked for one by one."""
    every = {module: sorted(set().union(*(ask(python, ASK_MODULE, module) for python in pythons.values())))}
    having = {
        version: set(ask(python, ASK_NAMES, told=json.dumps(every))[module]) for version, python in pythons.items()
    }
    versions = sorted(having, key=order)
    after = {last: ".".join(next_one.split(".")[:2]) for last, next_one in itertools.pairwise(versions)}
    return {name: after[last] for name, last in lost(having).items()}


def library(pythons):
    """Modules and public names by the last Python that had them; names served lazily are asked for one by one."""
    answers, places = {}, {}
    for python in pythons:
        answer = ask(python, ASK_LIBRARY)
        answers[answer["version"]], places[answer["version"]] = answer["modules"], python
    every = {
        name: sorted(set().union(*(found.get(name, ()) for found in answers.values())))
        for name in set().union(*answers.values())
    }
    answers = {
        version: answers[version] | ask(python, ASK_NAMES, told=json.dumps(every)) for version, python in places.items()
    }
    modules = lost({version: set(found) for version, found in answers.items()})
    names = {}
    for module in sorted(set().union(*answers.values())):
        having = {version: found[module] for version, found in answers.items() if found.get(module)}
        gone = lost(having) if len(having) > 1 and module not in modules else {}
        if gone:
            names[module] = gone
    newest = max(answers, key=order)
    return {"pythons": sorted(answers, key=order), "here": sorted(answers[newest]), "modules": modules, "names": names}


def imports(wheel, ranks):
    """Distributions by the top-level name that they install, the most downloaded first; a name of its own is left out.

    `wheel` is pigar's (BSD-3-Clause), which ships what it found in each distribution of the index. `ranks` is a table
    (tab-separated: name, version, month, rank) of how much each is downloaded; what has no rank is left out.
    """
    with open(ranks, encoding="utf-8") as lines:
        rows = (line.split("\t") for line in lines)
        rank = {same(row[0]): int(row[3]) for row in rows if len(row) > 3 and row[3].isdigit()}
    found = {}
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(wheel) as archive:
        database = sqlite3.connect(archive.extract("pigar/.db.sqlite3", place))
        query = "SELECT t.name, d.name FROM top_level_module_names t JOIN distributions d ON d.id = t.distribution_id"
        for module, distribution in database.execute(query):
            if same(distribution) in rank and re.fullmatch(r"[A-Za-z]\w*", module) and module not in NO_ONES:
                found.setdefault(module, set()).add(same(distribution))
        database.close()
    ordered = {module: sorted(names, key=rank.__getitem__)[:8] for module, names in sorted(found.items())}
    return {module: names for module, names in ordered.items() if names != [same(module)]}


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "stdlib":
        answer = library(arguments)
    elif what == "imports":
        answer = imports(*arguments)
    else:
        answer = left(arguments[0], dict(word.split("=", 1) for word in arguments[1:]))
    rows = (f" {json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(answer.items()))
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
