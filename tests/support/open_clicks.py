"""Clicks that workers learn while no width is known, and an agent that learns the same alone."""

import numpy as np

import hierbandits as hb
from hierbandits.service.wire import DecisionRequest
from support.shared_stores import ARMS, FEATURES, UNKNOWN

TASKS = [f"t{i}" for i in range(8)]
TABLE = np.array(list(FEATURES.values()))


class OpenClicks:
    """A policy of a kind in `UNKNOWN`, in workers' books, and in an agent that is told the same."""

    def __init__(self, kind, books, seed=0):
        self.settings, self.books = UNKNOWN[kind], books
        books[0].put("shop", self.settings)
        self.lives = [book.turns("shop").live for book in books]
        self.is_armed = self.lives[0].model.is_armed
        self.agent, self._arms = self.new_agent(), ARMS if self.is_armed else list(FEATURES)
        self._rng, self.events = np.random.default_rng(seed), []
        dim = self.lives[0].model.dim
        mean = self._rng.normal(size=dim) - (1.0 if self.is_armed else 0.0)
        self._theta = mean + 0.8 * self._rng.normal(size=(len(TASKS), dim))

    def new_agent(self):
        """An agent that knows nothing yet."""
        more = {"arms": ARMS} if self.is_armed else {"num_features": TABLE.shape[1]}
        return hb.Agent(None, rewards=self.settings.rewards, seed=0, **more)

    def go_on(self, rounds, size=4, *, folds=True):
        """Rounds of decisions and rewards, by one worker and then by the next."""
        for number in range(rounds):
            place = number % len(self.books)
            live, tasks = self.lives[place], self._rng.integers(len(TASKS), size=size)
            arms = self._rng.choice(self._arms, size=size)  # so that each run has the same log
            asked = zip((TASKS[task] for task in tasks), arms.tolist(), strict=True)
            made = live.decide([DecisionRequest(task, [arm]) for task, arm in asked])
            rows = [live.view.decision(one.id)["features"] for one in made]
            values = [self._reward(task, row) for task, row in zip(tasks, rows, strict=True)]
            told = live.reward([(one.id, value) for one, value in zip(made, values, strict=True)])
            assert {one.status for one in told} == {"learned"}
            self.events += zip((TASKS[task] for task in tasks), rows, values, strict=True)
            self.tell(self.agent, self.events[-size:])
            if folds:
                self.books[place].folder(live).fold()

    def _reward(self, task, row):
        theta = self._theta[task]
        eta = theta[row] if self.is_armed else theta @ row
        if self.settings.rewards == "poisson":
            return float(self._rng.poisson(np.exp(min(eta, 2.0))))
        return float(self._rng.random() < 1 / (1 + np.exp(-eta)))

    def tell(self, agent, events):
        """Let an agent learn rewards, all at once."""
        tasks, rows, values = zip(*events, strict=True)
        agent.learn(tasks, list(rows) if self.is_armed else np.array(rows), values)

    @property
    def generation(self):
        """The newest one."""
        self.lives[0].refresh()
        return self.lives[0].generation

    def known(self):
        """What workers know, of the population and of all tasks."""
        met = [task for task in TASKS if any(task == one for one, *_ in self.events)]
        agent, _ = self.lives[0].agent_with(met)
        return [agent.belief.hyper(), *(agent.belief.task(agent.node(task)) for task in met)]

    def known_to(self, agent):
        """What an agent knows of the same."""
        met = [task for task in TASKS if any(task == one for one, *_ in self.events)]
        return [agent.belief.hyper(), *(agent.belief.task(agent.node(task)) for task in met)]

    def offer(self, *arms):
        """From now on play these arms; what nobody knows of yet is liked as the first one is."""
        self._arms = list(arms)
        self._theta = np.column_stack([self._theta, self._theta[:, 0]])

    def settled(self):
        """What expectation propagation says under the widths of workers, when nothing moves."""
        model = hb.GeneralizedHierarchy(self.generation.hierarchy, self.settings.rewards)
        arms = [str(arm) for arm in range(model.dim)] if self.is_armed else None
        agent = hb.Agent(model, arms=arms, seed=0)
        self.tell(agent, self.events)
        agent.belief.refit(sweeps=200, tolerance=1e-9)
        return self.known_to(agent)


def farthest(one, two):
    """The largest difference of means, in standard deviations, and of these by their logs."""
    stds = [[np.sqrt(np.diag(each.cov)) for each in known] for known in (one, two)]
    means = [[each.mean for each in known] for known in (one, two)]
    off = np.abs(np.array(means[0]) - np.array(means[1])) / np.array(stds[1])
    return off.max(), np.abs(np.log(np.array(stds[0]) / np.array(stds[1]))).max()
