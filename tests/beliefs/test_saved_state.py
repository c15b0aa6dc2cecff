"""What is saved is what `state` gives."""

import pickle

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs.saved_state import SavedState


class Counter(SavedState):
    KIND = "counter"

    def __init__(self, counts):
        self.counts = counts

    def state(self):
        return {"size": len(self.counts)}, {"counts": self.counts}

    @classmethod
    def from_state(cls, meta, arrays):
        if meta["size"] != len(arrays["counts"]):
            raise ValueError("size must be that of counts")
        return cls(arrays["counts"])


def test_files_and_pickles_hold_the_state(tmp_path):
    counter = Counter(np.arange(4.0))
    counter.save(tmp_path / "counter")
    for twin in (Counter.load(tmp_path / "counter"), pickle.loads(pickle.dumps(counter))):
        np.testing.assert_array_equal(twin.counts, counter.counts)


def test_a_file_of_another_kind_is_refused(tmp_path):
    prior = GaussianHierarchy.armed(2, hyper_std=1, task_std=1, noise_std=1)
    Belief(prior, 1).save(tmp_path / "belief")
    with pytest.raises(ValueError, match="counter"):
        Counter.load(tmp_path / "belief")
