"""Beliefs in clicks and counts whose widths are fitted as rewards come in."""

import numpy as np
import pytest
from support.click_logs import click_log
from support.states import belief_state

import hierbandits as hb
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths


def _belief(log, tasks=20, populations=1):
    model = UnknownFamilyWidths(hb.UnknownWidths.of(3, armed=log.armed), log.family)
    return AdaptiveMatchedBelief(model, tasks, populations)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_a_refit_is_a_belief_under_the_widths_that_it_finds(armed, family):
    log = click_log(3, armed=armed, family=family)
    belief = _belief(log)
    belief.observe(log.tasks, log.features, log.rewards)
    before = belief.hierarchy().task_cov
    report = belief.refit(tolerance=1e-8)
    assert report.is_converged
    assert report is belief.last_refit
    assert not np.allclose(belief.hierarchy().task_cov, before)
    stated = hb.MatchedBelief(hb.GeneralizedHierarchy(belief.hierarchy(), family), 20)
    stated.observe(log.tasks, log.features, log.rewards)
    stated.refit(tolerance=1e-8)
    for node in (0, 13, int(belief.roots[0])):
        np.testing.assert_allclose(belief.task(node).mean, stated.task(node).mean, atol=1e-5)
        np.testing.assert_allclose(belief.task(node).cov, stated.task(node).cov, atol=1e-5)
    np.testing.assert_allclose(belief.log_evidence(), stated.log_evidence(), atol=1e-4)


def test_the_evidence_follows_the_widths():
    """Looks along the way leave nothing in it."""
    log = click_log(8, armed=False, rows=30)
    belief = _belief(log)
    for rows in np.array_split(np.arange(log.tasks.size), 4):
        belief.observe(log.tasks[rows], log.features[rows], log.rewards[rows])
        belief.refit(tolerance=1e-8)
    stated = hb.MatchedBelief(hb.GeneralizedHierarchy(belief.hierarchy(), "bernoulli"), 20)
    stated.observe(log.tasks, log.features, log.rewards)
    stated.refit(tolerance=1e-8)
    np.testing.assert_allclose(belief.log_evidence(), stated.log_evidence(), atol=1e-4)


@pytest.mark.parametrize("armed", [True, False])
def test_the_evidence_of_settled_rewards_follows_the_widths_too(armed):
    """Sites are Gaussian rewards: so much more probable are these under other widths."""
    log = click_log(9, armed=armed, rows=30)
    belief = _belief(log)
    belief.observe(log.tasks, log.features, log.rewards)
    precision, weighted, _ = belief._told_rows.sites.copy()
    nodes, features, before = (
        belief._told_rows.nodes,
        belief._told_rows.features,
        belief.log_evidence(),
    )
    nodes, features, known = nodes.copy(), features.copy(), [belief.hierarchy()]
    if not armed:  # arms add up, and are never settled
        belief._told_rows._settle(200)
    belief._fit_widths()
    known.append(belief.hierarchy())
    logs = []
    for hierarchy in known:
        plain = hb.Belief(hierarchy, 20)
        plain.observe(nodes, features, weighted / precision, precision**-0.5)
        logs.append(plain.log_evidence())
    assert abs(logs[1] - logs[0]) > 0.1
    np.testing.assert_allclose(belief.log_evidence() - before, logs[1] - logs[0], rtol=1e-6)


def test_populations_have_widths_of_their_own():
    log = click_log(4, tasks=40, rows=60)
    belief = _belief(log, tasks=20, populations=2)
    even = log.rewards.copy()
    even[log.tasks >= 20] = np.arange((log.tasks >= 20).sum()) % 4 == 0
    belief.observe(log.tasks, log.features, even)
    belief.refit()
    widths = [np.sqrt(belief.hierarchy(p).task_cov[0, 0]) for p in (0, 1)]
    assert widths[0] > 2 * widths[1]


def test_an_agent_refits_as_its_rewards_grow():
    agent = hb.Agent(arms=["a", "b"], rewards="bernoulli", seed=0)
    first = agent.belief.hierarchy().task_cov
    rng = np.random.default_rng(0)
    for _ in range(19):
        agent.reward(agent.decide("s").id, float(rng.random() < 0.3))
    np.testing.assert_array_equal(agent.belief.hierarchy().task_cov, first)
    agent.reward(agent.decide("s").id, 1.0)
    assert not np.allclose(agent.belief.hierarchy().task_cov, first)
    with pytest.raises(ValueError, match="value must be 0 or 1, got 2"):
        agent.reward(agent.decide("s").id, 2.0)


@pytest.mark.parametrize("armed", [True, False])
def test_an_agent_is_saved_and_goes_on_the_same(armed, tmp_path):
    arms = ["a", "b"] if armed else {"a": [1.0, 0.0], "b": [1.0, 1.0]}
    agent = hb.Agent(arms=arms, rewards="poisson", seed=0)
    rng = np.random.default_rng(1)
    for i in range(40):
        agent.reward(agent.decide(f"s{i % 3}").id, float(rng.poisson(2.0)))
    agent.save(tmp_path / "agent.hb")
    again = hb.Agent.load(tmp_path / "agent.hb")
    for i in range(40):
        one, other = agent.decide(f"s{i % 4}"), again.decide(f"s{i % 4}")
        assert one.arm == other.arm
        value = float(rng.poisson(2.0))
        agent.reward(one.id, value)
        again.reward(other.id, value)
    np.testing.assert_array_equal(agent.belief.hyper().mean, again.belief.hyper().mean)


def test_tasks_and_arms_come_and_go():
    agent = hb.Agent(arms=["a", "b"], rewards="bernoulli", seed=0)
    for i in range(60):
        agent.reward(agent.decide(f"s{i % 5}").id, float(i % 4 == 0))
    agent.add_arm("c")
    agent.forget("s2")
    decision = agent.decide("s2")
    assert decision.arm in ("a", "b", "c")
    agent.reward(decision.id, 1.0)
    agent.correct(decision.id, 0.0)


def test_a_copy_is_independent():
    log = click_log(5)
    belief = _belief(log)
    belief.observe(log.tasks, log.features, log.rewards)
    belief.refit()
    twin, state = belief.copy(), belief_state(belief)
    twin.observe([0], [1], [1.0])
    twin.refit()
    assert belief_state(belief) == state


def test_what_is_refused():
    log = click_log(6)
    belief = _belief(log)
    with pytest.raises(ValueError, match="populations must be given at the start"):
        belief.add_populations()
    with pytest.raises(ValueError, match="hyper_means must not be given"):
        AdaptiveMatchedBelief(belief.prior, 2, hyper_means=[[0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="prior must be UnknownFamilyWidths, got 3"):
        AdaptiveMatchedBelief(3)
