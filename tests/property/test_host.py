"""Laws of the host room's pure parts."""

from hypothesis import given
from hypothesis import strategies as st

from envmgr.errors import UsageError
from envmgr.host.candidates import parse_py_launcher, parse_virtual_config
from envmgr.host.linux import parse_cpuinfo, parse_lspci, parse_os_release, parse_rocminfo
from envmgr.host.macos import parse_displays, parse_sysctl
from envmgr.host.match import match
from envmgr.host.nvidia import parse_query
from envmgr.host.opencl import parse_clinfo, parse_ldconfig
from envmgr.host.windows import parse_machine, parse_registry, parse_video
from envmgr.model.host import HostFacts, Interpreter
from envmgr.model.manifest import Manifest
from envmgr.model.platform import platform_of
from envmgr.model.redaction import redact

WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-._", min_size=1, max_size=12)
SECRET = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ!$%&*+=~:@", min_size=4, max_size=16)
ADDRESS = st.builds("{}.example/{}".format, WORD, WORD)
SCHEME = st.sampled_from(["https", "http", "file", "git+https", "socks5h"])


@given(SCHEME, WORD, SECRET, ADDRESS, WORD)
def test_redacting_leaves_no_secret_and_keeps_the_address(scheme, user, secret, address, before):
    text = redact(f"{before} {scheme}://{user}:{secret}@{address}?token={secret}#sha256=1")
    assert secret not in text
    assert f"{scheme}://{address}" in text


@given(st.text())
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@given(SCHEME, ADDRESS)
def test_what_holds_no_secret_is_left_alone(scheme, address):
    assert redact(f"{scheme}://{address}") == f"{scheme}://{address}"


PARSERS = (
    parse_py_launcher,
    parse_virtual_config,
    parse_cpuinfo,
    parse_lspci,
    parse_os_release,
    parse_rocminfo,
    parse_displays,
    parse_sysctl,
    parse_query,
    parse_clinfo,
    parse_ldconfig,
    parse_machine,
    parse_registry,
    parse_video,
)


@given(st.text(), st.sampled_from(PARSERS))
def test_no_text_makes_a_parser_raise(text, parser):
    parser(text)


VERSIONS = st.builds("3.{}.{}".format, st.integers(6, 14), st.integers(0, 20))
INTERPRETERS = st.builds(
    Interpreter,
    executable=WORD,
    version=VERSIONS,
    arch=st.sampled_from(["x86_64", "arm64", "x86"]),
    system=st.just("macos"),
    abi_flags=st.sampled_from(["", "t", "m"]),
    implementation=st.sampled_from(["CPython", "PyPy"]),
)
HOSTS = st.builds(
    HostFacts,
    name=st.just("mac"),
    system=st.just("macos"),
    machine=st.sampled_from(["arm64", "x86_64"]),
    interpreters=st.lists(INTERPRETERS, max_size=6).map(tuple),
    fetchable_pythons=st.lists(st.sampled_from(["3.8", "3.9", "3.12", "3.8-macos-x86_64"]), unique=True).map(tuple),
)
MANIFESTS = st.builds(
    lambda python, platforms: Manifest(schema=1, name="m", python=python, platforms=platforms),
    python=st.sampled_from([">=3.8", ">=3.7,<3.10", "==3.8.*", ">=3.13", "!=3.9.*"]),
    platforms=st.lists(st.sampled_from(["macos-x86_64", "macos-arm64", "linux-x86_64"]), min_size=1, unique=True),
)


@given(MANIFESTS, HOSTS)
def test_a_match_is_one_of_three_things_and_keeps_its_word(manifest, facts):
    found = match(manifest, "", facts)
    assert [bool(found.interpreter), bool(found.fetch), bool(found.reason)].count(True) == 1
    if found.interpreter is not None:
        assert platform_of(found.interpreter.system, found.interpreter.arch) is found.platform
    if found.fits:
        assert found.platform in manifest.platforms


@given(MANIFESTS, HOSTS, st.text(min_size=1) | st.from_regex(r"(python|pypy|cpython)?-?3\.\S{1,6}", fullmatch=True))
def test_any_request_is_served_refused_or_called_senseless(manifest, facts, request):
    try:
        found = match(manifest, "", facts, request)
    except UsageError:
        return
    assert found.fits or found.reason


@given(MANIFESTS, HOSTS, st.randoms())
def test_the_order_in_which_pythons_were_found_does_not_decide_the_version(manifest, facts, random):
    shuffled = list(facts.interpreters)
    random.shuffle(shuffled)
    first = match(manifest, "", facts)
    second = match(manifest, "", facts.model_copy(update={"interpreters": tuple(shuffled)}))
    assert (first.platform, first.fetch) == (second.platform, second.fetch)
    assert getattr(first.interpreter, "version", "") == getattr(second.interpreter, "version", "")
