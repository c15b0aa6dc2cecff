"""What keeps sites: what a replaced reward leaves behind, and how it is put back."""

import numpy as np
import pytest
from support.click_logs import click_log
from support.states import belief_state

import hierbandits as hb
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths


def _belief(kind, armed):
    log = click_log(4, armed=armed, rows=20)
    if kind == "adaptive":
        model = UnknownFamilyWidths(hb.UnknownWidths.of(3, armed=armed), "bernoulli")
        belief = AdaptiveMatchedBelief(model, 20)
    else:
        form = hb.GaussianHierarchy.armed if armed else hb.GaussianHierarchy.linear
        prior = form(3, hyper_std=1.0, task_std=0.5, noise_std=1.0)
        belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "bernoulli"), 20)
    for rows in np.array_split(np.arange(log.tasks.size), 10):
        belief.observe(log.tasks[rows], log.features[rows], log.rewards[rows])
        belief._raw_settle()
    return belief, log


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("armed", [False, True])
@pytest.mark.parametrize("kind", ["stated", "adaptive"])
def test_what_is_replaced_counts_as_news_and_is_put_back(kind, armed, settled, monkeypatch):
    if settled:
        monkeypatch.setattr("hierbandits.beliefs.site_rows.MOST_ROWS", 200)
    belief, log = _belief(kind, armed)
    assert (belief._told_rows.settled.number > 0) == (settled and not armed)
    node, features = int(log.tasks[0]), log.features[0]
    before, due = belief_state(belief), belief.due.copy()
    put_back = belief._raw_keep(np.array([node]))
    belief.revise(node, features, log.rewards[0], 1 - log.rewards[0])
    assert belief._told_rows.news.tolist() == [node]
    assert belief.due == due - 1
    assert belief_state(belief) != before
    for _ in range(2):  # twice is as once
        put_back()
        assert belief_state(belief) == before
        assert belief._told_rows.news is None


def test_populations_that_come_later_wait_for_rewards_of_their_own():
    belief, _ = _belief("stated", armed=True)
    belief.add_populations(1)
    node = int(belief.add(int(belief.roots[1]))[0])
    belief.observe([node], [0], [1.0])
    belief._raw_settle()
    assert belief.due.tolist() == [belief.due[0], 20.0]
    assert belief.copy().due.tolist() == belief.due.tolist()


def test_the_evidence_of_sums_is_that_of_the_same_trials_as_events():
    """But for what densities have besides the predictor, and however many rewards a sum has."""
    prior = hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.7, noise_std=1.0)
    trials = np.array([[7.0, 2.0], [30.0, 1.0]])
    wins = np.array([[3.0, 0.0], [11.0, 1.0]])
    sums = hb.TaskSums(trials, wins, wins.sum(axis=1), trials.sum(axis=1))
    model = hb.GeneralizedHierarchy(prior, "binomial")
    told = hb.MatchedBelief(model, 2)
    told._raw_learn_past(np.arange(2), sums)
    seen = hb.MatchedBelief(model, 2)
    tasks, arms = (index.ravel() for index in np.indices(trials.shape))
    seen.observe(tasks, arms, wins.ravel(), exposure=trials.ravel())
    seen.refit()
    base = told.family.log_base(wins.ravel(), trials.ravel()).sum()
    assert told.num_rewards.tolist() == [40.0]
    assert told.log_evidence()[0] + base == pytest.approx(seen.log_evidence()[0], abs=1e-6)
