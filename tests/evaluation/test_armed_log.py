"""The log that evaluation reads."""

import numpy as np
import polars as pl
import pytest
from support.logged import NAMES, World

from hierbandits import Columns, Log, evaluate, hieropo
from hierbandits.evaluation.armed_log import armed_log


@pytest.fixture(scope="module")
def frame():
    return World.drawn(np.random.default_rng(0)).rows(np.random.default_rng(1), 120)


def test_a_log_of_features_alone_cannot_be_evaluated(frame):
    log = Log.read(
        frame.with_columns(x=pl.lit(1.0)), Columns(task="task", features=["x"], reward="reward")
    )
    for call in (lambda: evaluate(log, "uniform"), lambda: hieropo(log)):
        with pytest.raises(ValueError, match="do not tell which other arms could have been played"):
            call()


def test_a_frame_is_opened_with_its_columns(frame):
    log = armed_log(frame, NAMES, ["a0", "a1", "a2"])
    assert (log.columns, log.arms) == (Columns(**NAMES), ("a0", "a1", "a2"))
