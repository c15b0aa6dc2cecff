"""Unknown widths: the mixture against candidates run apart, and what it must not depend on."""

import numpy as np
import pytest
from support.oracle import dense_posterior

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.algebra import condition
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.candidates import EDGE, GROWTH, KEPT
from hierbandits.models.unknown_widths import HYPER_RATIO, TASK_RATIO, UnknownWidths

D, TASKS = 3, 5
NOISE = {"known": 0.7, "unknown": None}
FORMS = {"linear": False, "armed": True}


def _events(seed, size, armed, *, populations=1, task_std=0.4, noise=0.7, unit=1.0):
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=(populations, D))
    theta = np.repeat(mu, TASKS, axis=0) + task_std * rng.normal(size=(populations * TASKS, D))
    tasks = rng.integers(0, populations * TASKS, size)
    features = rng.integers(0, D, size) if armed else unit * rng.normal(size=(size, D))
    mean = theta[tasks, features] if armed else (features * theta[tasks]).sum(1) / unit
    return tasks, features, mean + noise * rng.normal(size=size)


def _belief(armed, noise_std, populations=1):
    widths = UnknownWidths.of(D, armed=armed, noise_std=noise_std, hyper_mean=[0.5, 0.0, -1.0])
    belief = AdaptiveBelief(widths, TASKS, populations)
    return belief, widths


def _one_by_one(belief, tasks, features, rewards):
    for e in range(len(tasks)):
        belief.observe(tasks[e : e + 1], features[e : e + 1], rewards[e : e + 1])


def _apart(belief, widths, tasks, features, rewards, population=0):
    """Every candidate that is left, run on its own from the start: (log weight, belief)."""
    held = belief.candidates
    for c in np.flatnonzero(held.active[:, population]):
        point = tuple(held.points[c, population].tolist())
        prior = widths.hierarchy(point, held.units[population])
        own = Belief(prior, TASKS)
        own.observe(tasks, features, rewards)
        evidence = own.evidence
        log = evidence.log() if widths.noise_std else evidence.log_any_scale()
        yield int(c), widths.log_prior(point) + float(log[0]), own


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_candidates_and_weights_are_those_of_beliefs_run_apart(armed, noise):
    """Also of candidates that were started late, from sums."""
    events = _events(1, 80, armed, task_std=20.0, unit=64.0)  # far from where the lattice begins
    belief, widths = _belief(armed, noise)
    first = set(map(tuple, belief.candidates.points[:, 0].tolist()))
    _one_by_one(belief, *events)
    assert set(map(tuple, belief.candidates.points[:, 0].tolist())) - first
    parts = list(_apart(belief, widths, *events))
    logs = np.array([log for _, log, _ in parts])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    found = belief.candidates.weights()[[c for c, _, _ in parts], 0]
    np.testing.assert_allclose(found, weights, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(
        belief.log_evidence(), np.logaddexp.reduce(logs), rtol=1e-9, atol=1e-9
    )
    for c, _, own in parts:
        slot = belief.candidates.slots[c]
        for task in range(TASKS + 1):
            mine, right = slot.task(task), own.task(task)
            scale = np.abs(right.mean).max() + right.std.max()
            np.testing.assert_allclose(mine.mean, right.mean, rtol=1e-7, atol=1e-7 * scale)
            np.testing.assert_allclose(mine.cov, right.cov, rtol=1e-6, atol=1e-9 * scale**2)


def test_a_candidate_has_the_evidence_of_the_dense_joint():
    tasks, features, rewards = _events(2, 12, False)
    belief, widths = _belief(False, 0.7)
    _one_by_one(belief, tasks, features, rewards)
    held = belief.candidates
    c = int(np.flatnonzero(held.points[:, 0, 1] == 1)[0])  # one of the wider hyper-widths
    point = tuple(held.points[c, 0].tolist())
    prior = widths.hierarchy(point, held.units[0])
    noise, unit = 0.7, 4.0 ** held.units[0]
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(prior.task_cov)), noise * TASK_RATIO ** point[0] / unit
    )
    np.testing.assert_allclose(
        np.sqrt(np.diagonal(prior.hyper_cov)), noise * HYPER_RATIO ** point[1] / unit
    )
    design = np.zeros((12, (TASKS + 1) * D))
    for e, task in enumerate(tasks):
        design[e, task * D : (task + 1) * D] = features[e]
    joint = dense_posterior(
        [TASKS] * TASKS + [-1],
        [prior.task_cov] * TASKS + [prior.hyper_cov],
        [None] * TASKS + [widths.hyper_mean],
        design,
        rewards,
        np.full(12, noise**2),
    )
    np.testing.assert_allclose(held.evidence.log()[c, 0], joint.log_evidence, rtol=1e-9)


def test_the_prior_falls_with_the_task_width_and_beyond_the_first_widths():
    widths = UnknownWidths.of(D, armed=True)
    first = {point: widths.log_prior(point) for point in widths.usual()}
    assert len(first) == 18
    for (i, _), log in first.items():  # task_std^(-1/3)
        np.testing.assert_allclose(log, -np.log(2.0) * i / 3)
    beyond = [(-11, 0), (1, 1), (-1, 3), (-4, -1)]
    steps = [2, 2, 2, 1]
    for (i, j), far in zip(beyond, steps, strict=True):
        expected = -np.log(2.0) * i / 3 - far * np.log(4.0)
        np.testing.assert_allclose(widths.log_prior((i, j)), expected)
    assert set(widths.neighbours((0, 0))) == {(-1, 0), (1, 0), (0, -1), (0, 1)}
    assert widths.neighbours((14, 8)) == [(13, 8), (14, 7)]  # the ends of arithmetic
    again = UnknownWidths.from_dict(widths.to_dict())
    assert (again.dim, again.is_armed, again.noise_std) == (D, True, None)
    assert repr(widths) == "UnknownWidths(3-armed, noise_std=unknown)"


def _mixed(parts, scales, moments):
    """The moments of a mixture: (weight, mean, within, shared) of each part, scaled."""
    means, withins, shareds = zip(*(moments(own) for _, _, own in parts), strict=True)
    logs = np.array([log for _, log, _ in parts])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    mean = sum(w * m for w, m in zip(weights, means, strict=True))
    within = sum(w * s * v for w, s, v in zip(weights, scales, withins, strict=True))
    shared = sum(w * s * v for w, s, v in zip(weights, scales, shareds, strict=True))
    between = sum(
        w * np.multiply.outer(m - mean, m - mean) if np.ndim(within) == 2 else w * (m - mean) ** 2
        for w, m in zip(weights, means, strict=True)
    )
    return mean, within, shared + between


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_what_it_says_are_the_moments_of_the_mixture(armed, noise):
    events = _events(3, 25, armed)
    belief, widths = _belief(armed, noise)
    _one_by_one(belief, *events)
    parts = list(_apart(belief, widths, *events))
    assert len(parts) > 3
    # s^2 given the rewards is inverse gamma with shape n / 2 and scale square / 2
    scales = [1.0 if noise else own.evidence.square[0] / (25 - 2) for _, _, own in parts]
    for node in range(TASKS + 1):
        mean, within, shared = _mixed(parts, scales, lambda own, n=node: own.forest.marginal(n))
        found, split = belief.task(node), belief.uncertainty(node)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-6)
        np.testing.assert_allclose(split.within, within, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(split.shared, shared, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.cov, within + shared, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(belief.hyper().mean, belief.task(TASKS).mean)
    tasks, features = np.array([4, 0, 4]), np.array([2, 0, 1]) if armed else np.eye(D)
    expected = _mixed(parts, scales, lambda own: tuple(own.predict(tasks, features)))
    np.testing.assert_allclose(belief.predict(tasks, features), expected, rtol=1e-6)
    nodes = np.array([1, TASKS, 1])
    means, rows = belief.draws(None, nodes)
    np.testing.assert_allclose(means[rows], [belief.task(n).mean for n in nodes], rtol=1e-9)


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("repeats", [1, 4000])
def test_draws_have_the_moments_of_the_mixture(noise, repeats):
    """One at a time, and many at once as propensities need them."""
    events = _events(4, 40, False)
    belief, _ = _belief(False, noise)
    _one_by_one(belief, *events)
    rng, nodes = np.random.default_rng(0), np.array([2, TASKS, 2])
    drawn = []
    for _ in range(4000 // repeats):
        theta, rows = belief.draws(rng, nodes, repeats=repeats)
        drawn.append(theta[rows].reshape(repeats, 3, D))
    draws = np.concatenate(drawn)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 2])  # repeats of a task share theirs
    for place, node in ((0, 2), (1, TASKS)):
        found, values = belief.task(node), draws[:, place]
        error = found.std / np.sqrt(len(values))
        assert (np.abs(values.mean(0) - found.mean) < 5 * error).all()
        spread = (values - found.mean) ** 2
        error = spread.std(0) / np.sqrt(len(values))
        assert (np.abs(spread.mean(0) - np.diagonal(found.cov)) < 5 * error).all()


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_populations_of_one_belief_are_beliefs_of_their_own(noise):
    tasks, features, rewards = _events(5, 300, False, populations=3)
    whole, _ = _belief(False, noise, 3)
    _one_by_one(whole, tasks, features, rewards)
    for p in range(3):
        mine = tasks // TASKS == p
        alone, _ = _belief(False, noise)
        _one_by_one(alone, tasks[mine] % TASKS, features[mine], rewards[mine])
        active = whole.candidates.active[:, p]
        points = [tuple(q) for q in whole.candidates.points[active, p].tolist()]
        assert sorted(points) == sorted(map(tuple, alone.candidates.points[:, 0].tolist()))
        np.testing.assert_allclose(whole.log_evidence()[p], alone.log_evidence()[0], rtol=1e-9)
        for s in range(TASKS):
            np.testing.assert_allclose(
                whole.task(p * TASKS + s).mean, alone.task(s).mean, rtol=1e-7
            )
        np.testing.assert_allclose(whole.hyper(p).cov, alone.hyper().cov, rtol=1e-6)


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("power", [-80, 30])
def test_choices_do_not_depend_on_the_scale_of_rewards(armed, power):
    """With nothing known; powers of two, so that rounding is the same too."""
    tasks, features, rewards = _events(6, 60, armed)
    widths = UnknownWidths.of(D, armed=armed)
    beliefs = [AdaptiveBelief(widths, TASKS) for _ in range(2)]
    for belief, scale in zip(beliefs, (1.0, 2.0**power), strict=True):
        _one_by_one(belief, tasks, features, scale * rewards)
    draws = [b.sample(np.random.default_rng(0), np.arange(TASKS)) for b in beliefs]
    np.testing.assert_allclose(draws[1], 2.0**power * draws[0], rtol=1e-9)


def test_features_of_any_size_end_up_with_the_same_answers():
    tasks, features, rewards = _events(7, 200, False)
    sizes = np.array([1.0, 4.0**6, 4.0**-5])
    beliefs = [AdaptiveBelief(UnknownWidths.of(D, armed=False), TASKS) for _ in range(2)]
    for belief, size in zip(beliefs, (1.0, sizes), strict=True):
        _one_by_one(belief, tasks, size * features, rewards)
    plain, sized = (belief.candidates for belief in beliefs)
    np.testing.assert_array_equal(sized.units - plain.units, [[0, 6, -5]])
    np.testing.assert_allclose(
        beliefs[1].task(2).mean * sizes, beliefs[0].task(2).mean, rtol=1e-2, atol=1e-2
    )


@pytest.mark.parametrize("size", [1e8, 1e12, 1e20])
def test_features_of_very_different_sizes_are_no_trouble(size):
    """A time in nanoseconds beside a constant, say."""
    tasks, features, rewards = _events(16, 200, False)
    sizes = np.array([1.0, size, 1 / size])
    plain, sized = (AdaptiveBelief(UnknownWidths.of(D, armed=False), TASKS) for _ in range(2))
    _one_by_one(plain, tasks, features, rewards)
    _one_by_one(sized, tasks, sizes * features, rewards)
    found, right = sized.task(2), plain.task(2)
    np.testing.assert_allclose(found.mean * sizes, right.mean, atol=0.3 * right.std.max())
    np.testing.assert_allclose(found.std * sizes, right.std, rtol=0.3)


@pytest.mark.parametrize("noise", [None, 1e-20, 1.0, 1e20])
@pytest.mark.parametrize("reward", [0.0, 1e-60, 1e60])
@pytest.mark.parametrize("size", [None, 1e-60, 1e-20, 1.0, 1e20, 1e60])
def test_whatever_is_accepted_leaves_finite_numbers(noise, reward, size):
    rng = np.random.default_rng(17)
    widths = UnknownWidths.of(D, armed=size is None, noise_std=noise)
    belief = AdaptiveBelief(widths, TASKS)
    size = None if size is None else min(size, widths.largest_feature)
    for e in range(30):
        signs = rng.choice([-1.0, 0.3, 1.0], (1, D))
        x = rng.integers(0, D, 1) if size is None else size * signs
        belief.observe([e % TASKS], x, rng.choice([-reward, reward], 1))
        assert np.isfinite(belief.sample(rng, np.arange(TASKS))).all()
        assert np.isfinite(belief.predict([e % TASKS], x)).all()
    assert all(np.isfinite(array).all() for array in belief.state()[1].values())
    assert np.isfinite(belief.candidates.weights()).all()


def test_sizes_that_no_unit_can_have_are_refused():
    with pytest.raises(ValueError, match="noise_std must be in"):
        UnknownWidths.of(D, armed=True, noise_std=1e21)
    belief = AdaptiveBelief(UnknownWidths.of(1, armed=False, noise_std=0.1), 1)
    with pytest.raises(ValueError, match=r"features must be finite and at most 1e\+21"):
        belief.observe([0], [[2e21]], [1.0])


def test_only_tasks_are_observed_and_only_what_was_is_revised():
    """Candidates that start late hear of the rewards of tasks, from their sums."""
    belief, _ = _belief(True, None)
    belief.observe([0], [1], [0.5])
    new = int(belief.add(TASKS)[0])
    before = {name: array.tobytes() for name, array in belief.state()[1].items()}
    with pytest.raises(ValueError, match="tasks must be tasks, got node 5"):
        belief.observe([0, TASKS], [1, 1], [0.5, 0.5])
    for task in (1, TASKS, new):
        with pytest.raises(ValueError, match="task must be one that has had a reward"):
            belief.revise(task, 1, 0.5, 0.7)
    assert before == {name: array.tobytes() for name, array in belief.state()[1].items()}


def test_what_it_predicts_of_large_rewards_has_the_right_variance():
    """Not a difference of squares, where 16 digits would not be enough."""
    tasks, features, rewards = _events(18, 200, True)
    belief, _ = _belief(True, None)
    _one_by_one(belief, tasks, features, rewards + 1e9)
    found = belief.predict(np.full(D, 2), np.arange(D))
    split = belief.uncertainty(2)
    np.testing.assert_allclose(found.within_var, np.diagonal(split.within), rtol=1e-6)
    np.testing.assert_allclose(found.shared_var, np.diagonal(split.shared), rtol=1e-6)


def test_a_log_beyond_what_digits_can_tell_is_learned_all_the_same():
    """Features that are always collinear, no noise, and very many events: rounding is all."""
    rng = np.random.default_rng(19)
    arms = np.hstack([np.ones((4, 1)), np.eye(4)])
    tasks, played = np.repeat(np.arange(100), 10), rng.integers(0, 4, 1000)
    few = TaskSums.zeros(100, 5)
    few.add(tasks, arms[played], 3.0 + played)
    many = TaskSums(few.xx * 1e7, few.xy * 1e7, few.yy * 1e7, few.n * 1e7)
    belief = AdaptiveBelief(UnknownWidths.of(5, armed=False), 100)
    belief.learn_past(np.arange(100), many)
    found = belief.predict(np.zeros(4, int), arms)
    np.testing.assert_allclose(found.mean, 3.0 + np.arange(4), rtol=1e-4)
    assert (belief.candidates.evidence.square > 0).all()


@pytest.mark.parametrize("rounding", [-0.99, -30.0])
def test_information_below_zero_counts_as_none(rounding):
    """Precisions beyond 1 / eps leave rounding in directions of which nothing is known."""
    known, unknown = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    precision = 1e4 * np.outer(known, known) + rounding * np.outer(unknown, unknown)
    mean, factor, log_det = condition(np.zeros(2), np.eye(2), precision, 2e4 * known)
    cov = np.outer(known, known) / (1e4 + 1) + np.outer(unknown, unknown)
    np.testing.assert_allclose(factor @ factor.T, cov, atol=1e-12)
    np.testing.assert_allclose(mean, 2e4 / (1e4 + 1) * known, atol=1e-11)
    np.testing.assert_allclose(log_det, np.log1p(1e4))


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize(("task_std", "tasks"), [(0.002, 100), (0.25, 100), (3.0, 30), (200.0, 30)])
def test_weight_gathers_at_the_true_widths_and_few_candidates_are_left(noise, task_std, tasks):
    rng = np.random.default_rng(8)
    noise_std, hyper = 0.7, rng.normal(size=D)
    theta = hyper + task_std * rng.normal(size=(tasks, D))
    belief = AdaptiveBelief(UnknownWidths.of(D, armed=True, noise_std=noise), tasks)
    for _ in range(40):
        nodes, arms = np.arange(tasks), rng.integers(0, D, tasks)
        belief.observe(nodes, arms, theta[nodes, arms] + noise_std * rng.normal(size=tasks))
    held = belief.candidates
    assert len(held.slots) == held.active.sum() < 25
    weights = held.weights()[:, 0]
    heavy = held.points[weights.argmax(), 0]
    resolution = noise_std * np.sqrt(D / 40) * (2 / (D * tasks)) ** 0.25  # of task_std, from tau^2
    found = noise_std * TASK_RATIO ** float(heavy[0])
    if task_std > resolution:
        assert abs(np.log(found / task_std)) < np.log(TASK_RATIO)
    else:
        assert found < 3 * resolution
    if noise is None:
        scale = np.sqrt(belief._var_scale(int(weights.argmax()))[0])
        np.testing.assert_allclose(scale, noise_std, rtol=0.05)


def test_a_dropped_candidate_costs_nothing():
    tasks, features, rewards = _events(9, 3000, True)
    belief, _ = _belief(True, 0.7)
    first = len(belief.candidates.slots)
    _one_by_one(belief, tasks, features, rewards)
    assert len(belief.candidates.slots) < first / 2
    assert belief.candidates.due[0] <= np.ceil(GROWTH * 3000)
    weights = belief.candidates.weights()[:, 0]
    assert (weights > KEPT / 10).all()
    assert weights.max() > EDGE


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_past_sums_and_revised_rewards_are_as_if_observed(armed):
    tasks, features, rewards = _events(10, 60, armed)
    sums = TaskSums.zeros(TASKS, D, armed=armed)
    sums.add(tasks, features, rewards)
    (told, widths), (learned, _), (revised, _) = (_belief(armed, None) for _ in range(3))
    told.learn_past(np.arange(TASKS), sums)
    learned.observe(tasks, features, rewards)
    wrong = rewards.copy()
    wrong[7] += 5.0
    revised.observe(tasks, features, wrong)
    revised.revise(int(tasks[7]), features[7], wrong[7], rewards[7])
    np.testing.assert_array_equal(told.num_rewards, [60.0])
    for belief in (told, revised):
        parts = list(_apart(belief, widths, tasks, features, rewards))
        logs = np.array([log for _, log, _ in parts])
        weights = np.exp(logs - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(belief.candidates.weights()[:, 0], weights, rtol=1e-6)
        found = belief.candidates.sums
        np.testing.assert_allclose(found.xy[:TASKS], sums.xy, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.yy[:TASKS], sums.yy, rtol=1e-9)
    np.testing.assert_allclose(told.task(3).mean, learned.task(3).mean, rtol=0.02)


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", [0.0, 1.0, -1e9])
def test_rewards_that_never_vary_are_no_trouble(armed, value):
    tasks, features, _ = _events(11, 50, armed)
    belief, _ = _belief(armed, None)
    rng = np.random.default_rng(0)
    for e in range(50):
        belief.observe(tasks[e : e + 1], features[e : e + 1], [value])
        assert np.isfinite(belief.sample(rng, np.arange(TASKS))).all()
    assert np.isfinite(belief.predict(tasks, features)).all()


def test_the_noise_of_single_rewards_cannot_be_stated():
    belief, _ = _belief(True, None)
    with pytest.raises(ValueError, match="noise_std must not be given"):
        belief.observe([0], [1], [0.5], [0.1])
    np.testing.assert_array_equal(belief.num_rewards, 0.0)


def test_a_saved_belief_resumes_bit_for_bit(tmp_path):
    tasks, features, rewards = _events(12, 90, False, populations=2)
    belief, _ = _belief(False, None, 2)
    _one_by_one(belief, tasks[:60], features[:60], rewards[:60])
    belief.save(tmp_path / "belief.hb")
    again = AdaptiveBelief.load(tmp_path / "belief.hb")
    for each in (belief, again):
        _one_by_one(each, tasks[60:], features[60:], rewards[60:])
    for a, b in zip(belief.state()[1].values(), again.state()[1].values(), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="not a sound belief file"):
        Belief.load(tmp_path / "belief.hb")


class _Life:
    """A belief to which everything happens: tasks added, batches, revisions, files."""

    def __init__(self, seed, path):
        self.rng, self.path = np.random.default_rng(seed), path
        self.armed, known = self.rng.integers(0, 2, 2).astype(bool)
        self.populations, self.dim = self.rng.integers(1, 4, 2).tolist()
        self.widths = UnknownWidths.of(
            self.dim,
            armed=bool(self.armed),
            noise_std=0.5 if known else None,
            hyper_mean=self.rng.normal(size=self.dim),
        )
        self.belief = AdaptiveBelief(self.widths, 1, self.populations)
        self.nodes = list(range(self.populations))
        self.population = list(range(self.populations))
        self.log = []  # [place in nodes, features, reward]
        self.sizes = 4.0 ** self.rng.integers(-4, 5, self.dim)
        self.scale = np.exp(2 * self.rng.normal(size=self.populations))

    def step(self):
        rng, belief = self.rng, self.belief
        if rng.random() < 0.15:
            p = int(rng.integers(self.populations))
            self.nodes += belief.add(int(belief.roots[p]), 2).tolist()
            self.population += [p, p]
        number = int(rng.choice([0, 1, 3, 40], p=[0.1, 0.5, 0.35, 0.05]))
        places = rng.integers(0, len(self.nodes), number)
        x = rng.integers(0, self.dim, number)
        x = x if self.armed else self.sizes * rng.normal(size=(number, self.dim))
        y = 1.0 + self.scale[np.array(self.population)[places]] * rng.normal(size=number)
        belief.observe(np.array(self.nodes)[places], x, y)
        self.log += [[int(place), *event] for place, *event in zip(places, x, y, strict=True)]
        if self.log and rng.random() < 0.1:
            event = self.log[int(rng.integers(len(self.log)))]
            belief.revise(self.nodes[event[0]], event[1], event[2], 2.0)
            event[2] = 2.0
        if rng.random() < 0.05:
            belief.save(self.path)
            self.belief = AdaptiveBelief.load(self.path)
        belief.sample(rng, np.array(self.nodes))

    def alone(self, population, point):
        """A population's places, and a belief of its own with these widths."""
        places = [k for k, p in enumerate(self.population) if p == population]
        prior = self.widths.hierarchy(point, self.belief.candidates.units[population])
        own = Belief(prior, len(places))
        events = [(places.index(k), x, y) for k, x, y in self.log if k in places]
        if events:
            own.observe(*(np.array(part) for part in zip(*events, strict=True)))
        return places, own


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_every_candidate_is_a_belief_run_apart(seed, tmp_path):
    life = _Life(seed, tmp_path / "belief.hb")
    for _ in range(60):
        life.step()
    held = life.belief.candidates
    for p in range(life.populations):
        active, logs = np.flatnonzero(held.active[:, p]), []
        for c in active:
            point = tuple(held.points[c, p].tolist())
            places, own = life.alone(p, point)
            evidence = own.evidence
            known = life.widths.noise_std is not None
            logs.append((evidence.log() if known else evidence.log_any_scale())[0])
            logs[-1] += life.widths.log_prior(point)
            for s, k in enumerate(places):
                mine, right = held.slots[c].task(life.nodes[k]), own.task(s)
                assert np.abs((mine.mean - right.mean) / right.std).max() < 1e-6
                np.testing.assert_allclose(mine.std, right.std, rtol=1e-6)
        assert held.count[p] == own.num_rewards[0]
        weights = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(held.weights()[active, p], weights, rtol=1e-5, atol=1e-12)


def test_an_equal_hierarchy_of_another_form_is_no_equal():
    """One arm and one feature are the same numbers, and so are the bytes of their parts."""
    armed = GaussianHierarchy.armed(1, hyper_std=1.0, task_std=0.5, noise_std=0.4)
    linear = GaussianHierarchy(
        hyper_mean=[0.0], hyper_cov=[[1.0]], task_cov=[[0.25]], noise_std=0.4
    )
    belief = Belief(linear)
    with pytest.raises(ValueError, match="prior must have the form"):
        belief.add_populations(1, armed)
    twin = belief.copy()
    twin.add_populations(1, GaussianHierarchy.from_dict(linear.to_dict()))
    assert (len(twin.forest.hierarchies), belief.num_populations) == (1, 1)
