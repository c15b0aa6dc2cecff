"""Widths unknown: at any time the exact belief of the widths that were fitted last."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from support.adaptive import (
    FORMS,
    NOISE,
    TASKS,
    D,
    adaptive_belief,
    assert_exact,
    assert_same_hierarchy,
    assert_same_knowledge,
    drawn_events,
    observe_one_by_one,
)
from support.states import belief_state

from hierbandits import POLICIES, Belief, GaussianHierarchy, Recipe, TaskSums
from hierbandits.beliefs import adaptive_belief as module
from hierbandits.beliefs import growing_rows
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.width_refit import WidthRefit, most_rewarded
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.models.variants import unknown_widths
from hierbandits.policies.thompson_rule import thompson


class _Life:
    """A belief to which all happens: tasks come and are taken back, batches, revisions, files."""

    def __init__(self, seed, path):
        self.rng, self.path = np.random.default_rng(seed), path
        self.armed, known = self.rng.integers(0, 2, 2).astype(bool)
        self.populations = int(self.rng.choice([1, 1, 3]))
        self.dim = int(self.rng.choice([1, 2, 3, 18])) if self.armed else seed % 3 + 1
        widths = UnknownWidths.of(
            self.dim,
            armed=bool(self.armed),
            noise_std=0.5 if known else None,
            hyper_mean=self.rng.normal(size=self.dim),
        )
        self.belief = AdaptiveBelief(widths, 1, self.populations)
        self.nodes = [[p] for p in range(self.populations)]
        self.log = []  # [population, node, features, reward]
        self.scale = np.exp(self.rng.normal(size=self.populations))

    def step(self):
        rng, belief = self.rng, self.belief
        if rng.random() < 0.3:
            p = int(rng.integers(self.populations))
            self.nodes[p] += belief.add(int(belief.roots[p]), 2).tolist()
        if rng.random() < 0.2:
            belief.add(int(belief.roots[0]), 3)
            belief._raw_remove_newest(3)
        number = int(rng.choice([0, 1, 3, 40], p=[0.1, 0.5, 0.35, 0.05]))
        events = []
        for _ in range(number):
            p = int(rng.integers(self.populations))
            x = rng.integers(self.dim) if self.armed else rng.normal(size=self.dim)
            events.append([p, int(rng.choice(self.nodes[p])), x, 1 + self.scale[p] * rng.normal()])
        if number == 1:
            row = events[0][2]
            belief._raw_observe_one(events[0][1], int(row) if self.armed else row, events[0][3])
        elif number:
            _, nodes, x, y = zip(*events, strict=True)
            belief.observe(nodes, np.array(x), y)
        self.log += events
        if self.log and rng.random() < 0.2:
            event = self.log[int(rng.integers(len(self.log)))]
            belief.revise(event[1], event[2], event[3], 2.0)
            event[3] = 2.0
        if rng.random() < 0.05:
            belief.save(self.path)
            self.belief = AdaptiveBelief.load(self.path)

    def check(self):
        for p in range(self.populations):
            events = [event[1:] for event in self.log if event[0] == p]
            assert_exact(self.belief, self.nodes[p], events, p)


@pytest.mark.parametrize("work", [1.0, 3000.0, 1e9])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_exact_belief_of_its_hierarchy_whatever_happens(
    seed, work, tmp_path, monkeypatch
):
    """Also while a look is under way, and when it has ended."""
    monkeypatch.setattr(module, "WORK", work)
    monkeypatch.setattr(growing_rows, "ROWS", 1)
    life = _Life(seed, tmp_path / "belief.hb")
    looks = 0
    for step in range(60):
        life.step()
        looks += life.belief._review is not None
        if step % 20 == 19:
            life.check()
            life.belief.state()  # ends a look
            assert life.belief._review is None
            life.check()
    assert (looks > 0) == (work < 1e9 and life.populations == 1)


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_a_look_in_pieces_ends_as_one_at_once(armed, monkeypatch):
    tasks, features, rewards = drawn_events(1, 104, armed)
    beliefs = []
    for work in (1.0, np.inf):
        monkeypatch.setattr(module, "WORK", work)
        belief, _ = adaptive_belief(armed, None)
        belief.observe(tasks[:100], features[:100], rewards[:100])
        assert (belief._review is None) == (work > 1.0)
        for e in range(100, 104):  # fewer than a tenth more
            new = int(belief.add(TASKS)[0])
            belief.observe([tasks[e], new], features[[e, e]], rewards[[e, e - 1]])
            belief.revise(int(tasks[e]), features[e], rewards[e], 0.5)
            belief.revise(int(tasks[3]), features[3], rewards[3] if e == 100 else e - 1.0, float(e))
            belief.add(TASKS)
            belief._raw_remove_newest(1)
            if e < 103:
                assert (belief._review is None) == (work > 1.0)
        beliefs.append(belief)
    for belief in beliefs:
        belief.state()
    sliced, whole = beliefs
    np.testing.assert_array_equal(sliced.due, whole.due)
    assert_same_hierarchy(sliced.hierarchy(), whole.hierarchy())
    assert_same_knowledge(sliced, whole, range(sliced.num_nodes))
    np.testing.assert_allclose(sliced.log_evidence(), whole.log_evidence(), rtol=1e-9)
    fresh = adaptive_belief(armed, None)[0].hierarchy()
    assert abs(np.log(whole.hierarchy().noise_std / fresh.noise_std)) > 1e-3


def _folding(monkeypatch, folded):
    """A belief whose look has told so many of its 36 nodes to the belief that it builds."""
    monkeypatch.setattr(module, "WORK", 1.0)
    belief, _ = adaptive_belief(True, None)
    belief.add(TASKS, 30)
    events = [(node, 0, node + noise) for noise in 10 * (0.3, -0.3) for node in (0, 3, 16, 32)]
    belief.observe(*(np.array(part) for part in zip(*events, strict=True)))
    while belief._review.folded < folded:
        belief._raw_observe_one(1, 2, 0.5)
        events.append((1, 2, 0.5))
    assert belief._review.folded == folded
    return belief, events


def test_the_node_that_is_folded_next_is_told_once(monkeypatch):
    belief, events = _folding(monkeypatch, 16)
    belief._raw_observe_one(16, 1, 0.7)
    assert belief._review.folded == 32
    belief.revise(32, 0, events[3][2], 5.0)
    events += [(16, 1, 0.7)]
    events[3] = (32, 0, 5.0)
    belief.state()
    assert_exact(belief, [*range(TASKS), *range(TASKS + 1, 36)], events)


def test_a_look_ends_if_tasks_that_it_knows_are_taken_back(monkeypatch):
    belief, events = _folding(monkeypatch, 16)
    belief.add(TASKS, 30)
    belief._raw_observe_one(1, 2, 0.5)
    belief._raw_observe_one(1, 2, 0.5)
    assert belief._review.folded == 48
    belief._raw_remove_newest(25)
    belief.state()
    assert belief._review is None
    events += [(1, 2, 0.5)] * 2
    assert_exact(belief, [*range(TASKS), *range(TASKS + 1, 41)], events)


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_populations_at_once_are_as_beliefs_apart(armed, noise):
    events = drawn_events(2, 200, armed, populations=3)
    together, widths = adaptive_belief(armed, noise, 3)
    apart = [AdaptiveBelief(widths, TASKS) for _ in range(3)]
    for start in range(0, 200, 7):
        tasks, features, rewards = (part[start : start + 7] for part in events)
        together.observe(tasks, features, rewards)
        for p, one in enumerate(apart):
            mine = tasks // TASKS == p
            one.observe(tasks[mine] - p * TASKS, features[mine], rewards[mine])
    for p, one in enumerate(apart):
        assert_same_hierarchy(together.hierarchy(p), one.hierarchy())
        nodes = [*range(p * TASKS, (p + 1) * TASKS), int(together.roots[p])]
        assert_same_knowledge(together, one, nodes, range(TASKS + 1))
        assert together.due[p] == one.due[0]
    assert not np.allclose(together.hierarchy(0).task_cov, together.hierarchy(1).task_cov)


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_past_sums_are_as_rewards_that_came_at_once(armed):
    tasks, features, rewards = drawn_events(10, 60, armed)
    sums = TaskSums.zeros(TASKS, D, armed=armed)
    sums.add(tasks, features, rewards)
    (told, widths), (learned, _) = (adaptive_belief(armed, None) for _ in range(2))
    told._raw_learn_past(np.arange(TASKS), sums)
    learned.observe(tasks, features, rewards)
    refit = WidthRefit(widths, sums.rows(most_rewarded(sums.n, widths)))
    refit.advance()
    for belief in (told, learned):
        assert_same_hierarchy(belief.hierarchy(), refit.hierarchy())
        assert belief.due[0] == 66  # a tenth more
        events = zip(tasks.tolist(), features, rewards, strict=True)
        assert_exact(belief, list(range(TASKS)), list(events))


def test_widths_are_fitted_when_rewards_have_grown_by_a_tenth_and_later_by_half():
    tasks, features, rewards = drawn_events(3, 1300, True)
    belief, _ = adaptive_belief(True, None)
    looks, now = [], belief.hierarchy()
    for e in range(300):
        belief._raw_observe_one(int(tasks[e]), int(features[e]), rewards[e])
        if belief.hierarchy() is not now:
            looks.append(e + 1)
            now = belief.hierarchy()
    assert looks[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]
    assert all(b == max(np.ceil(1.1 * a), a + 1) for a, b in pairwise(looks))
    belief.observe(tasks[300:], features[300:], rewards[300:])
    assert belief.due[0] == 1950


def test_what_is_refused_changes_nothing():
    belief, widths = adaptive_belief(True, None)
    belief.observe([0], [1], [0.5])
    new = int(belief.add(TASKS)[0])
    before = belief_state(belief)
    with pytest.raises(
        ValueError, match="tasks must be nodes of tasks, got node 5, a root or a group"
    ):
        belief.observe([0, TASKS], [1, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="got node 5, a root or a group"):
        belief._raw_observe_one(TASKS, 1, 0.5)
    for task in (1, TASKS, new):
        with pytest.raises(ValueError, match="task must be one that has had a reward"):
            belief.revise(task, 1, 0.5, 0.7)
    for arguments, message in (
        (([0], [3], [0.5]), r"features must be in \[0, 3\)"),
        (([99], [1], [0.5]), r"tasks must be in \[0, 7\)"),
        (([0], [1], [np.nan]), "rewards must be finite"),
        (([0], [1], [0.5], [0.1]), "noise_std must not be given"),
    ):
        with pytest.raises(ValueError, match=message):
            belief.observe(*arguments)
    with pytest.raises(ValueError, match="noise_std must not be given"):
        belief.revise(0, 1, 0.5, 0.7, noise_std=0.1)
    with pytest.raises(ValueError, match="rewards must be finite"):
        belief.revise(0, 1, 0.5, np.inf)
    with pytest.raises(ValueError, match="populations must be given at the start"):
        belief.add_populations(1)
    with pytest.raises(ValueError, match="parent must be above the level of tasks"):
        belief.add(0)
    with pytest.raises(ValueError, match="population must be in"):
        belief.hierarchy(1)
    with pytest.raises(ValueError, match="hyper_means must not be given"):
        AdaptiveBelief(widths, 2, 1, [[0.0, 0.0, 0.0]])
    assert belief_state(belief) == before


@pytest.mark.parametrize("populations", [1, 2])
@pytest.mark.parametrize("work", [1.0, 1e9])
def test_a_saved_belief_and_a_copy_resume_bit_for_bit(populations, work, tmp_path, monkeypatch):
    """Also if a look is under way, which the file ends."""
    monkeypatch.setattr(module, "WORK", work)
    tasks, features, rewards = drawn_events(12, 130, False, populations=populations)
    belief, _ = adaptive_belief(False, None, populations)
    belief.observe(tasks[:100], features[:100], rewards[:100])
    assert (belief._review is not None) == (work == 1.0 and populations == 1)
    belief.save(tmp_path / "belief.hb")
    again, twin = AdaptiveBelief.load(tmp_path / "belief.hb"), belief.copy()
    before = belief_state(belief)
    for each in (again, twin):
        assert belief_state(each) == before
        observe_one_by_one(each, tasks[100:], features[100:], rewards[100:])
    assert belief_state(belief) == before
    observe_one_by_one(belief, tasks[100:], features[100:], rewards[100:])
    assert belief_state(belief) == belief_state(again) == belief_state(twin) != before
    with pytest.raises(ValueError, match="not a sound belief file"):
        Belief.load(tmp_path / "belief.hb")


def test_a_file_whose_parts_disagree_is_refused():
    belief, _ = adaptive_belief(True, None)
    belief.observe([0, 1], [1, 2], [0.5, 1.0])
    meta, arrays = belief.state()
    other = meta | {"widths": UnknownWidths.of(D, armed=False).to_dict()}
    with pytest.raises(ValueError, match="hierarchies must have the form of UnknownWidths"):
        AdaptiveBelief.from_state(other, arrays)
    short = {name: arrays[name][:-1] for name in ("xx", "xy", "yy", "n")}
    with pytest.raises(ValueError, match="sums must have 6 rows, got 5"):
        AdaptiveBelief.from_state(meta, arrays | short)
    with pytest.raises(ValueError, match="due must"):
        AdaptiveBelief.from_state(meta, arrays | {"due": np.array([np.nan])})


def test_learning_the_widths_costs_little_regret():
    """A fast look at what `reproduce adaptive` shows with 5,000 runs."""
    import hierbandits as hb
    from hierbandits.experiments.experiment import paper_problem
    from hierbandits.simulation.schedules import Concurrent

    recipe = Recipe(partial(unknown_widths, noise_known=True), thompson, "noise known")
    policies = {"HierTS": POLICIES["HierTS"], "Adaptive": recipe, "TS": POLICIES["TS"]}
    study = hb.simulate(
        paper_problem(1.0, 0.1), policies, Concurrent(5), 100, 3, num_interactions=100
    )
    means = {name: study.mean(name)[0] for name in policies}
    assert means["Adaptive"] < 1.3 * means["HierTS"]
    assert means["Adaptive"] < 0.6 * means["TS"]


def test_a_prior_whose_widths_are_known_is_refused():
    known = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    with pytest.raises(ValueError, match="prior must be UnknownWidths, got GaussianHierarchy"):
        AdaptiveBelief(known, num_tasks=2)


def test_the_sums_that_it_hands_out_are_a_copy():
    belief = AdaptiveBelief(UnknownWidths.of(2, armed=True), 2)
    belief.observe([0, 1, 1], [0, 1, 0], [1.0, 2.0, 3.0])
    sums = belief.sums
    assert len(sums.n) == belief.num_nodes
    sums.add([0], [0], [1e6])
    sums.xy[:] = 7.0
    assert belief.sums.n.sum() == belief.num_rewards.sum() == 3
    assert belief.sums.xy.sum() == 6.0
    belief.observe([0], [1], [1.0])
    assert sums.n.sum() == 4  # one that was added above
