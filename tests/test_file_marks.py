"""A file that another saved since it was loaded or saved here is noticed, whatever it holds."""

import copy
import pickle

import numpy as np
import pytest

from hierbandits import AdaptiveBelief, Belief, GaussianHierarchy, MatchedBelief, Start
from hierbandits.archive import write_archive
from hierbandits.file_marks import FileMarks
from hierbandits.models import BernoulliRewards, GeneralizedHierarchy, UnknownWidths

PRIOR = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.4, noise_std=0.5)
SAVED = {
    "belief": lambda: Belief(PRIOR, 2),
    "adaptive": lambda: AdaptiveBelief(UnknownWidths.of(2, armed=True), 2),
    "matched": lambda: MatchedBelief(GeneralizedHierarchy(PRIOR, BernoulliRewards()), 2),
    "start": lambda: Start(PRIOR, None, (), ["a", "b"]),
}
SINCE = "must be as it was loaded or saved here, but another has saved it since"


@pytest.mark.parametrize("kind", SAVED)
def test_what_another_saved_since_is_not_replaced(kind, tmp_path):
    path, own = tmp_path / "file", SAVED[kind]()
    own.save(path)
    own.save(path)  # nobody else has
    other = type(own).load(path)
    own.save(path)
    mine = path.read_bytes()
    with pytest.raises(FileExistsError, match=SINCE):
        other.save(path)
    assert path.read_bytes() == mine
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    other.save(path, overwrite=True)
    other.save(path)
    with pytest.raises(FileExistsError, match="file " + SINCE):
        own.save(path)
    own.save(tmp_path / "another")
    path.unlink()
    own.save(path)  # nothing is lost


@pytest.mark.parametrize("kind", SAVED)
def test_a_new_object_replaces_a_file_that_it_never_knew(kind, tmp_path):
    SAVED[kind]().save(tmp_path / "file")
    SAVED[kind]().save(tmp_path / "file")
    assert type(SAVED[kind]().load(tmp_path / "file")) is type(SAVED[kind]())


def test_copies_of_a_start_can_be_saved(tmp_path):
    start = SAVED["start"]()
    start.save(tmp_path / "file")
    for twin in (copy.deepcopy(start), pickle.loads(pickle.dumps(start))):
        assert twin.arms == ("a", "b")
        twin.save(tmp_path / "file", overwrite=True)


def test_files_of_older_versions_have_no_mark_and_load(tmp_path):
    path = tmp_path / "file"
    meta, arrays = SAVED["belief"]().state()
    write_archive(path, "belief", 2, meta, arrays)
    belief = Belief.load(path)
    belief.save(path)
    write_archive(path, "belief", 2, meta, arrays)
    with pytest.raises(FileExistsError, match=SINCE):
        belief.save(path)


@pytest.mark.parametrize("path", [None, 3, b"bytes", np.ones(2), "a\0b"])
def test_what_is_no_path_is_refused_by_name(path, tmp_path):
    marks = FileMarks()
    with pytest.raises(ValueError, match="path must be a path, got"):
        marks.read(path, "belief", 2)
    with pytest.raises(ValueError, match="path must be a path, got"):
        marks.write(path, "belief", 2, {}, {}, overwrite=False)


def test_whether_to_overwrite_is_yes_or_no(tmp_path):
    with pytest.raises(ValueError, match="overwrite must be a boolean, got 'no'"):
        SAVED["belief"]().save(tmp_path / "file", overwrite="no")
