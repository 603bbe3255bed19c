"""Which gists `envmgr infer` is measured on: a rule that anyone can apply to a checkout of gistable/gistable.

A gist is in the sample when

1. it is *hard*: in `results/naive-inference-results.csv` both of that study's own trials ended with an ImportError
   (`initial-eval` and `final-eval`; 2,891 of 10,259 gists, the set that HG2.9K is),
2. it parses as Python 3 (without a fallback to an older grammar),
3. all that it imports anywhere, functions included, and that no Python 3 ever had in its standard library, are modules of
   the widely used distributions below; modules that Python 2 alone had are none of these,
4. at least one of those is for machine learning,
5. the sha256 of its id, as hexadecimal digits, begins with 0 to 7; those that begin with 8 to f are held back, and this
   module gives no way to reach them.

They are ordered by that sha256: 83 of them, of which the first 40 are the fixed sample; `--skip 40` gives others. They are
read, never run, and none of their code is kept in this repository.
"""

import ast
import csv
import hashlib
import warnings

from envmgr.diagnose.knowledge import in_standard_library

COUNT = 40
WIDELY_USED = set(
    "numpy scipy pandas sklearn matplotlib tensorflow keras torch torchvision theano cv2 PIL nltk seaborn requests flask "
    "django bs4 lxml yaml six tqdm h5py skimage networkx gensim statsmodels sympy sqlalchemy simplejson dateutil jinja2 "
    "click IPython pylab mpl_toolkits joblib xgboost lightgbm pytz tornado redis pymongo psycopg2 docopt boto boto3 "
    "selenium twisted werkzeug pytest mock".split()
)
LEARNING = set("sklearn tensorflow keras torch torchvision theano nltk xgboost lightgbm gensim".split())


def snippet_of(folder, gist):
    """Where a gist's only file lies in a checkout."""
    return folder / "all-gists" / gist / "snippet.py"


def third_party(path):
    """The modules that a file imports and no Python 3 ever brought, None for what does not parse as Python 3."""
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
    return {top for top in tops if top != "__future__" and not in_standard_library(top)}


def hard_gists(folder):
    """The ids of the hard gists of a checkout."""
    with (folder / "results" / "naive-inference-results.csv").open(encoding="utf-8") as file:
        return [row["id"] for row in csv.DictReader(file) if row["initial-eval"] == row["final-eval"] == "ImportError"]


def sample(folder):
    """Pairs of sha256 and id of all that the rule chooses, in its order."""
    chosen = []
    for gist in hard_gists(folder):
        digest = hashlib.sha256(gist.encode()).hexdigest()
        if digest[0] not in "01234567":
            continue
        modules = third_party(snippet_of(folder, gist))
        if modules and modules <= WIDELY_USED and modules & LEARNING:
            chosen.append((digest, gist))
    return sorted(chosen)
