"""pip's and uv's configuration, with the precedence that those tools have."""

from pathlib import Path

import pytest

from envmgr.errors import HostError
from envmgr.host.pip_settings import pip_files
from envmgr.host.settings import read_settings, redact_settings

USER = "/home/ada/.config/pip/pip.conf"


def read(machine, files=(), environment=(), system="linux", home="/home/ada"):
    return read_settings(*machine(system, files=files, environment=environment, home=home))


def test_nothing_configured_is_nothing(machine):
    settings = read(machine)
    assert (settings.index_url, settings.extra_index_urls, settings.origins) == (None, (), {})


def test_pip_files_add_up_by_option_and_a_later_one_replaces(machine):
    settings = read(
        machine,
        {
            "/etc/xdg/pip/pip.conf": "[global]\nconstraint = /etc/c.txt\nindex-url = https://a.example/simple\n",
            "/etc/pip.conf": "[global]\nindex_url = https://b.example/simple\ncert = /etc/ca.pem\n",
            USER: "[global]\nfind-links = /wheels\nextra-index-url =\n  https://c.example/s\n  https://d.example/s\n",
        },
    )
    assert settings.index_url == "https://b.example/simple"
    assert settings.extra_index_urls == ("https://c.example/s", "https://d.example/s")
    assert settings.origins == {
        "index_url": "/etc/pip.conf",
        "extra_index_urls": USER,
        "find_links": USER,
        "constraints": "/etc/xdg/pip/pip.conf",
        "certificate": "/etc/pip.conf",
    }


def test_the_install_section_wins_over_global_of_a_later_file(machine):
    files = {"/etc/pip.conf": "[install]\nfind-links = /a\n", USER: "[global]\nfind-links = /b\n"}
    assert read(machine, files).find_links == ("/a",)


def test_other_sections_are_not_for_install(machine):
    assert read(machine, {USER: "[wheel]\nfind-links = /a\n"}).find_links == ()


def test_variables_replace_files(machine):
    settings = read(machine, {USER: "[install]\nfind-links = /a /b\n"}, {"PIP_FIND_LINKS": "/c /d"})
    assert settings.find_links == ("/c", "/d")
    assert settings.origins["find_links"] == "PIP_FIND_LINKS"


def test_pip_config_file_replaces_the_users(machine):
    files = {USER: "[global]\nindex-url = https://user/s\n", "/my.conf": "[global]\nfind-links = /m\n"}
    settings = read(machine, files, {"PIP_CONFIG_FILE": "/my.conf"})
    assert (settings.index_url, settings.find_links) == (None, ("/m",))
    assert read(machine, files, {"PIP_CONFIG_FILE": "/dev/null"}).index_url is None
    assert read(machine, files, {"PIP_CONFIG_FILE": "/absent"}).index_url == "https://user/s"


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        (
            "linux",
            {"XDG_CONFIG_DIRS": "/x:/y", "VIRTUAL_ENV": "/venv"},
            [
                "/x/pip/pip.conf",
                "/y/pip/pip.conf",
                "/etc/pip.conf",
                "/home/ada/.pip/pip.conf",
                USER,
                "/venv/pip.conf",
            ],
        ),
        ("macos", {}, ["/Library/Application Support/pip/pip.conf", "/home/ada/.pip/pip.conf", USER]),
        (
            "windows",
            {"APPDATA": "/roaming", "PROGRAMDATA": "/programs"},
            ["/programs/pip/pip.ini", "/home/ada/pip/pip.ini", "/roaming/pip/pip.ini"],
        ),
    ],
)
def test_the_places_of_each_system(machine, system, environment, expected):
    assert [str(path) for path in pip_files(*machine(system, environment=environment))] == expected


def test_a_mac_with_application_support_uses_that(machine):
    place = "/home/ada/Library/Application Support/pip/pip.conf"
    settings = read(machine, {place: "[global]\nfind-links = /m\n", USER: "[global]\nfind-links = /u\n"}, (), "macos")
    assert settings.find_links == ("/m",)


@pytest.mark.parametrize(("text", "line"), [("index-url = x\n", "line 1"), ("[global]\n\nnonsense\n", "pip.conf")])
def test_a_damaged_pip_configuration_is_named(machine, text, line):
    with pytest.raises(HostError, match=line) as caught:
        read(machine, {"/etc/pip.conf": text})
    assert "/etc/pip.conf" in caught.value.what


def test_an_unreadable_file_counts_as_absent(machine):
    means, around = machine(files={"/etc/pip.conf": "[global]\nfind-links = /a\n"})
    means.files.forbidden.add("/etc/pip.conf")
    assert read_settings(means, around).find_links == ()


UV = "/home/ada/.config/uv/uv.toml"


def test_uv_lists_add_up_and_single_values_are_the_strongest(machine):
    settings = read(
        machine,
        {
            UV: (
                'index-url = "https://old.example/s"\nfind-links = ["/u"]\n[[index]]\nurl = "https://user.example/s"\n'
                'default = true\n[[index]]\nname = "torch"\nurl = "https://torch.example/s"\nexplicit = true\n'
            ),
            "/etc/uv/uv.toml": 'extra-index-url = ["https://system.example/s"]\nfind-links = ["/s"]\nnative-tls = true\n',
        },
        {"UV_INDEX": "corp=https://corp.example/s", "UV_FIND_LINKS": "/v,/w"},
    )
    assert settings.index_url == "https://user.example/s"
    assert settings.extra_index_urls == ("https://corp.example/s", "https://system.example/s")
    assert settings.find_links == ("/v", "/w", "/u", "/s")
    assert settings.native_tls
    assert settings.origins["find_links"] == f"UV_FIND_LINKS, {UV}, /etc/uv/uv.toml"


def test_uv_variables_come_before_files_and_the_new_before_the_old(machine):
    environment = {"UV_INDEX_URL": "https://old.example/s", "UV_DEFAULT_INDEX": "main=https://new.example/s"}
    settings = read(machine, {UV: 'index-url = "https://file.example/s"\n'}, environment)
    assert (settings.index_url, settings.origins["index_url"]) == ("https://new.example/s", "UV_DEFAULT_INDEX")


def test_a_url_that_holds_an_equals_sign_is_not_taken_for_a_name(machine):
    settings = read(machine, (), {"UV_INDEX": "https://mirror.example/s?key=value"})
    assert settings.extra_index_urls == ("https://mirror.example/s?key=value",)


def test_the_first_system_file_of_uv_counts_alone(machine):
    files = {"/etc/xdg/uv/uv.toml": 'find-links = ["/x"]\n', "/etc/uv/uv.toml": 'find-links = ["/e"]\n'}
    assert read(machine, files).find_links == ("/x",)


def test_uv_can_be_told_to_read_one_file_or_none(machine):
    files = {UV: 'find-links = ["/u"]\n', "/my.toml": '[pip]\nfind-links = ["/p"]\n'}
    assert read(machine, files, {"UV_CONFIG_FILE": "/my.toml"}).find_links == ("/p",)
    assert read(machine, files, {"UV_NO_CONFIG": "1"}).find_links == ()


def test_a_damaged_uv_configuration_is_named_with_its_line(machine):
    with pytest.raises(HostError, match=r"uv\.toml") as caught:
        read(machine, {UV: 'a = 1\nfind-links = ["/u\n'})
    assert "line 2" in caught.value.why


def test_uv_and_pip_together(machine):
    settings = read(
        machine,
        {USER: "[global]\nindex-url = https://pip.example/s\nfind-links = /p\n"},
        {"UV_DEFAULT_INDEX": "https://uv.example/s", "UV_FIND_LINKS": "/u", "UV_CONSTRAINT": "/c.txt /d.txt"},
    )
    assert settings.index_url == "https://uv.example/s"
    assert settings.find_links == ("/u", "/p")
    assert settings.constraints == ("/c.txt", "/d.txt")


def test_certificates_and_proxies_know_where_they_come_from(machine):
    settings = read(
        machine,
        {USER: "[global]\ncert = /pip.pem\nproxy = http://ada:s3cret@proxy.example:3128\n"},
        {"SSL_CERT_FILE": "/ssl.pem", "https_proxy": "http://lower.example", "HTTPS_PROXY": "x", "NO_PROXY": "local"},
    )
    assert (settings.certificate, settings.origins["certificate"]) == ("/ssl.pem", "SSL_CERT_FILE")
    assert settings.proxies == {
        "http": "http://ada:s3cret@proxy.example:3128",
        "https": "http://lower.example",
        "no": "local",
    }
    assert settings.origins["proxies.https"] == "https_proxy"
    assert settings.origins["proxies.http"] == USER


def test_the_redacted_settings_hold_no_credential_anywhere(machine):
    secret = "https://ada:s3cret@mirror.example/simple"
    settings = read(
        machine,
        {USER: f"[global]\nindex-url = {secret}\nextra-index-url = {secret}\nfind-links = {secret}\n"},
        {"ALL_PROXY": "ada:s3cret@proxy:1", "UV_CONSTRAINT": f"{secret}/c.txt"},
    )
    assert settings.index_url == secret
    assert "s3cret" not in redact_settings(settings).model_dump_json()
    assert redact_settings(settings).proxies == {"all": "proxy:1"}


def test_a_setting_does_not_show_its_value():
    from envmgr.host.setting import Setting

    assert "s3cret" not in repr(Setting(("https://ada:s3cret@mirror.example",), str(Path("/etc/pip.conf"))))


PROJECT = "/home/ada/work/project"


@pytest.mark.parametrize(
    ("files", "index", "origin"),
    [
        ({f"{PROJECT}/uv.toml": 'index-url = "https://own/s"\n'}, "https://own/s", f"{PROJECT}/uv.toml"),
        ({"/home/ada/work/uv.toml": 'index-url = "https://own/s"\n'}, "https://own/s", "/home/ada/work/uv.toml"),
        ({f"{PROJECT}/pyproject.toml": '[tool.uv]\nindex-url = "https://own/s"\n'}, "https://own/s", f"{PROJECT}/pyproject.toml"),
        ({f"{PROJECT}/pyproject.toml": '[[tool.uv.index]]\nurl = "https://own/s"\ndefault = true\n'}, "https://own/s", f"{PROJECT}/pyproject.toml"),
        (
            {f"{PROJECT}/pyproject.toml": "[project]\nname = 'x'\n", "/home/ada/work/uv.toml": 'index-url = "https://own/s"\n'},
            "https://own/s", "/home/ada/work/uv.toml",
        ),
        (
            {f"{PROJECT}/pyproject.toml": '[tool.uv]\nindex-url = "https://weaker/s"\n', f"{PROJECT}/uv.toml": 'index-url = "https://own/s"\n'},
            "https://own/s", f"{PROJECT}/uv.toml",
        ),
        ({"/home/ada/.config/uv/uv.toml": 'index-url = "https://user/s"\n'}, "https://user/s", "/home/ada/.config/uv/uv.toml"),
    ],
)  # fmt: skip
def test_uv_takes_the_nearest_file_of_the_project_before_the_users(machine, files, index, origin):
    settings = read_settings(*machine(files=files, place=Path(PROJECT)))
    assert (settings.index_url, settings.origins["index_url"]) == (index, origin)
    assert (
        read_settings(*machine(files=files, place=Path(PROJECT), environment={"UV_NO_CONFIG": "1"})).index_url is None
    )


def test_folders_in_uvs_file_are_meant_from_there(machine):
    files = {f"{PROJECT}/uv.toml": 'find-links = ["wheels", "/srv/wheels", "https://w.example/l"]\n'}
    found = read_settings(*machine(files=files, place=Path(PROJECT))).find_links
    assert found == (f"{PROJECT}/wheels", "/srv/wheels", "https://w.example/l")


def test_hosts_that_are_trusted_and_the_strategy_are_those_of_both_tools(machine):
    settings = read(
        machine,
        {
            USER: "[global]\ntrusted-host = a.example\n  b.example\n",
            "/etc/uv/uv.toml": 'allow-insecure-host = ["c.example"]\n',
        },
        {"UV_INDEX_STRATEGY": "first-index"},
    )
    assert (settings.insecure_hosts, settings.index_strategy) == (
        ("c.example", "a.example", "b.example"),
        "first-index",
    )
    assert settings.origins["index_strategy"] == "UV_INDEX_STRATEGY"
