import pytest

from envmgr.app.differing.sides import of_text
from envmgr.errors import EnvmgrError


def test_a_pylock_tells_versions_and_hashes():
    text = f'[[packages]]\nname = "Demo_One"\nversion = "1.0"\nsdist = {{ hashes = {{ sha256 = "{"a" * 64}" }} }}\n'
    found = of_text("pylock.toml", text)
    assert found.distributions == {"demo-one": "1.0"}
    assert found.artefacts == {"demo-one": (f"sha256:{'a' * 64}",)}


@pytest.mark.parametrize("text", ["packages = 3", "packages = [3]", "[[packages]]\nversion = '1'", "packages = [", ""])
def test_a_toml_file_that_is_no_pylock_is_told(text):
    with pytest.raises(EnvmgrError, match=r"a\.toml"):
        of_text("a.toml", text)


def test_an_exported_requirements_file_has_the_versions_and_hashes_that_it_says():
    one, two = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    text = f"# told\nh5py==3.10.0 \\\n    --hash={one} \\\n    --hash={two}\nnumpy==1.24.4 ; os_name == 'posix' --hash={one}\n"
    found = of_text("requirements.txt", text + "six>=1  # any\n")
    assert found.distributions == {"h5py": "3.10.0", "numpy": "1.24.4", "six": ">=1"}
    assert found.artefacts == {"h5py": (one, two), "numpy": (one,)}
