"""Events, and the luck that is keyed by them."""

import numpy as np

from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream


def test_events_are_the_keys_of_their_luck():
    run, task, interaction = np.array([0, 4]), np.array([3, 1]), np.array([7, 7])
    events = Events(run=run, task=task, interaction=interaction)
    luck = Stream(2, "reward")
    expected = luck.uniforms((run, task, interaction), 3)
    np.testing.assert_array_equal(luck.uniforms(events, 3), expected)
    swapped = Events(run=task, task=run, interaction=interaction)
    assert not np.array_equal(luck.uniforms(swapped, 3), expected)
