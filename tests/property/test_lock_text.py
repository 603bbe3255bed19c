from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from envmgr.lock.parse import parse
from envmgr.lock.render import build_constraints, render, requirements
from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.platform import Platform

HASHES = st.lists(st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True), min_size=1, max_size=3, unique=True)
WORDS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
DISTRIBUTIONS = st.builds(
    LockedDistribution,
    name=st.from_regex(r"[a-z0-9]{1,6}(-[a-z0-9]{1,4})?", fullmatch=True),
    version=st.from_regex(r"[1-9]?[0-9]\.[0-9](\.dev[0-9]{8}|rc1)?(\+(cpu|cu121))?", fullmatch=True),
    hashes=HASHES.map(lambda hashes: tuple(sorted(hashes))),
    marker=st.sampled_from([None, "sys_platform == 'linux'", 'python_version < "3.8" and os_name == "nt"']),
    index=st.none() | WORDS,
    source=st.booleans(),
)
SECTIONS = st.lists(DISTRIBUTIONS, max_size=4, unique_by=lambda each: each.name).map(tuple)
LOCKS = st.builds(
    Lock,
    manifest=WORDS,
    variant=WORDS,
    platform=st.sampled_from(Platform),
    python=st.from_regex(r"3\.[1-9][0-9]?", fullmatch=True),
    inputs=st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True),
    indexes=st.lists(WORDS, max_size=3).map(tuple),
    exclude_newer=st.none() | st.dates(min_value=date(2000, 1, 1)),
    uv=st.sampled_from(["", "0.9.1", "0.13.9"]),
    minimum=st.sampled_from(["", "glibc 2.28", "macos 11.0"]),
    distributions=SECTIONS,
    builds=SECTIONS,
)


@given(LOCKS)
def test_parse_and_render_are_inverse(lock: Lock) -> None:
    text = render(lock)
    assert parse(text, "x.txt") == lock
    assert render(parse(text, "x.txt")) == text


@given(LOCKS)
def test_every_distribution_is_installed_from_exactly_one_index(lock: Lock) -> None:
    files = [requirements(lock, index) for index in {None, *(each.index for each in lock.distributions)}]
    assert sum(file.count("==") - file.count("== ") for file in files) == len(lock.distributions)
    assert build_constraints(lock).count("--hash") == sum(len(each.hashes) for each in lock.builds)
