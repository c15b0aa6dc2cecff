"""A belief by moment matching: its laws, and what is exact about it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.family_worlds import FORMS, events, family_of, hierarchy

import hierbandits as hb
from hierbandits.models import FAMILIES

SEEDED = {form: place for place, form in enumerate(FORMS)}
each_form = pytest.mark.parametrize("form", FORMS)
each_family = pytest.mark.parametrize("family", list(FAMILIES))


def _belief(form, family="bernoulli", number=40):
    """A belief that has learned something, with its prior and events."""
    rng = np.random.default_rng(SEEDED[form])
    prior, counts = hierarchy(form, rng)
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family_of(family)), counts)
    data = events(prior, rng, number, family)
    _observe(belief, data)
    return belief, prior, data


def _observe(belief, data, rows=slice(None)):
    tasks, features, rewards, exposure = (part[rows] for part in data)
    belief.observe(tasks, features, rewards, exposure=exposure)


def _bits(belief):
    meta, arrays = belief.state()
    return str(meta), {name: array.tobytes() for name, array in arrays.items()}


def _all_moments(belief):
    each = [belief.task(node) for node in range(belief.num_nodes)]
    return np.concatenate([np.concatenate([one.mean, one.cov.ravel()]) for one in each])


@each_form
def test_gaussian_rewards_are_learned_exactly(form):
    """Moment matching of a Gaussian is no approximation: every form of the recursion shows it."""
    matched, prior, (tasks, features, rewards, _) = _belief(form, "gaussian")
    exact = hb.Belief(prior, (2, 2) if form.startswith("deep") else 4)
    exact.observe(tasks, features, rewards)
    for _ in range(2):
        assert_allclose(_all_moments(matched), _all_moments(exact), rtol=1e-8, atol=1e-8)
        assert_allclose(matched.log_evidence(), exact.log_evidence(), rtol=1e-8)
        assert matched.refit(sweeps=3).change < 1e-8  # nothing is left to propagate


@each_form
@each_family
def test_a_batch_is_its_events_one_by_one(form, family):
    together, prior, data = _belief(form, family)
    alone = hb.MatchedBelief(
        hb.GeneralizedHierarchy(prior, family_of(family)), (2, 2) if form.startswith("deep") else 4
    )
    for e in range(len(data[0])):
        _observe(alone, data, slice(e, e + 1))
    assert_allclose(_all_moments(alone), _all_moments(together), rtol=1e-9, atol=1e-10)
    assert_allclose(alone.log_evidence(), together.log_evidence(), rtol=1e-9)
    assert alone.num_rewards.tolist() == together.num_rewards.tolist() == [len(data[0])]


@each_form
@each_family
def test_refits_forget_the_order_of_rewards(form, family):
    one, prior, data = _belief(form, family)
    other = hb.MatchedBelief(
        hb.GeneralizedHierarchy(prior, family_of(family)), (2, 2) if form.startswith("deep") else 4
    )
    _observe(other, data, np.arange(len(data[0]))[::-1])
    for belief in (one, other):
        assert belief.refit(sweeps=100, tolerance=1e-9).is_converged
    assert_allclose(_all_moments(one), _all_moments(other), rtol=1e-6, atol=1e-7)
    assert_allclose(one.log_evidence(), other.log_evidence(), rtol=1e-7)


@each_form
def test_a_saved_belief_goes_on_bit_for_bit(form, tmp_path):
    belief, _, data = _belief(form, "binomial")
    belief.save(tmp_path / "belief")
    loaded, copied = hb.MatchedBelief.load(tmp_path / "belief"), belief.copy()
    for twin in (loaded, copied):
        assert _bits(twin) == _bits(belief)
    for one in (belief, loaded, copied):
        _observe(one, data, slice(7))
        one.refit(sweeps=2)
    for twin in (loaded, copied):
        assert _bits(twin) == _bits(belief)


def test_a_file_with_features_that_no_call_takes_is_refused():
    belief, _, _ = _belief("linear")
    meta, arrays = belief.state()
    features = arrays["site_features"].copy()
    features[3, 0] = -1e300
    with pytest.raises(ValueError, match="features must be finite and at most"):
        hb.MatchedBelief.from_state(meta, arrays | {"site_features": features})


@pytest.mark.parametrize(
    ("rewards", "options", "message"),
    [
        ([0.0, 2.0], {}, r"rewards must be 0 or 1, got 2 at \[1\]"),
        ([0.0, np.nan], {}, "rewards must be finite"),
        ([0.0], {}, "rewards must have shape"),
        ([0.0, 1.0], {"noise_std": [1.0, 1.0]}, "noise_std must not be given"),
        ([0.0, 1.0], {"exposure": [1.0, 3.0]}, "exposure must be 1 for bernoulli"),
        ([0.0, 1.0], {"exposure": [1.0, -1.0]}, "exposure must be positive"),
        ([0.0, 1.0], {"exposure": [1.0]}, "exposure must have shape"),
        ([0.0, 1.0], {"time": [1.0]}, "time must have shape"),
    ],
)
@pytest.mark.parametrize("form", ["linear", "armed"])
def test_a_bad_batch_changes_nothing(form, rewards, options, message):
    belief, prior, _ = _belief(form)
    before = _bits(belief)
    features = [0, 1] if prior.is_armed else np.eye(3)[:2]
    with pytest.raises(ValueError, match=message):
        belief.observe([0, 1], features, rewards, **options)
    assert _bits(belief) == before


@each_form
@each_family
def test_a_corrected_reward_is_as_if_it_had_been_right(form, family):
    """Both end in the same place once all sites have followed."""
    belief, prior, (tasks, features, rewards, exposure) = _belief(form, family)
    place = int(np.flatnonzero(exposure == 1)[0]) if (exposure == 1).any() else None
    if place is None:  # counts over times of their own
        tasks, features = np.append(tasks, 1), np.append(features, features[:1], axis=0)
        rewards, exposure, place = np.append(rewards, 1.0), np.append(exposure, 1.0), tasks.size - 1
        belief.observe([1], features[-1:], [1.0])
    right = rewards.copy()
    right[place] = 1.0 - min(rewards[place], 1.0)
    belief.revise(int(tasks[place]), features[place], rewards[place], right[place])
    other = hb.MatchedBelief(
        hb.GeneralizedHierarchy(prior, family_of(family)), (2, 2) if form.startswith("deep") else 4
    )
    other.observe(tasks, features, right, exposure=exposure)
    for one in (belief, other):
        one.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(_all_moments(belief), _all_moments(other), rtol=1e-6, atol=1e-7)
    assert_allclose(belief.log_evidence(), other.log_evidence(), rtol=1e-7)


def test_corrections_that_cannot_be_are_refused():
    for form in ("linear", "armed"):
        belief, prior, _ = _belief(form)
        x = 0 if prior.is_armed else np.ones(3)
        before = _bits(belief)
        for old, new, message in (
            (0.0, 2.0, "rewards must be 0 or 1"),
            (0.5, 1.0, "must be 0 or 1"),
        ):
            with pytest.raises(ValueError, match=message):
                belief.revise(0, x, old, new)
        with pytest.raises(ValueError, match="noise_std must not be given"):
            belief.revise(0, x, 0.0, 1.0, noise_std=1.0)
        assert _bits(belief) == before
    with pytest.raises(ValueError, match="old_reward must be one that node 0 has had, got 1"):
        hb.MatchedBelief(belief_model("armed"), 2).revise(0, 0, 1.0, 0.0)


def belief_model(form, family="bernoulli"):
    return hb.GeneralizedHierarchy(hierarchy(form, np.random.default_rng(5))[0], family_of(family))


@pytest.mark.parametrize("form", ["armed", "correlated"])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_sums_of_arms_teach_what_their_rewards_do(form, family):
    model, rng = belief_model(form, family), np.random.default_rng(2)
    tasks, arms, rewards, _ = events(model, rng, 60, family)
    rewards = np.minimum(rewards, 3.0)
    sums = hb.TaskSums.zeros(4, 3, armed=True)
    sums.add(tasks, arms, rewards)
    one, other = hb.MatchedBelief(model, 4), hb.MatchedBelief(model, 4)
    one.check_past(4, sums)
    one._raw_learn_past(np.arange(4), sums)
    other.observe(tasks, arms, rewards)
    for belief in (one, other):
        belief.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(_all_moments(one), _all_moments(other), rtol=1e-6, atol=1e-7)
    assert one.num_rewards == other.num_rewards == [60]
    assert one._told_rows.num_rewards == 60


def test_sums_that_cannot_teach_are_refused():
    linear = hb.MatchedBelief(belief_model("linear"), 4)
    with pytest.raises(ValueError, match="sums must be of arms whose bernoulli rewards add up"):
        linear.check_past(4, hb.TaskSums.zeros(4, 3))
    sums = hb.TaskSums.zeros(4, 3, armed=True)
    sums.add([0, 0], [1, 1], [2.0, 1.0])
    with pytest.raises(ValueError, match=r"sums\.xy must be numbers of successes"):
        hb.MatchedBelief(belief_model("armed"), 4).check_past(4, sums)


@each_form
def test_nothing_is_known_before_any_reward(form):
    prior, counts = hierarchy(form, np.random.default_rng(4))
    matched = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "poisson"), counts)
    exact = hb.Belief(prior, counts)
    assert_allclose(_all_moments(matched), _all_moments(exact), rtol=1e-12, atol=1e-14)
    assert matched.log_evidence() == 0
    assert matched.refit().sweeps == 0
    assert matched.num_empty_sites == 0


def test_rewards_that_tell_nothing_are_counted():
    prior = hb.GaussianHierarchy.armed(
        2, hyper_mean=[60.0, 0.0], hyper_std=1, task_std=1, noise_std=1
    )
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "bernoulli"), 1)
    belief.observe([0, 0], [0, 1], [1.0, 1.0])
    assert belief.num_empty_sites == 1
    assert belief.num_rewards == [2]


def test_mean_rewards_are_not_linear_predictors():
    belief, _, _ = _belief("armed")
    linear, reward = belief.predict([0, 1], [0, 2]), belief.mean_reward([0, 1], [0, 2])
    draws = linear.mean + linear.std * np.random.default_rng(0).standard_normal((200_000, 2))
    p = 1 / (1 + np.exp(-draws))
    assert_allclose(reward.mean, p.mean(0), atol=6 * p.std() / np.sqrt(200_000))
    assert_allclose(reward.std, p.std(0), rtol=0.02)
    plain = hb.Belief(hierarchy("armed", np.random.default_rng(0))[0], 4)
    assert_allclose(plain.mean_reward([0], [1]).mean, plain.predict([0], [1]).mean)
    assert_allclose(plain.mean_reward([0], [1]).std, plain.predict([0], [1]).std)


def test_populations_do_not_mix():
    model, rng = belief_model("linear"), np.random.default_rng(8)
    data = events(model, rng, 30)
    both, alone = hb.MatchedBelief(model, 4, num_populations=2), hb.MatchedBelief(model, 4)
    both.observe(data[0] + 4, *data[1:3])
    alone.observe(*data[:3])
    assert_allclose(both.hyper(1).mean, alone.hyper().mean, rtol=1e-12)
    assert_allclose(both.hyper(0).mean, model.hyper_mean)
    assert_allclose(both.log_evidence(), [0.0, alone.log_evidence()[0]])


def test_other_models_are_refused():
    prior = hierarchy("linear", np.random.default_rng(0))[0]
    with pytest.raises(ValueError, match="prior must be a GeneralizedHierarchy"):
        hb.MatchedBelief(prior, 2)
    belief, _, _ = _belief("linear")
    for options, message in (
        ({"sweeps": 0}, "sweeps must be a whole number of at least 1"),
        ({"tolerance": 0.0}, "tolerance must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            belief.refit(**options)


@pytest.mark.parametrize("family", ["bernoulli", "binomial", "poisson"])
def test_predictors_of_any_width_leave_numbers(family):
    rng = np.random.default_rng(5)
    for _ in range(60):
        width, d, n = 10 ** rng.uniform(0, 5), int(rng.integers(1, 4)), int(rng.integers(1, 30))
        root = rng.normal(size=(d, d)) * width
        prior = hb.GaussianHierarchy(
            hyper_mean=rng.normal(size=d) * width,
            hyper_cov=root @ root.T,
            task_cov=root @ root.T * 10 ** rng.uniform(-6, 0),
            noise_std=1.0,
        )
        belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), 3)
        rewards = rng.poisson(10 ** rng.uniform(-1, 3), n) if family == "poisson" else np.ones(n)
        x = rng.normal(size=(n, d)) / np.sqrt(d)
        belief.observe(rng.integers(0, 3, n), x, rewards * rng.integers(0, 2, n))
        belief.refit()
        for array in (*belief.state()[1].values(), belief.log_evidence(), belief.task(0).cov):
            assert np.isfinite(array).all()
