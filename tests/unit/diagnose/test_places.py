import json

import pytest

from envmgr.app.experiments.places import edited, lay_out, named_places, rehomed, take_snapshot
from envmgr.model.finding import Edit, FileChanges
from envmgr.system.files import RealFiles


@pytest.fixture
def user(tmp_path):
    home, folder = tmp_path / "home", tmp_path / "work"
    for path, text in {
        home / ".keras" / "keras.json": '{"backend": "jax"}',
        home / ".cache" / "big": "x",
        home / "Documents" / "letter.txt": "private",
        home / "lib" / "helper.py": "x = 1",
        folder / "script.py": "pass",
        folder / "venv" / "pyvenv.cfg": "",
        folder / ".git" / "HEAD": "",
        folder / "data" / "a.csv": "1",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return RealFiles(tmp_path / "scratch"), home, folder, tmp_path / "snapshot"


def test_settings_and_the_folder_are_taken_and_nothing_else(user):
    files, home, folder, target = user
    names = take_snapshot(files, home, folder, [], target).names
    assert names == ("cwd/data/a.csv", "cwd/script.py", "home/.keras/keras.json")


def test_what_a_variable_names_in_home_is_taken_too(user):
    files, home, folder, target = user
    assert "home/lib/helper.py" in take_snapshot(files, home, folder, [str(home / "lib")], target).names


def test_an_experiment_gets_its_changes_and_the_user_keeps_every_file(user, tmp_path):
    files, home, folder, target = user
    snapshot = take_snapshot(files, home, folder, [], target)
    edit = Edit(path="home/.keras/keras.json", key="backend", value="torch")
    lay_out(files, snapshot, FileChanges(remove=("cwd/script.py",), edit=(edit,)), tmp_path / "one")
    assert not (tmp_path / "one" / "cwd" / "script.py").exists()
    assert json.loads((tmp_path / "one" / "home" / ".keras" / "keras.json").read_text()) == {"backend": "torch"}
    assert json.loads((home / ".keras" / "keras.json").read_text()) == {"backend": "jax"}
    assert (folder / "script.py").exists()


@pytest.mark.parametrize(
    ("text", "key", "value", "wanted"),
    [
        ("[global]\nno-index = true\nx = 1\n", "global.no-index", None, "[global]\nx = 1\n"),
        ("[global]\nx = 1\n", "global.x", 2, "[global]\nx = 2\n"),
        ("[global]\nx = 1\n", "install.y", 3, "[global]\nx = 1\n[install]\ny = 3\n"),
        ("a = 1\n", "b", 2, "a = 1\nb = 2\n"),
    ],
)
def test_one_key_of_a_file_with_sections_is_changed(text, key, value, wanted):
    assert edited(text, Edit(path="p", key=key, value=value), as_json=False) == wanted


def test_a_nested_key_of_a_json_file_is_changed_and_taken_out():
    text = edited('{"a": {"b": 1}}', Edit(path="p", key="a.c", value=2), as_json=True)
    assert json.loads(text) == {"a": {"b": 1, "c": 2}}
    assert json.loads(edited(text, Edit(path="p", key="a.b"), as_json=True)) == {"a": {"c": 2}}


def test_paths_below_home_move_with_it(tmp_path):
    moved = rehomed({"X": f"{tmp_path}/a:{tmp_path}/b", "PATH": f"{tmp_path}/bin"}, tmp_path, tmp_path / "new")
    assert moved["X"] == f"{tmp_path}/new/a:{tmp_path}/new/b"
    assert moved["PATH"] == f"{tmp_path}/bin"
    assert moved["HOME"] == f"{tmp_path}/new"


def test_on_windows_the_home_moves_by_its_own_name(tmp_path):
    given = {"APPDATA": f"{tmp_path}\\AppData\\Roaming", "USERPROFILE": str(tmp_path), "Path": f"{tmp_path}\\bin"}
    moved = rehomed(given, tmp_path, tmp_path / "new")
    assert moved["APPDATA"] == f"{tmp_path}/new\\AppData\\Roaming"
    assert (moved["USERPROFILE"], moved["Path"]) == (f"{tmp_path}/new", f"{tmp_path}\\bin")


def test_what_variables_name_is_parted_as_the_system_parts_it():
    told = {"DATA": "C:/one;D:/two"}
    assert named_places({}, told, "windows") == ["C:/one", "D:/two"]
    assert named_places({}, {"DATA": "/one:/two"}, "linux") == ["/one", "/two"]
