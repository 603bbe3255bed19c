"""Manifests by name: another one may stand in for one that was asked for before."""

from envmgr.app.workplace import Workplace


def test_what_stands_in_for_a_manifest_is_given_until_it_is_put_back(project):
    (project / "manifests" / "alpha.toml").write_text(
        'schema = 1\nname = "alpha"\npython = ">=3.8"\nrequirements = ["alpha==1"]\n'
    )
    shelf = Workplace(project).shelf
    own = shelf["alpha"]
    other = own.model_copy(update={"summary": "as of a day"})
    shelf.stand_in(other)
    assert shelf["alpha"] is other
    shelf.stand_in(own)
    assert shelf["alpha"] is own
