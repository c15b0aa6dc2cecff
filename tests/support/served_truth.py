"""What clients of the service were told, and what it must therefore know, by plain sums."""

import threading

import numpy as np

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict
from support.oracle import paper_armed, paper_armed_conditional

ARMS = ["a", "b", "c"]
PRIOR = GaussianHierarchy.armed(
    3, hyper_mean=[0.2, -0.1, 0.5], hyper_std=[1.0, 0.5, 2.0], task_std=[0.3, 0.6, 0.4],
    noise_std=0.7,
)  # fmt: skip
SETTINGS = {"arms": ARMS, "prior": model_to_dict(PRIOR), "rule": "HierTS", "draws": 10}


class Truth:
    """Decisions and rewards that were acknowledged, and those of which no answer came.

    `draw` gives rewards of some (task, arm).
    """

    def __init__(self, draw):
        self._lock, self._draw = threading.Lock(), draw
        self.made = {}  # id: (task, arm), acknowledged
        self.asked = {}  # id: task, of decisions without an answer
        self.nameless = 0  # decisions without an answer whose id the service would have made
        self.rewards = {}  # id: value, acknowledged
        self.sent = {}  # id: value, of rewards without an answer
        self.together = {}  # id: ids of one request, which are stored together
        self._free = []  # ids of decisions whose reward nobody has sent

    def asks(self, wanted):
        """Decisions are asked for: {id: task}, or one of which the service makes the id."""
        with self._lock:
            if wanted is None:
                self.nameless += 1
            else:
                self.asked |= wanted
                self._keep_together(wanted)

    def _keep_together(self, ids):
        of = list(ids)
        self.together |= dict.fromkeys(of, of)

    def is_told(self, reply):
        """A decision is acknowledged; whoever repeats it must be told the same."""
        with self._lock:
            id, told = reply["id"], (reply["task"], reply["arm"])
            if id not in self.made:
                if self.asked.pop(id, None) is None:
                    self.nameless -= 1
                self.made[id] = told
                self._free.append(id)
            assert self.made[id] == told, (id, self.made[id], told)

    def takes(self, rng, most):
        """Some decisions without a reward, for one client to reward, with values: sent."""
        with self._lock:
            size = min(most, len(self._free))
            ids = [self._free.pop(int(rng.integers(len(self._free)))) for _ in range(size)]
            drawn = self._draw(rng, [self.made[id] for id in ids])
            values = dict(zip(ids, drawn, strict=True))
            self.sent |= values
            self._keep_together(ids)
        return values

    def is_learned(self, id, value):
        """A reward is acknowledged."""
        with self._lock:
            assert self.sent.pop(id) == value
            assert id not in self.rewards
            self.rewards[id] = value

    def totals(self, arms, more=()):
        """Tasks, and for each task and arm the number and the sum of its rewards.

        `more` are rewards that nobody was told of, and that are stored nevertheless.
        """
        tasks = sorted({task for task, _ in self.made.values()})
        counts = np.zeros((len(tasks), len(arms)))
        sums = np.zeros_like(counts)
        row = {task: place for place, task in enumerate(tasks)}
        column = {arm: place for place, arm in enumerate(arms)}
        for id, value in [*self.rewards.items(), *more]:
            task, arm = self.made[id]
            counts[row[task], column[arm]] += 1
            sums[row[task], column[arm]] += value
        return tasks, counts, sums


def posterior(counts, sums, prior=PRIOR):
    """The mean and the variance of every task and arm, by the paper's own equations."""
    mean, var = paper_armed(prior, counts, sums)
    means, within = paper_armed_conditional(prior, counts, sums, mean)
    shared = (within / prior.task_cov) ** 2 * var
    return means, within + shared


class GaussianPlay:
    """Gaussian rewards of arms, which may be added, and what must be known of them."""

    def __init__(self):
        self.settings, self.arms, self._prior = SETTINGS, list(ARMS), PRIOR

    def add_arm(self, name, hyper_mean, hyper_std, task_std):
        """There is one more arm."""
        self.arms.append(name)
        self._prior = self._prior.with_arm(name, hyper_mean, hyper_std, task_std)

    def draw(self, rng, played):
        """Rewards of some (task, arm)."""
        return rng.normal(size=len(played)).tolist()

    def wrong(self, value):
        """Another reward than this one."""
        return value + 1

    def check(self, line, policy, tasks, counts, sums):
        """The service counts every reward once, and believes what these sums say, to 1e-9."""
        means, variances = posterior(counts, sums, self._prior)
        for row, task in enumerate(tasks):
            rows = line.get(f"/policies/{policy}/tasks/{task}")["rows"]
            assert [one["rewards"] for one in rows] == counts[row].tolist(), task
            np.testing.assert_allclose([one["mean"] for one in rows], means[row], rtol=0, atol=1e-9)
            found = [one["within_var"] + one["shared_var"] for one in rows]
            np.testing.assert_allclose(found, variances[row], rtol=0, atol=1e-9)
