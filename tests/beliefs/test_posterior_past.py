"""A log's sums are not learned on top of a prior that already holds them."""

import numpy as np
import pytest
from support.states import belief_state

from hierbandits import Agent, Belief, GaussianHierarchy, TaskSums, learn_prior
from hierbandits.beliefs.model_kinds import belief_in
from hierbandits.models.variants import marginal, pooled, ridge, unknown_widths

RNG = np.random.default_rng(3)
ROWS = 200
TASK, ARM = RNG.integers(0, 6, ROWS), RNG.integers(0, 3, ROWS)
REWARD = RNG.normal(size=ROWS) + ARM * 0.4 + TASK * 0.1
FRAME = {"task": TASK, "arm": ARM, "reward": REWARD}


def _learned(**more):
    import polars as pl

    frame = pl.DataFrame(FRAME | {"group": TASK % 2})
    columns = {"task": "task", "arm": "arm", "reward": "reward"} | more
    return learn_prior(frame, **columns, arms=[2, 0, 1], runs=0, held_out=0, progress=False)


def _sums(rows=slice(None)):
    sums = TaskSums.zeros(6, 3, armed=True)
    sums.add(TASK[rows], ARM[rows], REWARD[rows])
    return sums


MESSAGE = r"sums must not be those that the prior was learned from, 200 rows.*report\.before_log"


def test_the_same_sums_are_refused_in_any_order():
    prior, report = _learned()
    backwards = slice(None, None, -1)
    for sums in (_sums(), _sums(backwards), _sums().rows(np.array([3, 1, 5, 0, 2, 4]))):
        with pytest.raises(ValueError, match=MESSAGE):
            Belief.from_sums(prior, sums)
        assert Belief.from_sums(report.before_log, sums).num_rewards.tolist() == [ROWS]
    other = Belief.from_sums(prior, _sums(slice(1, None)))
    assert other.num_rewards.tolist() == [ROWS - 1]


def test_what_a_policy_believes_holds_them_too():
    prior, _ = _learned()
    for variant in (marginal, pooled, unknown_widths):
        belief = belief_in(variant(prior), 6 if variant is not pooled else 0)
        with pytest.raises(ValueError, match=MESSAGE):
            belief.check_past(6, _sums())
    belief_in(ridge(prior), 6).check_past(6, _sums())


def test_an_agent_refuses_them_and_is_unchanged(tmp_path):
    prior, report = _learned()
    prior.save(tmp_path / "prior.json")
    agent = Agent(GaussianHierarchy.load(tmp_path / "prior.json"), arms=[2, 0, 1])
    names = [f"t{i}" for i in range(6)]
    before = belief_state(agent.belief)
    with pytest.raises(ValueError, match=MESSAGE):
        agent.learn_past(names, _sums(), [0, 1, 2])
    assert (agent.tasks, belief_state(agent.belief)) == ([], before)
    agent.save(tmp_path / "agent")
    with pytest.raises(ValueError, match=MESSAGE):
        Agent.load(tmp_path / "agent").learn_past(names, _sums(), [0, 1, 2])
    Agent(report.before_log, arms=[2, 0, 1]).learn_past(names, _sums(), [0, 1, 2])


def test_a_prior_of_several_populations_holds_no_sums():
    prior, report = _learned(population="group")
    assert prior.learned_from is None
    assert report.prior.to_dict() == report.before_log.to_dict()
    assert Belief.from_sums(prior, _sums()).num_rewards.tolist() == [ROWS]
