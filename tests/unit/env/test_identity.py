"""The key of an env changes with what is in it, and with nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from envmgr.env.identity import env_key, lock_digest, steps_digest
from envmgr.model.host import Interpreter
from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.manifest import Step
from envmgr.model.platform import Platform

PYTHON = Interpreter(
    executable="/pythons/3.8.18/bin/python3.8",
    version="3.8.18",
    build="default, Jan 1 2024",
    arch="x86_64",
    system="linux",
    base_prefix="/pythons/3.8.18",
    identity="0123456789abcdef",
)

hashes = st.text("0123456789abcdef", min_size=64, max_size=64).map(lambda text: f"sha256:{text}")
distributions = st.builds(
    LockedDistribution,
    name=st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True),
    version=st.from_regex(r"[1-9]\.[0-9]\.[0-9]", fullmatch=True),
    hashes=st.lists(hashes, min_size=1, max_size=3, unique=True).map(tuple),
    marker=st.sampled_from([None, "python_version >= '3.8'"]),
    index=st.sampled_from([None, "nightly"]),
    source=st.booleans(),
)
contents = st.lists(distributions, min_size=1, max_size=5, unique_by=lambda each: each.name)


def lock_of(distributions, **facts):
    given_facts = {"manifest": "a", "variant": "default", "inputs": "1", "python": "3.8"} | facts
    return Lock(platform=Platform.LINUX_X86_64, distributions=tuple(distributions), **given_facts)


@given(contents, st.randoms())
def test_order_and_names_do_not_enter(distributions, random):
    shuffled = [
        each.model_copy(update={"hashes": tuple(random.sample(each.hashes, len(each.hashes)))})
        for each in random.sample(distributions, len(distributions))
    ]
    renamed = lock_of(shuffled, manifest="b", variant="py3.8", inputs="2", uv="1.0", minimum="glibc 2.28")
    assert lock_digest(lock_of(distributions)) == lock_digest(renamed)


@given(contents, st.data())
def test_any_changed_distribution_gives_another_digest(distributions, data):
    place = data.draw(st.integers(0, len(distributions) - 1))
    each = distributions[place]
    changes = {
        "version": each.version + ".1",
        "hashes": (*each.hashes, "sha256:" + "f" * 63 + "g"),
        "marker": "os_name == 'nt'",
        "index": "another",
        "source": not each.source,
    }
    field = data.draw(st.sampled_from(sorted(changes)))
    changed = [*distributions]
    changed[place] = each.model_copy(update={field: changes[field]})
    assert lock_digest(lock_of(distributions)) != lock_digest(lock_of(changed))


@given(contents)
def test_build_requirements_enter(distributions):
    plain = lock_of(distributions)
    assert lock_digest(plain) != lock_digest(plain, {"flash-attn": ("torch",)})
    assert lock_digest(plain, {"Flash_Attn": ("torch",)}) == lock_digest(plain, {"flash-attn": ["torch"]})
    assert lock_digest(plain) != lock_digest(plain.model_copy(update={"builds": tuple(distributions)}))


@given(st.sampled_from(["implementation", "version", "build", "arch", "abi_flags", "base_prefix", "identity"]))
def test_every_part_of_the_interpreter_enters(field):
    other = PYTHON.model_copy(update={field: "something else"})
    assert env_key("c", PYTHON, Platform.LINUX_X86_64) != env_key("c", other, Platform.LINUX_X86_64)


def test_the_way_to_an_interpreter_does_not_enter():
    other = PYTHON.model_copy(update={"executable": "/usr/bin/python3", "source": "option"})
    assert env_key("c", PYTHON, Platform.LINUX_X86_64) == env_key("c", other, Platform.LINUX_X86_64)


def test_content_platform_and_hash_checking_enter():
    keys = {
        env_key("c", PYTHON, Platform.LINUX_X86_64),
        env_key("d", PYTHON, Platform.LINUX_X86_64),
        env_key("c", PYTHON, Platform.LINUX_AARCH64),
        env_key("c", PYTHON, Platform.LINUX_X86_64, hash_checking=False),
    }
    assert len(keys) == 4


def test_the_order_of_steps_counts():
    first, second = Step(install=("a==1",)), Step(install=("a==2",))
    assert steps_digest([first, second]) != steps_digest([second, first])
    assert steps_digest([first]) != steps_digest([first], "2019-06-01")
    assert steps_digest([first]) != steps_digest([Step(install=("a==1",), installer="pip==19.3.1")])
    assert steps_digest([first]) == steps_digest([Step(install=("a==1",))])
