"""The file of --prior: a hierarchy, perhaps with the names of its arms."""

import json

import pytest
from support.processes import command
from typer import Exit

from hierbandits import GaussianHierarchy
from hierbandits.cli.prior_file import read_prior

PRIOR = GaussianHierarchy.armed(2, hyper_std=0.7, task_std=0.2, noise_std=0.5)


def test_a_hierarchy_is_read_with_its_arms_if_it_has_any(tmp_path):
    path = tmp_path / "prior.json"
    PRIOR.save(path)
    assert read_prior(path).to_dict() == PRIOR.to_dict()
    path.write_text(json.dumps(PRIOR.to_dict() | {"arms": ["a", 1]}))
    assert read_prior(path).arms == ("a", 1)


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", "\x00"])
def test_any_other_file_is_refused_in_one_line(content, tmp_path, capsys):
    path = tmp_path / "[bad].json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(Exit):
        read_prior(path)
    error = capsys.readouterr().err
    assert f"--prior must be a file with a hierarchy as JSON, got {path}: " in error
    assert len(error.splitlines()) == 1
    assert "must hold a hierarchy" not in error  # which would name the file again


def test_arms_that_are_no_list_are_refused(tmp_path, capsys):
    path = tmp_path / "prior.json"
    path.write_text(json.dumps(PRIOR.to_dict() | {"arms": "ab"}))
    with pytest.raises(Exit):
        read_prior(path)
    assert f"got {path}: arms must be several names, got 'ab'" in capsys.readouterr().err


def test_a_prior_that_is_none_is_named(tmp_path):
    path = tmp_path / "[bad].json"
    for content in ("{", "[]", "{}"):
        path.write_text(content)
        result = command("bound", "--prior", str(path))
        assert result.returncode == 2
        assert f"--prior must be a file with a hierarchy as JSON, got {path}: " in result.stderr
        assert len(result.stderr.splitlines()) == 1
