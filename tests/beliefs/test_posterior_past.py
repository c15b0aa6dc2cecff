"""A log's sums are not learned on top of a prior that already holds them."""

import numpy as np
import polars as pl
import pytest
from support.states import belief_state

from hierbandits import Agent, Belief, Columns, GaussianHierarchy, Log, TaskSums, learn_prior
from hierbandits.beliefs.model_kinds import belief_in
from hierbandits.models.variants import marginal, pooled, ridge, unknown_widths

RNG = np.random.default_rng(3)
ROWS = 200
TASK, ARM = RNG.integers(0, 6, ROWS), RNG.integers(0, 3, ROWS)
REWARD = RNG.normal(size=ROWS) + ARM * 0.4 + TASK * 0.1
FRAME = {"task": TASK, "arm": ARM, "reward": REWARD}


def _learned(**more):
    frame = pl.DataFrame(FRAME | {"group": TASK % 2})
    columns = {"task": "task", "arm": "arm", "reward": "reward"} | more
    return learn_prior(frame, **columns, arms=[2, 0, 1], runs=0, held_out=0, progress=False)


def _sums(rows=slice(None)):
    sums = TaskSums.zeros(6, 3, armed=True)
    sums.add(TASK[rows], ARM[rows], REWARD[rows])
    return sums


MESSAGE = r"sums must not be the prior's own log, 200 rows.*report\.before_log"


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


def test_the_log_itself_is_not_replayed_on_top_of_them():
    prior, report = _learned()
    log = Log.read(pl.DataFrame(FRAME), Columns(task="task", arm="arm", reward="reward"))
    for given in (prior, unknown_widths(prior)):
        with pytest.raises(ValueError, match=MESSAGE):
            Agent.replay(log, given)
    assert Agent.replay(log, report.before_log).belief.num_rewards.tolist() == [ROWS]
    wider = Agent(prior)
    wider.add_arm("new")
    with pytest.raises(ValueError, match=MESSAGE):
        wider.learn_past(range(6), _sums(), [0, 1, 2])


@pytest.mark.parametrize("armed", [True, False])
def test_sums_that_no_events_have_are_refused(armed):
    arms = ARM if armed else RNG.normal(size=(ROWS, 3))
    sums = TaskSums.zeros(6, 3, armed=armed)
    sums.add(TASK, arms, REWARD)
    form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
    belief = Belief(form(3, hyper_std=1.0, task_std=1.0, noise_std=1.0), 6)
    belief.check_past(6, sums)
    whole = {name: values.copy() for name, values in sums.state().items()}
    corner = (0, 1) if armed else (0, 1, 1)
    for name, place, value in (
        ("n", 0, 2.5),
        ("n", 0, 0.0),
        ("n", 0, -1.0),
        ("xx", corner, -3.0),
        ("xy", (0, 1), 1e9),
        ("yy", 0, 0.0),
        ("xx", (0, 1) if armed else (0, 1, 2), 1e9),
    ):
        parts = {key: values.copy() for key, values in whole.items()}
        parts[name][place] = value
        with pytest.raises(ValueError, match=r"sums\.(n|xx|xy|yy) must be"):
            belief.check_past(6, TaskSums(**parts))
    empty = TaskSums.zeros(6, 3, armed=armed)
    belief.check_past(6, empty)
    empty.xy[2, 1] = 1.0
    with pytest.raises(ValueError, match=r"sums\.xy must be"):
        belief.check_past(6, empty)


def test_a_prior_of_several_populations_holds_no_sums():
    prior, report = _learned(population="group")
    assert prior.learned_from is None
    assert report.prior.to_dict() == report.before_log.to_dict()
    assert Belief.from_sums(prior, _sums()).num_rewards.tolist() == [ROWS]
