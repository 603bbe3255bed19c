import pytest

from envmgr.system.portrait import lay_out, take_portrait


@pytest.fixture
def small(tmp_path):
    folder = tmp_path / "one"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "bin" / "activate").write_text("VIRTUAL_ENV='one'\n")
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "lib64").symlink_to("lib")
    return folder


def test_a_laid_out_folder_is_as_the_first(small, tmp_path):
    lay_out(take_portrait(small).replace("one", "two"), tmp_path / "two")
    assert (tmp_path / "two" / "bin" / "activate").read_text() == "VIRTUAL_ENV='two'\n"
    assert (tmp_path / "two" / "bin" / "python").readlink() == (small / "bin" / "python").readlink()
    assert (tmp_path / "two" / "lib64").is_symlink()
    assert (tmp_path / "two" / "lib").is_dir()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * 300_000])
def test_what_is_more_than_texts_and_links_has_no_portrait(small, content):
    (small / "bin" / "program").write_bytes(content)
    assert take_portrait(small) is None


def test_nothing_is_laid_over_what_is_there(small):
    with pytest.raises(FileExistsError):
        lay_out(take_portrait(small), small)
