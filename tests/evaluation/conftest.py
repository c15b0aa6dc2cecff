"""A small world with three arms, and a log of its rows."""

import numpy as np
import pytest
from support.logged import World


@pytest.fixture(scope="module")
def world():
    return World.drawn(np.random.default_rng(0))


@pytest.fixture(scope="module")
def frame(world):
    return world.rows(np.random.default_rng(1), 120, barred=0.3)


@pytest.fixture
def log(world, frame):
    return world.log(frame)
