"""Candidates that start late, are dropped and come back."""

import numpy as np
import pytest
from support.adaptive import (
    FORMS,
    NOISE,
    TASKS,
    D,
    adaptive_belief,
    beliefs_apart,
    drawn_events,
    observe_one_by_one,
)
from support.oracle import dense_posterior

from hierbandits import Belief
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.candidates import GROWTH, HEAVY, KEPT
from hierbandits.models.unknown_widths import HYPER_RATIO, TASK_RATIO, UnknownWidths


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


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_candidates_and_weights_are_those_of_beliefs_run_apart(armed, noise):
    """Also of candidates that were started late, from sums."""
    events = drawn_events(
        1, 80, armed, task_std=20.0, unit=64.0
    )  # far from where the lattice begins
    belief, widths = adaptive_belief(armed, noise)
    first = set(map(tuple, belief.candidates.points[:, 0].tolist()))
    observe_one_by_one(belief, *events)
    assert set(map(tuple, belief.candidates.points[:, 0].tolist())) - first
    parts = list(beliefs_apart(belief, widths, *events))
    logs = np.array([log for _, log, _ in parts])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    found = belief.candidates.weights()[[c for c, _, _ in parts], 0]
    np.testing.assert_allclose(found, weights, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(
        belief.log_evidence(), np.logaddexp.reduce(logs), rtol=1e-9, atol=1e-9
    )
    for c, _, own in parts:
        slot = belief.candidates.beliefs[c]
        for task in range(TASKS + 1):
            mine, right = slot.task(task), own.task(task)
            scale = np.abs(right.mean).max() + right.std.max()
            np.testing.assert_allclose(mine.mean, right.mean, rtol=1e-7, atol=1e-7 * scale)
            np.testing.assert_allclose(mine.cov, right.cov, rtol=1e-6, atol=1e-9 * scale**2)


def test_a_candidate_has_the_evidence_of_the_dense_joint():
    tasks, features, rewards = drawn_events(2, 12, False)
    belief, widths = adaptive_belief(False, 0.7)
    observe_one_by_one(belief, tasks, features, rewards)
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


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_populations_of_one_belief_are_beliefs_of_their_own(noise):
    tasks, features, rewards = drawn_events(5, 300, False, populations=3)
    whole, _ = adaptive_belief(False, noise, 3)
    observe_one_by_one(whole, tasks, features, rewards)
    for p in range(3):
        mine = tasks // TASKS == p
        alone, _ = adaptive_belief(False, noise)
        observe_one_by_one(alone, tasks[mine] % TASKS, features[mine], rewards[mine])
        active = whole.candidates.active[:, p]
        points = [tuple(q) for q in whole.candidates.points[active, p].tolist()]
        assert sorted(points) == sorted(map(tuple, alone.candidates.points[:, 0].tolist()))
        np.testing.assert_allclose(whole.log_evidence()[p], alone.log_evidence()[0], rtol=1e-9)
        for s in range(TASKS):
            np.testing.assert_allclose(
                whole.task(p * TASKS + s).mean, alone.task(s).mean, rtol=1e-7
            )
        np.testing.assert_allclose(whole.hyper(p).cov, alone.hyper().cov, rtol=1e-6)


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
    assert len(held.beliefs) == held.active.sum() < 25
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
    tasks, features, rewards = drawn_events(9, 3000, True)
    belief, _ = adaptive_belief(True, 0.7)
    first = len(belief.candidates.beliefs)
    observe_one_by_one(belief, tasks, features, rewards)
    assert len(belief.candidates.beliefs) < first / 2
    assert belief.candidates.due[0] <= np.ceil(GROWTH * 3000)
    weights = belief.candidates.weights()[:, 0]
    assert (weights > KEPT / 10).all()
    assert weights.max() > HEAVY


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
                mine, right = held.beliefs[c].task(life.nodes[k]), own.task(s)
                assert np.abs((mine.mean - right.mean) / right.std).max() < 1e-6
                np.testing.assert_allclose(mine.std, right.std, rtol=1e-6)
        assert held.count[p] == own.num_rewards[0]
        weights = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(held.weights()[active, p], weights, rtol=1e-5, atol=1e-12)
