"""Hierarchies in files."""

import json
import os
import re

import pytest
from support.learn_logs import learned

from hierbandits import GaussianHierarchy


@pytest.mark.parametrize("armed", [True, False])
def test_priors_save_and_load_exactly(armed, tmp_path):
    prior = learned(armed)[1]
    path = tmp_path / "prior.json"
    prior.save(path)
    assert GaussianHierarchy.load(path).to_dict() == prior.to_dict()
    assert json.loads(path.read_text()) == prior.to_dict()
    before = path.stat().st_mode & 0o777
    (tmp_path / "plain").touch()
    assert before == (tmp_path / "plain").stat().st_mode & 0o777
    deep = GaussianHierarchy.deep(hyper_mean=[0.1], covs=[[[1 / 3]]] * 3, noise_std=0.7)
    deep.save(str(path))  # over the old one
    assert GaussianHierarchy.load(str(path)).to_dict() == deep.to_dict()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "prior.json"]


def test_a_prior_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    path = tmp_path / "prior.json"
    path.write_text("old")

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        prior.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["prior.json"]


def test_truncated_and_foreign_priors_are_refused_by_name(tmp_path):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    path = tmp_path / "prior.json"
    prior.save(path)
    whole = path.read_bytes()
    cut = [whole[:size] for size in range(len(whole.rstrip()))]
    foreign = [b"\xff\xfe\x00", b"[" * 100_000, b"null", b"[]", b'{"armed": true}', b"PK\x03\x04"]
    foreign.append(whole.replace(b"1.0", b"NaN", 1))
    foreign.append(whole.replace(b"true", b'"yes"'))
    for content in cut + foreign:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))} must hold a hierarchy"):
            GaussianHierarchy.load(path)
    with pytest.raises(FileNotFoundError):
        GaussianHierarchy.load(tmp_path / "nowhere.json")
