"""Laws that every belief keeps: files, copies, refused batches, and the order of rewards."""

import pickle

import numpy as np
import pytest
from support.posterior_ranks import DIM, KNOWN, SUBJECTS, TASKS
from support.states import belief_state

import hierbandits as hb
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.gibbs_belief import GibbsBelief
from hierbandits.beliefs.model_kinds import KINDS

each = pytest.mark.parametrize("name", SUBJECTS)
EVENTS = 45


def _events(name, seed=0, number=EVENTS):
    """Tasks, features, rewards, and exposures where they are not all 1."""
    subject, rng = SUBJECTS[name], np.random.default_rng(seed)
    tasks, options = rng.integers(0, TASKS, number), {}
    x = rng.integers(0, DIM, number) if subject.armed else rng.normal(size=(number, DIM))
    rewards = rng.normal(size=number)
    if subject.family == "bernoulli":
        rewards = (rewards > 0.4).astype(float)
    if subject.family == "poisson":
        rewards = rng.poisson(0.8, number).astype(float)
    if subject.family == "binomial":
        options["exposure"] = rng.integers(1, 5, number).astype(float)
        rewards = rng.binomial(options["exposure"].astype(int), 0.4).astype(float)
    return tasks, x, rewards, options


def _observe(belief, events, rows=slice(None)):
    tasks, x, rewards, options = events
    belief.observe(tasks[rows], x[rows], rewards[rows], **{k: v[rows] for k, v in options.items()})


def _learned(name, worlds=1):
    belief = SUBJECTS[name].make(worlds)
    _observe(belief, _events(name))
    belief._raw_settle()
    return belief


def test_every_kind_of_belief_is_among_them():
    """But those on grids, whose laws are in test_grid_belief.py: they take no features."""
    kinds = {type(subject.make(1)) for subject in SUBJECTS.values()}
    assert kinds | {hb.GridBelief} == {kind.belief for kind in KINDS} | {GibbsBelief}
    assert {subject.family for subject in SUBJECTS.values()} == set(hb.FAMILIES)


@each
def test_a_saved_belief_goes_on_bit_for_bit(name, tmp_path):
    belief = _learned(name)
    belief.save(tmp_path / "belief")
    twins = [type(belief).load(tmp_path / "belief"), belief.copy()]
    twins.append(pickle.loads(pickle.dumps(belief)))
    more = _events(name, seed=1, number=30)
    for one in (belief, *twins):
        _observe(one, more)
        one._raw_settle()
    for twin in twins:
        assert belief_state(twin) == belief_state(belief)
        draws = [one.sample(np.random.default_rng(0), [0, 2]) for one in (twin, belief)]
        np.testing.assert_array_equal(*draws)


@each
def test_a_copy_is_independent(name):
    belief = _learned(name)
    before, twin = belief_state(belief), belief.copy()
    _observe(twin, _events(name, seed=2))
    twin._raw_settle()
    twin.add(int(twin.roots[0]))
    assert belief_state(belief) == before


@each
def test_a_refused_batch_changes_nothing(name):
    belief = _learned(name)
    belief_state(belief)  # ends a look that is under way
    before = belief_state(belief)
    (tasks, x), rewards = (part[:2] for part in _events(name)[:2]), np.zeros(2)
    bad_x = np.array([0, DIM]) if SUBJECTS[name].armed else np.where(x == x[0, 0], np.nan, x)
    for arguments, options, message in (
        (([0, 99], x, rewards), {}, "tasks must be in"),
        (([0.5, 1.0], x, rewards), {}, "tasks must be integers"),
        ((tasks, bad_x, rewards), {}, "features must be"),
        ((tasks, x[:1], rewards), {}, "features must have"),
        ((tasks, x, [0.0, np.nan]), {}, "rewards must be finite"),
        ((tasks, x, [0.0]), {}, "rewards must have shape"),
        ((tasks, x, rewards), {"noise_std": [1.0, -1.0]}, "noise_std must"),
        ((tasks, x, rewards), {"time": [1.0]}, "time must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            belief.observe(*arguments, **options)
        assert belief_state(belief) == before
    if SUBJECTS[name].family != "gaussian":
        for options, values, message in (
            ({}, [0.0, -1.0], "rewards must be"),
            ({}, [0.5, 1.0], "rewards must be"),
            ({"exposure": [1.0, 0.0]}, [0.0, 0.0], "exposure must be positive"),
            ({"exposure": [1.0]}, [0.0, 0.0], "exposure must have shape"),
        ):
            with pytest.raises(ValueError, match=message):
                belief.observe(tasks, x, values, **options)
            assert belief_state(belief) == before


@each
def test_the_order_of_rewards_does_not_matter(name):
    """Up to rounding where nothing is approximate or refits have converged; in draws by a chain."""
    one, other, events = SUBJECTS[name].make(1), SUBJECTS[name].make(1), _events(name)
    _observe(one, events)
    _observe(other, events, np.random.default_rng(3).permutation(EVENTS))
    if isinstance(one, GibbsBelief):
        means, error = zip(*(_chain_mean(belief) for belief in (one, other)), strict=True)
        assert np.abs(means[0] - means[1]).max() < 6 * np.hypot(*error).max()
        return
    if isinstance(one, hb.MatchedBelief):
        for belief in (one, other):
            assert belief.refit(sweeps=200, tolerance=1e-9).is_converged
    tolerance = 1e-4 if isinstance(one, AdaptiveMatchedBelief) else 1e-6
    for node in range(one.num_nodes):
        mine, its = one.task(node), other.task(node)
        np.testing.assert_allclose(mine.mean, its.mean, atol=tolerance * mine.std.max())
        np.testing.assert_allclose(mine.cov, its.cov, atol=tolerance * mine.cov.max())
    np.testing.assert_allclose(one.log_evidence(), other.log_evidence(), atol=20 * tolerance)


def _chain_mean(belief, batches=12, each=30):
    """The mean of many draws of a chain, and its error by batches of them."""
    rng, nodes = np.random.default_rng(4), [0, 1, int(belief.roots[0])]
    means = []
    for _ in range(batches):
        drawn = []
        for _ in range(each):
            belief.sweep()
            drawn.append(belief.sample(rng, nodes))
        means.append(np.mean(drawn, axis=0))
    return np.mean(means, axis=0), np.std(means, axis=0) / np.sqrt(batches)


@pytest.mark.parametrize("chain", [None, {}, {"bit_generator": "MT19937"}, {"bit_generator": 3}])
def test_a_chain_that_is_none_is_refused(chain):
    model = hb.GeneralizedHierarchy(KNOWN["arms"], "bernoulli")
    meta, arrays = GibbsBelief(model, 2).state()
    with pytest.raises(ValueError, match="chain must be the state of a random generator"):
        GibbsBelief.from_state({**meta, "chain": chain}, arrays)
