"""uv is told everything by argument and sees nothing of the caller that configures it."""

from pathlib import Path

from envmgr.env.content import RequirementGroup, SourceBuilds, Switches
from envmgr.env.install import extra_build_dependencies
from envmgr.env.uv import index_arguments, index_variables, install_arguments, network_environment, uv_environment
from envmgr.model.host import InstallerSettings

HOST = InstallerSettings(
    index_url="https://mirror.example/simple",
    extra_index_urls=("https://more.example/simple", "file:///srv/simple"),
    find_links=("/srv/wheels",),
    certificate="/etc/own.pem",
    proxies={"https": "http://proxy.example:3128", "no_proxy": "localhost"},
)


def test_a_hosts_indexes_are_merged_as_pip_merges_them():
    assert index_arguments(HOST) == ("--index-strategy", "unsafe-best-match", "--find-links", "/srv/wheels")
    assert index_variables(HOST) == {
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_EXTRA_INDEX_URL": "https://more.example/simple file:///srv/simple",
    }


def test_a_strategy_that_uv_is_told_is_kept_and_so_are_the_hosts_that_are_trusted():
    told = HOST.model_copy(update={"index_strategy": "first-index", "insecure_hosts": ("a.example", "b.example:8080")})
    assert index_arguments(told)[:2] == ("--index-strategy", "first-index")
    variables = network_environment(told, {})
    assert variables["UV_INSECURE_HOST"] == variables["PIP_TRUSTED_HOST"] == "a.example b.example:8080"


def test_an_explicit_index_stands_alone_but_for_folders_of_wheels():
    assert index_arguments(HOST, "https://nightly.example/whl") == ("--find-links", "/srv/wheels")
    assert index_variables(HOST, "https://nightly.example/whl") == {"UV_DEFAULT_INDEX": "https://nightly.example/whl"}


def test_no_index_leaves_the_folders():
    offline = InstallerSettings(no_index=True, find_links=("/srv/wheels",), index_url="https://mirror.example/simple")
    assert index_arguments(offline, "https://nightly.example/whl") == ("--no-index", "--find-links", "/srv/wheels")
    assert index_variables(offline, "https://nightly.example/whl") == {}


def test_without_settings_uv_keeps_its_own_default():
    assert index_arguments(InstallerSettings()) == ()
    assert index_variables(InstallerSettings()) == {}


def test_no_credential_is_in_an_argument():
    secret = "https://me:TOKEN@mirror.example"
    settings = InstallerSettings(
        index_url=f"{secret}/simple", extra_index_urls=(f"{secret}/more",), find_links=("/srv/wheels", f"{secret}/flat")
    )
    for folders_only in (False, True):
        for explicit in (None, f"{secret}/whl"):
            arguments = index_arguments(settings, explicit, folders_only=folders_only)
            assert "TOKEN" not in " ".join(arguments)
    assert index_variables(settings)["UV_FIND_LINKS"] == f"/srv/wheels,{secret}/flat"


def test_the_environment_is_clean():
    caller = {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "UV_INDEX_URL": "https://evil.example",
        "UV_HTTP_TIMEOUT": "7",
        "UV_CACHE_DIR": "/home/me/.cache/uv",
        "PIP_INDEX_URL": "https://evil.example",
        "PYTHONPATH": "/home/me/modules",
        "VIRTUAL_ENV": "/home/me/venv",
        "https_proxy": "http://lower.example:1",
        "SSL_CERT_FILE": "/etc/callers.pem",
    }
    environment = uv_environment(Switches(uv="uv", settings=HOST, caller=caller), Path("/cache/uv"))
    assert environment == {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "https_proxy": "http://lower.example:1",
        "HTTPS_PROXY": "http://proxy.example:3128",
        "NO_PROXY": "localhost",
        "SSL_CERT_FILE": "/etc/own.pem",
        "UV_HTTP_TIMEOUT": "7",
        "UV_CACHE_DIR": str(Path("/cache/uv")),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


def test_an_install_resolves_nothing_and_checks_hashes():
    switches = Switches(uv="/tools/uv", offline=True, sharing="hardlink")
    group = RequirementGroup(text="", url="https://nightly.example/whl")
    arguments = install_arguments(switches, Path("/e/bin/python"), Path("/s/r.txt"), group)
    assert arguments[:3] == ("/tools/uv", "pip", "install")
    for wanted in ("--no-deps", "--require-hashes", "--no-compile-bytecode", "--offline"):
        assert wanted in arguments
    assert arguments[arguments.index("--link-mode") + 1] == "hardlink"


def test_uvs_whole_configuration_is_what_builds_need_besides():
    assert extra_build_dependencies(SourceBuilds()) == ""
    both = SourceBuilds(requires={"b": ('x ; python_version < "3.8"',), "a": ("y", "z")})
    assert extra_build_dependencies(both).splitlines() == [
        "[extra-build-dependencies]",
        '"a" = ["y", "z"]',
        '"b" = ["x ; python_version < \\"3.8\\""]',
    ]
