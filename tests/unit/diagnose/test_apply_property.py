"""Any fix in any manifest: what is written means the fix and nothing else, and no untouched line is lost."""

import tomllib
from datetime import date

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from envmgr.app.diagnosing.apply import applied, python_specifier
from envmgr.manifest.read import parse_manifest
from envmgr.model.finding import Fix, Variables
from envmgr.model.manifest import Index, Step

NAMES = st.sampled_from(["alpha", "beta", "gamma-delta", "eps"])
VERSIONS = st.sampled_from(["", "==1.0", "<2", ">=1,<3", "[fast]==1.0"])
LINES = st.lists(st.tuples(NAMES, VERSIONS).map("".join), min_size=1, max_size=3, unique_by=lambda text: text[:3])
VARIABLES = st.sampled_from(["MODE", "KERAS_BACKEND", "A_PATH", "Z"])
VALUES = st.text("ab \"'\\#=[]é{}", max_size=6)
STEPS = st.lists(
    st.builds(
        Step,
        install=LINES.map(tuple),
        flags=st.sampled_from([(), ("--no-deps",)]),
        installer=st.sampled_from(["uv", "pip==24.0"]),
    ),
    min_size=1,
    max_size=3,
).map(tuple)
INDEXES = st.sampled_from([(), (Index(name="extra", url="file:///extra", packages=("alpha",)),)])


@st.composite
def notes(draw, key):
    """Up to two comment lines before an entry, and one behind it or none; each is told from all others by its key."""
    before = [f"# note {number} on {key}" for number in range(draw(st.integers(0, 2)))]
    return before, draw(st.sampled_from(["", f"   # behind {key}"]))


@st.composite
def manifests(draw):
    """A manifest as blocks of lines, each with the keys that it speaks of, keys in any order and tables after them."""
    keys = {"schema": "1", "name": '"x"', "summary": '"what # it is"', "python": '">=3.8,<3.13"'}
    history = draw(st.booleans())
    if not history:
        keys["requirements"] = str(list(draw(LINES))).replace("'", '"')
    chosen = draw(st.sets(st.sampled_from(["exclude-newer", "overrides", "build-constraints", "unset"])))
    optional = {
        "exclude-newer": "2026-01-02",
        "overrides": '["gamma==1"]',
        "build-constraints": '[\n  "cython<3",   # old code\n]',
        "unset": '["OLD"]',
    }
    keys |= {key: optional[key] for key in sorted(chosen)}
    blocks = []
    for key in draw(st.permutations(list(keys))):
        before, behind = draw(notes(key))
        blocks.append(((key,), [*before, *f"{key} = {keys[key]}{behind}".splitlines()]))
    tables = {"env": ['KEPT = "1"', 'MODE = "odd"'], "variants": ['python = ["3.11", "3.9"]'], "expect": []}
    tables |= {"build-requires": ['alpha = ["wheel"]']}
    tables["expect"] = ['runner = "answer"', 'outcome = "failed"', 'reason = "it is known"']
    wanted = draw(st.permutations(sorted(draw(st.sets(st.sampled_from(sorted(tables)))))))
    for table in wanted:
        before, behind = draw(notes(table))
        head = f"[[{table}]]" if table == "expect" else f"[{table}]"
        blocks.append(((table,), ["", *before, f"{head}{behind}"]))
        blocks += [((table, line.partition(" ")[0]), [f"{line}  # of {table}"]) for line in tables[table]]
    if history:
        blocks.append((("step",), ["", "[[step]]", 'install = ["alpha==1.0"]', "", "[[step]]", 'install = ["beta"]']))
    return blocks


@st.composite
def fixes(draw):
    """A fix of any parts, complete as a finding has it."""
    some = {
        "python": st.sampled_from(["3.9", "3.10.4", "cpython-3.11-linux-x86_64"]),
        "exclude_newer": st.sampled_from(["", "2020-07-27", "2021-01-01T00:00:00Z"]),
        "overrides": st.one_of(st.just(()), LINES.map(tuple)),
        "build_constraints": st.one_of(st.just(()), LINES.map(tuple)),
        "build_requires": st.dictionaries(NAMES, LINES.map(tuple), min_size=1, max_size=2),
        "index": INDEXES,
        "env": st.builds(
            Variables,
            set=st.dictionaries(VARIABLES, VALUES, max_size=2),
            unset=st.lists(st.sampled_from(["MODE", "GONE"]), unique=True).map(tuple),
        ),
    }
    parts = draw(st.sets(st.sampled_from(sorted(some))))
    found = {part: draw(some[part]) for part in sorted(parts)}
    asked = draw(st.sampled_from(["", "requirements", "steps"]))
    if asked:
        found[asked] = draw(LINES.map(tuple) if asked == "requirements" else STEPS)
    if found.get("env"):
        unset = tuple(name for name in found["env"].unset if name not in found["env"].set)
        found["env"] = Variables(set=found["env"].set, unset=unset)
    return Fix(**found)


def meant(text, fix):
    """The same change made in plain data, without a thought of comments."""
    data = tomllib.loads(text)
    if fix.python is not None:
        data["python"] = python_specifier(fix.python)
        data.pop("variants", None)
    if fix.requirements is not None:
        data.pop("step", None)
        data["requirements"] = list(fix.requirements)
    if fix.steps is not None:
        data.pop("requirements", None)
        data["step"] = [step.model_dump(mode="json", exclude_defaults=True) for step in fix.steps]
    if fix.exclude_newer is not None:
        data["exclude-newer"] = date.fromisoformat(fix.exclude_newer[:10]) if fix.exclude_newer else None
    for key, lines in (("overrides", fix.overrides), ("build-constraints", fix.build_constraints)):
        if lines is not None:
            data[key] = list(lines) or None
    if fix.build_requires is not None:
        data["build-requires"] = {
            **data.get("build-requires", {}),
            **{k: list(v) for k, v in fix.build_requires.items()},
        }
    if fix.index is not None:
        data["index"] = [each.model_dump(mode="json") for each in fix.index]
    if fix.env is not None:
        kept = {name: value for name, value in data.get("env", {}).items() if name not in fix.env.unset}
        data["env"] = {**kept, **fix.env.set}
        data["unset"] = list(dict.fromkeys([*data.get("unset", []), *fix.env.unset]))
    return tomlkit.dumps({key: value for key, value in data.items() if value is not None})


def touched(fix):
    """The keys whose lines a fix may change or take away."""
    found = {name.replace("_", "-") for name in Fix.model_fields if getattr(fix, name) is not None}
    found |= {"variants"} if fix.python is not None else set()
    found |= {"requirements", "step"} if fix.requirements is not None or fix.steps is not None else set()
    return found | ({"unset"} if fix.env is not None else set())


def is_kept(keys, fix):
    """Whether the lines of a block must stay: a table stays where single entries of it change."""
    if keys in {("env",), ("build-requires",), ("env", "KEPT")}:
        return True
    if keys == ("env", "MODE"):
        return fix.env is None or ("MODE" not in fix.env.set and "MODE" not in fix.env.unset)
    return keys[0] not in touched(fix)


@given(manifests(), fixes())
def test_a_manifest_means_exactly_the_fix_and_keeps_every_line_that_is_not_part_of_it(blocks, fix):
    text = "\n".join(line for _, lines in blocks for line in lines) + "\n"
    new = applied(text, fix)
    assert parse_manifest(new, "manifests/x.toml") == parse_manifest(meant(text, fix), "manifests/x.toml")
    lines = new.splitlines()
    for keys, own in blocks:
        if is_kept(keys, fix):
            assert [line for line in own if line] == [line for line in own if line and line in lines]
    comments = [line for keys, own in blocks for line in own if line.startswith("# note")]
    assert [line for line in comments if line not in lines and "variants" not in line] == []


@given(manifests(), fixes())
def test_a_fix_that_is_applied_twice_means_the_same(blocks, fix):
    text = "\n".join(line for _, lines in blocks for line in lines) + "\n"
    once = applied(text, fix)
    assert parse_manifest(applied(once, fix), "manifests/x.toml") == parse_manifest(once, "manifests/x.toml")
