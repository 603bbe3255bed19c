"""How many hard gists `envmgr infer` finds an environment for.

infer.py FOLDER [--count N] [--skip N] [--budget SECONDS] [--json FILE]

FOLDER is a checkout of gistable/gistable. The sample is fixed by its rule: hard gists (both of that study's own trials
ended with an ImportError) that parse as Python 3, whose third-party imports are all widely used distributions, at least
one of them for machine learning, and whose id's sha256 begins with 0 to 7; in the order of that sha256, the first N.
None of their code is run or kept: an environment counts as found when every import and every name that is used from a
module is there.
"""

import argparse
import ast
import csv
import hashlib
import json
import statistics
import sys
import time
import warnings
from pathlib import Path

from envmgr.app.inferring.infer import Asked, infer
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError
from envmgr.ports import Listener

WIDELY_USED = set(
    "numpy scipy pandas sklearn matplotlib tensorflow keras torch torchvision theano cv2 PIL nltk seaborn requests flask "
    "django bs4 lxml yaml six tqdm h5py skimage networkx gensim statsmodels sympy sqlalchemy simplejson dateutil jinja2 "
    "click IPython pylab mpl_toolkits joblib xgboost lightgbm pytz tornado redis pymongo psycopg2 docopt boto boto3 "
    "selenium twisted werkzeug pytest mock".split()
)
LEARNING = set("sklearn tensorflow keras torch torchvision theano nltk xgboost lightgbm gensim".split())


class Narrator(Listener):
    """Tells on stderr what is tried."""

    def on_event(self, event):
        print(event.stage, event.subject, event.detail, file=sys.stderr, flush=True)


def imported(path):
    """The third-party modules of a snippet, None for what is no Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError):
        return None
    tops = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            tops.add(node.module.split(".")[0])
    return tops - set(sys.stdlib_module_names)


def sample(folder):
    """The ids by the rule, in its order."""
    with (folder / "results" / "naive-inference-results.csv").open(encoding="utf-8") as file:
        hard = [row["id"] for row in csv.DictReader(file) if row["initial-eval"] == row["final-eval"] == "ImportError"]
    chosen = []
    for gist in hard:
        digest = hashlib.sha256(gist.encode()).hexdigest()
        third = imported(folder / "all-gists" / gist / "snippet.py") if digest[0] in "01234567" else None
        if third and third <= WIDELY_USED and third & LEARNING:
            chosen.append((digest, gist))
    return sorted(chosen)


def measure(folder, gist, budget):
    begun = time.monotonic()
    row = {"id": gist, "found": False, "python": "", "day": "", "why": ""}
    try:
        asked = Asked((folder / "all-gists" / gist / "snippet.py",), budget=budget)
        found = infer(Workplace(listener=Narrator()), asked)
    except EnvmgrError as error:
        row["why"] = error.what.replace("snippet.py", "it") + (f": {error.why.splitlines()[0]}" if error.why else "")
    else:
        row |= {
            "found": found.proof.passed and not found.unreachable,
            "python": found.python,
            "day": found.exclude_newer,
            "why": ", ".join(line.split(":")[0] for line in found.unreachable),
            "requirements": list(found.requirements),
            "experiments": len(found.experiments),
        }
    return row | {"seconds": round(time.monotonic() - begun, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="these ids alone")
    parser.add_argument("--budget", type=float, default=300.0)
    parser.add_argument("--json", type=Path)
    wishes = parser.parse_args()
    chosen = sample(wishes.folder)[: wishes.count][wishes.skip :]
    rows = []
    print("| sha256 | gist | found | Python | as of | seconds | experiments | what is missing |")
    print("|---|---|---|---|---|---|---|---|")
    for digest, gist in chosen:
        if wishes.only and gist not in wishes.only:
            continue
        row = measure(wishes.folder, gist, wishes.budget)
        rows.append(row | {"sha256": digest})
        cells = (digest[:8], gist, "yes" if row["found"] else "no", row["python"], row["day"] or "newest")
        last = (row["seconds"], row.get("experiments", 0), row["why"][:90].replace("|", "/"))
        print("| " + " | ".join(str(cell) for cell in (*cells, *last)) + " |", flush=True)
    found = sum(row["found"] for row in rows)
    seconds = [row["seconds"] for row in rows]
    median = statistics.median(seconds) if seconds else 0.0
    print(f"\n{found} of {len(rows)} found, median {median:.0f} s, longest {max(seconds, default=0):.0f} s")
    if wishes.json:
        wishes.json.write_text(json.dumps({"rows": rows, "found": found, "median": median}, indent=1) + "\n")


if __name__ == "__main__":
    main()
