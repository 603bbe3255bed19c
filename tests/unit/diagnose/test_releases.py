import json

from envmgr.diagnose.releases import Target, installable, of_version, parse_page, stable, up_to

LINUX = Target("3.8", ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64"))


def page(*files):
    return json.dumps({"files": list(files)})


def file(name, day="2020-01-01", **more):
    return {"filename": name, "upload-time": f"{day}T00:00:00Z", **more}


def test_releases_are_ordered_and_dated_by_their_first_file():
    found = parse_page(
        page(
            file("a-2.0-py3-none-any.whl", "2021-05-01"),
            file("a-1.10.tar.gz", "2020-03-01"),
            file("a-1.9-py3-none-any.whl", "2020-02-02"),
            file("a-1.9.tar.gz", "2020-02-01"),
            file("nonsense.txt"),
        )
    )
    assert [str(release.version) for release in found] == ["1.9", "1.10", "2.0"]
    assert found[0].uploaded == "2020-02-01"
    assert [str(release.version) for release in up_to(found, "2020-12-31")] == ["1.9", "1.10"]


def test_wheels_fit_by_interpreter_abi_and_platform():
    found = parse_page(
        page(
            file("a-1-cp38-cp38-manylinux2014_x86_64.whl"),
            file("a-2-cp38-cp38-macosx_11_0_arm64.whl"),
            file("a-3-cp36-abi3-manylinux2014_x86_64.whl"),
            file("a-4-cp39-abi3-manylinux2014_x86_64.whl"),
            file("a-5-py2.py3-none-any.whl", **{"requires-python": ">=3.9"}),
            file("a-6.tar.gz"),
        )
    )
    assert [int(str(r.version)) for r in found if installable(r, LINUX, sources=False)] == [1, 3]
    assert [int(str(r.version)) for r in found if installable(r, LINUX, sources=True)] == [1, 3, 6]


def test_withdrawn_and_early_releases_are_passed_over():
    found = parse_page(page(file("a-1.tar.gz", yanked="bad"), file("a-2.tar.gz"), file("a-3rc1.tar.gz")))
    assert [str(release.version) for release in stable(found)] == ["2"]


def test_a_build_label_is_no_part_of_a_version_of_an_index():
    found = parse_page(page(file("a-2.13.0-py3-none-any.whl")))
    assert str(of_version(found, "2.13.0+cu126").version) == "2.13.0"
    assert of_version(found, "not a version") is None


def test_a_page_in_html_is_read_too():
    text = '<a href="../a-1-py3-none-any.whl#sha256=x" data-requires-python="&gt;=3.9">a</a><a href="a-2.tar.gz" data-yanked>'
    first, second = parse_page(text)
    assert first.artefacts[0].requires_python == ">=3.9"
    assert second.yanked


def test_what_is_no_page_gives_nothing():
    assert parse_page("") == parse_page("{") == parse_page('{"files": 3}') == ()
