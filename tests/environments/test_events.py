"""Events, and the luck that is keyed by them."""

import pickle

import numpy as np
from support.environments import GIVEN

import hierbandits as hb
from hierbandits.environments.events import Events
from hierbandits.environments.known_bandit import KnownWorlds
from hierbandits.keyed_random import Stream


def test_events_are_the_keys_of_their_luck():
    run, task, interaction = np.array([0, 4]), np.array([3, 1]), np.array([7, 7])
    events = Events(run=run, task=task, interaction=interaction)
    luck = Stream(2, "reward")
    expected = luck.uniforms((run, task, interaction), 3)
    np.testing.assert_array_equal(luck.uniforms(events, 3), expected)
    swapped = Events(run=task, task=run, interaction=interaction)
    assert not np.array_equal(luck.uniforms(swapped, 3), expected)


def test_events_say_in_which_round_they_are():
    keys = np.array([0, 4]), np.array([3, 1]), np.array([7, 7])
    events = pickle.loads(pickle.dumps(Events(*keys, round=12)))
    assert (Events(*keys).round, events.round, len(events)) == (0, 12, 3)
    luck = Stream(2, "reward")  # which does not depend on the round
    np.testing.assert_array_equal(luck.uniforms(events, 1), luck.uniforms(keys, 1))


def test_worlds_are_told_the_round(monkeypatch):
    seen = []
    play = KnownWorlds.play

    def watched(self, events, *rest):
        seen.append((events.round, events.task.tolist(), events.interaction.tolist()))
        return play(self, events, *rest)

    monkeypatch.setattr(KnownWorlds, "play", watched)
    hb.simulate(GIVEN, ["TS"], hb.schedules.Arriving(1), 1, num_interactions=2)
    assert [round for round, *_ in seen] == list(range(6))
    assert seen[2] == (2, [1, 2], [1, 0])  # calendar time is not the tasks' own
