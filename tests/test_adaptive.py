"""Unknown widths: the mixture against candidates run apart, and what it must not depend on."""

import numpy as np
import pytest

from hierbandits import Agent, Belief, GaussianHierarchy, TaskSums
from hierbandits.algebra import condition
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.policies.policy import Policy
from hierbandits.policies.thompson_rule import thompson

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
@pytest.mark.parametrize("populations", [1, 3])
def test_propensities_are_the_frequencies_of_choices(noise, populations):
    """What many draws at once choose is what draws one at a time do."""
    tasks, arms, rewards = _events(21, 12 * populations, True, populations=populations)
    belief, _ = _belief(True, noise, populations)
    _one_by_one(belief, tasks, arms, rewards)
    rng, policy = np.random.default_rng(22), Policy(belief, thompson)
    round_of = np.array([1, TASKS * populations - 1, 1])  # of two populations, if there are
    plain = np.array([policy.act(rng, round_of) for _ in range(2000)])
    frequency = np.array([np.bincount(column, minlength=D) / 2000 for column in plain.T])
    choices, shares = policy.act_with_propensities(rng, round_of, draws=4000)
    assert (choices[0], shares[0]) == (choices[2], shares[2])
    expected = frequency[np.arange(3), choices]
    error = np.sqrt(expected * (1 - expected) * (1 / 2000 + 1 / 4000))
    assert (expected > 0.1).all()
    assert (expected < 0.99).all()
    assert (np.abs(shares - expected) < 5 * error).all()


def test_a_saved_agent_resumes_bit_for_bit_after_candidates_moved(tmp_path):
    """Also the tables of hierarchies: units change, and a candidate comes back to old ones."""
    agent = Agent(num_features=1, seed=3)

    def played(agent, sizes, seed):
        rng, arms = np.random.default_rng(seed), []
        for e, size in enumerate(sizes):
            made = agent.decide(e % 7, size * rng.normal(size=(4, 1)))
            arms.append(made.arm)
            agent.reward(made.id, rng.normal())
        return arms

    played(agent, [1.0] * 40 + [6.0] * 30, 5)
    assert agent.belief.candidates.units == 1
    agent.save(tmp_path / "agent.hb")
    again = Agent.load(tmp_path / "agent.hb")
    later = [played(each, [0.3] * 2000, 6) for each in (agent, again)]
    assert agent.belief.candidates.units == 0
    assert later[0] == later[1]
    (meta, arrays), (meta_again, arrays_again) = (a.belief.state() for a in (agent, again))
    assert meta == meta_again
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, arrays_again[name])


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (5, "arms must be several arms, got 5"),
        ("abc", "arms must be several arms, got 'abc'"),
        ((name for name in "abc"), "arms must be several arms, got <generator"),
        ([], "arms must hold at least one arm"),
        ({}, "arms must hold at least one arm"),
        ([1.5, 2.5], "arms must be named by strings or integers, got 1.5"),
    ],
)
def test_arms_that_tell_no_form_are_refused(arms, message):
    with pytest.raises(ValueError, match=message):
        Agent(arms=arms)


def test_agents_without_a_prior_learn_their_widths():
    rng = np.random.default_rng(13)
    named = Agent(arms=["low", "medium", "high"], seed=0)
    vectors = Agent(arms={"a": [1.0, 0.0], "b": [0.0, 2.0]}, seed=0)
    table = Agent(arms=np.eye(4), seed=0)
    free = Agent(num_features=2, seed=0)
    for agent, armed, dim in ((named, True, 3), (vectors, False, 2), (table, False, 4)):
        assert (agent.prior.is_armed, agent.prior.dim) == (armed, dim)
        assert "AdaptiveHierTS" in repr(agent)
        for step in range(30):
            decision = agent.decide(f"store-{step % 4}")
            agent.reward(decision.id, 1e6 * rng.normal())
        assert agent.table()["mean"]
    decision = free.decide("store", np.eye(2))
    assert free.reward(decision.id, 1e-6)
    upper = Agent(arms=["low", "high"], policy="HierUCB", seed=0)
    assert upper.reward(upper.decide("store").id, 1.0)


def test_an_agent_finds_the_best_arm_whatever_the_rewards_look_like():
    rng = np.random.default_rng(14)
    for offset, scale in ((0.0, 1.0), (5e3, 10.0), (0.0, 1e-12), (-3e7, 1e6)):
        agent = Agent(arms=["a", "b", "c"], seed=1)
        values = offset + scale * np.array([0.0, 1.0, 0.3])
        for step in range(600):
            decision = agent.decide(step % 10)
            agent.reward(decision.id, values[decision.features] + scale * rng.normal())
        last = [agent.decide(step % 10).arm for step in range(100)]
        assert last.count("b") > 80


def test_an_agent_starts_from_what_a_log_says():
    tasks, features, rewards = _events(15, 300, True)
    sums = TaskSums.zeros(TASKS, D, armed=True)
    sums.add(tasks, features, rewards)
    names = [f"store-{s}" for s in range(TASKS)]
    prior = GaussianHierarchy.armed(D, hyper_std=1.0, task_std=0.4, noise_std=0.7)
    right = Belief(prior, TASKS)
    right.observe(tasks, features, rewards)
    agent = Agent(prior, seed=0)
    agent.learn_past(names, sums)
    for s, name in enumerate(names):
        np.testing.assert_allclose(
            agent.belief.task(agent.node(name)).mean, right.task(s).mean, rtol=1e-9
        )
    swapped = Agent(prior, arms=["a", "b", "c"], seed=0)
    rows = TaskSums(sums.xx[:, [2, 0, 1]], sums.xy[:, [2, 0, 1]], sums.yy, sums.n)
    swapped.learn_past(names, rows, ["c", "a", "b"])
    wider = Agent(
        GaussianHierarchy.armed(4, hyper_std=1.0, task_std=0.4, noise_std=0.7), arms=list("abxc")
    )
    wider.learn_past(names, sums, ["a", "b", "c"])
    for s, name in enumerate(names):
        mean = right.task(s).mean
        np.testing.assert_allclose(swapped.belief.task(swapped.node(name)).mean, mean, rtol=1e-9)
        found = wider.belief.task(wider.node(name)).mean
        np.testing.assert_allclose(found, [*mean[:2], 0.0, mean[2]], rtol=1e-9)
    for arms, message in (
        (["a", "b", "z"], "arms must name arms of this agent"),
        (["a", "b"], "sums must have 2 arms"),
        (["a", "a", "b"], "arms must be distinct"),
    ):
        with pytest.raises(ValueError, match=message):
            Agent(prior, arms=["a", "b", "c"]).learn_past(names, sums, arms)
    for policy in ("TS", "PooledTS", "HierUCB"):
        other = Agent(prior, policy, seed=0)
        other.learn_past(names, sums)
        assert other.belief.num_rewards.sum() == 300
    adaptive = Agent(arms=["a", "b", "c"], seed=0)
    adaptive.learn_past(names, sums)
    assert adaptive.belief.num_rewards.sum() == 300
    adaptive.reward(adaptive.decide("store-new").id, 1.0)
    with pytest.raises(ValueError, match="before all rewards, got 301 earlier"):
        adaptive.learn_past(["store-other"], sums.rows(np.array([0])))
    with pytest.raises(ValueError, match="sums must hold 2 tasks with 3 arms"):
        Agent(prior).learn_past(["x", "y"], sums)
    with pytest.raises(ValueError, match="tasks must be different"):
        Agent(prior).learn_past(["x"] * TASKS, sums)
    with pytest.raises(ValueError, match=r"sums\.yy must be of n squares"):
        Agent(prior).learn_past(names, TaskSums(sums.xx, sums.xy, -sums.yy, sums.n))
    large = TaskSums(np.full((1, 1, 1), 4e44), np.zeros((1, 1)), np.zeros(1), np.ones(1))
    with pytest.raises(
        ValueError, match=r"sums\.xx must be of n squares of numbers of at most 1e\+22"
    ):
        Agent(num_features=1).learn_past(["x"], large)
    assert Agent(prior).tasks == []
