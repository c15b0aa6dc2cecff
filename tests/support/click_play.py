"""Clicks that workers of one store learn, and what must be stored and known of them."""

import msgspec
import numpy as np
import psycopg

import hierbandits as hb
from hierbandits.service.shared_ledger import MATCHED_AGAIN
from hierbandits.service.shared_widths import MOST_REFITTED
from hierbandits.service.store_url import SCHEMA
from support.click_reference import known_by, settled, told_by
from support.shared_stores import ARMS, FAMILIES, FEATURES, OF_FAMILIES, UNKNOWN

_CHANCES = {"a": 0.1, "b": 0.3, "c": 0.6, "p": 0.2, "q": 0.5, "r": 0.7}  # others' are 0.4
_TASKS = "SELECT task, sums, folded FROM shared_tasks"
_REWARDS = (
    "SELECT data, value, site_precision, site_weighted FROM shared_decisions AS made "
    "JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id"
)
_TOLD = "SELECT told, hierarchy FROM shared_generations ORDER BY number DESC LIMIT 1"
NEAR = 0.25
"""Standard deviations that a mean may be away from where nothing moves any more."""
FAR = 1.0
"""The same where tasks have so many rewards of features that the oldest are not matched again, or
where widths are fitted to so many that these are not."""
OPEN = {"clicks without a prior": "clicks", "features without a prior": "clicks by features"}
"""Kinds whose widths workers learn, and those of which the arms are."""


class ClickPlay:
    """As `GaussianPlay`, with rewards 0 or 1 of arms, or of arms with features.

    Which site a click has depends on what its worker knew.  So all sums are compared with those of
    the stored rows, to 1e-9, and what they say with where expectation propagation settles.  If no
    prior is stated, that is under the widths of the newest generation.
    """

    def __init__(self, kind, url):
        self._is_open, self._url = kind in OPEN, url
        own = OPEN.get(kind, kind)
        self._model = FAMILIES[own]
        self.settings = msgspec.to_builtins(UNKNOWN[own] if self._is_open else OF_FAMILIES[own])
        self.arms = list(ARMS if self._model.is_armed else FEATURES)
        self.farthest = 0.0  # mean from where nothing moves, in standard deviations

    def add_arm(self, name, hyper_mean, hyper_std, task_std):
        """There is one more arm."""
        self.arms.append(name)
        self._model = self._model.with_arm(name, hyper_mean, hyper_std, task_std)

    def draw(self, rng, played):
        """Clicks of some (task, arm)."""
        chances = [_CHANCES.get(arm, 0.4) for _, arm in played]
        return (rng.random(len(played)) < chances).astype(float).tolist()

    def wrong(self, value):
        """Another reward than this one."""
        return 1.0 - value

    def check(self, line, policy, tasks, counts, sums):
        """Each click is stored and counted once, and what is known of tasks is what sites say."""
        places = {task: place for place, task in enumerate(tasks)}
        with psycopg.connect(self._url, options=f"-c search_path={SCHEMA}") as db:
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            rewards = db.execute(_REWARDS, binary=True).fetchall()
            rows = db.execute(_TASKS, binary=True).fetchall()
            ((told, hierarchy),) = db.execute(_TOLD, binary=True).fetchall()
        if self._is_open:
            believed = hb.GaussianHierarchy.from_dict(msgspec.json.decode(hierarchy))
            self._model = hb.GeneralizedHierarchy(believed, self._model.rewards)
        precision, weighted = self._added_up(rewards, places, counts, sums)
        for task, *both in rows:
            place = places.get(msgspec.json.decode(task))
            for row in both:
                if place is None:
                    assert row is None, task  # nobody was told of a decision for it
                else:
                    self._check_row(row, precision[place], weighted[place])
        more = told_by(self._hierarchy, precision, weighted)
        self._check_told(np.frombuffer(told), *more)
        self._check_known(line, policy, tasks, counts, precision, weighted)
        self._check_near(counts, sums, precision, weighted)

    @property
    def _hierarchy(self):
        return self._model.hierarchy

    @property
    def _table(self):
        """The features of all arms."""
        return np.eye(len(self.arms)) if self._model.is_armed else np.array([*FEATURES.values()])

    def _added_up(self, rewards, places, counts, sums):
        """The sums of stored sites of each task; clicks must be those that were acknowledged."""
        dim = self._model.dim
        number, clicks = np.zeros_like(counts), np.zeros_like(sums)
        precision, weighted = np.zeros((len(places), dim, dim)), np.zeros((len(places), dim))
        columns, table = {arm: place for place, arm in enumerate(self.arms)}, self._table
        outer = table[:, :, None] * table[:, None]
        for data, value, a, b in rewards:
            made = msgspec.json.decode(data)
            at = places[made["task"]], columns[made["arm"]]
            number[at] += 1
            clicks[at] += value
            precision[at[0]] += a * outer[at[1]]
            weighted[at[0]] += b * table[at[1]]
        np.testing.assert_array_equal(number, counts)
        np.testing.assert_array_equal(clicks, sums)
        return precision, weighted

    def _check_row(self, row, precision, weighted):
        """A task's row has these sums of sites at its end; one without arms that came later."""
        dim, armed = self._model.dim, self._model.is_armed
        if row is None:
            assert not precision.any()
            return
        numbers = np.frombuffer(row)
        known = (len(numbers) - 3) // 5 if armed else dim
        size = known if armed else dim * dim
        a, b = numbers[-known - size : -known], numbers[-known:]
        a = np.diag(a) if armed else a.reshape(dim, dim)
        _same(a, precision[:known, :known])
        _same(b, weighted[:known])
        assert not precision[known:].any()

    def _check_told(self, numbers, precision, weighted):
        """The newest generation is the sum of what all tasks tell."""
        dim = self._model.dim
        own = numbers[:-dim]
        _same(np.diag(own) if own.size == dim else own.reshape(dim, dim), precision)
        _same(numbers[-dim:], weighted)

    def _check_known(self, line, policy, tasks, counts, precision, weighted):
        """What the service says of tasks is what the sites say."""
        means, covs = known_by(self._hierarchy, precision, weighted)
        for place, task in enumerate(tasks):
            rows = line.get(f"/policies/{policy}/tasks/{task}")["rows"]
            var, mean = np.diag(covs[place]), means[place]
            number = [counts[place].sum()] * self._model.dim
            if self._model.is_armed:
                mean, number = (
                    self._model.rewards.mean_and_std(mean, np.sqrt(var))[0], counts[place].tolist(),
                )  # fmt: skip
            assert [one["rewards"] for one in rows] == number, task
            np.testing.assert_allclose([one["mean"] for one in rows], mean, rtol=0, atol=1e-9)
            found = [one["within_var"] + one["shared_var"] for one in rows]
            np.testing.assert_allclose(found, var, rtol=0, atol=1e-9)

    def _check_near(self, counts, clicks, precision, weighted):
        """The means of tasks are near those that sites have when nothing moves any more."""
        in_sums = self._model.is_armed
        means, covs = settled(self._hierarchy, self._table, counts, clicks, in_sums=in_sums)
        stds = np.sqrt(np.diagonal(covs, axis1=1, axis2=2))
        own, own_covs = known_by(self._hierarchy, precision, weighted)
        widths = np.sqrt(np.diagonal(own_covs, axis1=1, axis2=2)) / stds
        self.farthest = max(self.farthest, float((np.abs(own - means) / stds).max(initial=0.0)))
        is_matched = in_sums or counts.sum(1).max(initial=0.0) <= MATCHED_AGAIN
        is_refitted = not self._is_open or counts.sum() <= MOST_REFITTED
        assert self.farthest < (NEAR if is_matched and is_refitted else FAR), self.farthest
        assert np.all(np.abs(widths - 1) < (0.1 if is_refitted else 0.2)), widths


def _same(one, two):
    """Whether sums are the same, to 1e-9 of the largest."""
    size = max(1.0, np.abs(two).max(initial=0.0))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-9 * size)
