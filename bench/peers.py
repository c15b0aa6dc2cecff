"""Other libraries on our workload, each driven one event at a time as fast as it allows.

Every peer keeps one linear parameter per task and knows the same widths:

    theta_s ~ N(0, PRIOR_VAR I)
    y       ~ N(arms[a] @ theta_s, NOISE_STD**2)

Where a library's documented calls spend most of their time on checks or containers it appears
twice: as documented, and "inner", its own learner without them. Inner adapters lean on private
names, so that no peer looks slow for how we called it; a new release may break them.
"""

import random
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from bench.workload import HYPER_VAR, NOISE_STD, PRIOR_VAR, TASK_VAR, Matrix


class Peer(Protocol):
    """Chooses an arm for a task, then learns from its reward."""

    def decide(self, task: int) -> int: ...

    def observe(self, task: int, arm: int, reward: float) -> None: ...


class NumpyTS:
    """Independent Thompson sampling in plain numpy: Sherman-Morrison, Cholesky at each draw."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        d = arms.shape[1]
        self.arms = arms
        self.rng = np.random.default_rng(seed)
        self.mean = np.zeros((num_tasks, d))
        self.cov = np.tile(PRIOR_VAR * np.eye(d), (num_tasks, 1, 1))

    def decide(self, task: int) -> int:
        noise = self.rng.standard_normal(self.arms.shape[1])
        theta = self.mean[task] + np.linalg.cholesky(self.cov[task]).dot(noise)
        return int(self.arms.dot(theta).argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        x, mean, cov = self.arms[arm], self.mean[task], self.cov[task]
        cov_x = cov.dot(x)
        var = NOISE_STD**2 + float(x.dot(cov_x))
        mean += cov_x * ((reward - float(x.dot(mean))) / var)
        cov -= cov_x[:, None] * (cov_x / var)


class NumpyHierTS:
    """HierTS in plain numpy, the sums over all tasks recomputed at every decision.

    [HBB, eq. linear hyperposterior and eq. linear conditional, first forms]
    """

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        d = arms.shape[1]
        self.arms = arms
        self.rng = np.random.default_rng(seed)
        self.stats = np.zeros((num_tasks, d, d + 1))  # [G_s | B_s], side by side for one solve
        self.hyper_precision = np.eye(d) / HYPER_VAR
        self.task_precision = np.eye(d) / TASK_VAR

    def decide(self, task: int) -> int:
        d = self.arms.shape[1]
        stats = self.stats
        shrunk = np.linalg.solve(self.task_precision + stats[:, :, :d], stats)
        # G_s is symmetric, so the sum over s of G_s @ shrunk_s is one tall matrix product.
        tall = stats.reshape(-1, d + 1)[:, :d].T
        sums = stats.sum(axis=0) - tall @ shrunk.reshape(-1, d + 1)
        mu = self._draw(self.hyper_precision + sums[:, :d], sums[:, d])
        precision = self.task_precision + stats[task, :, :d]
        theta = self._draw(precision, mu / TASK_VAR + stats[task, :, d])
        return int(self.arms.dot(theta).argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        x = self.arms[arm] / NOISE_STD
        self.stats[task, :, :-1] += x[:, None] * x
        self.stats[task, :, -1] += x * (reward / NOISE_STD)

    def _draw(self, precision: Matrix, shift: Matrix) -> Matrix:
        """Draw from N(inv(precision) @ shift, inv(precision))."""
        cov = np.linalg.inv(precision)
        noise = self.rng.standard_normal(len(shift))
        draw: Matrix = cov.dot(shift) + np.linalg.cholesky(cov).dot(noise)
        return draw


class BayesianBandits:
    """bayesianbandits: one NormalRegressor per task, by its documented calls."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        from bayesianbandits import NormalRegressor

        # One generator for all: an integer would give every task the same draws.
        rng = np.random.default_rng(seed)
        self.arms = arms
        self.rows = [arms[arm : arm + 1] for arm in range(len(arms))]
        self.models: list[Any] = [
            NormalRegressor(1 / PRIOR_VAR, 1 / NOISE_STD**2, random_state=rng)
            for _ in range(num_tasks)
        ]

    def decide(self, task: int) -> int:
        return int(self.models[task].sample(self.arms)[0].argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.models[task].partial_fit(self.rows[arm], np.array([reward]))


class BayesianBanditsInner(BayesianBandits):
    """bayesianbandits without scikit-learn's checks of every argument."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        super().__init__(num_tasks, arms, seed)
        for model in self.models:
            model._initialize_prior(arms)

    def decide(self, task: int) -> int:
        model = self.models[task]
        return int(model._joint_rows(model._precision_factor, self.arms, 1)[0].argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.models[task]._fit_helper(self.rows[arm], np.array([reward]))


class MABWiser:
    """mabwiser: one MAB per task with a single LinTS arm, our arms being its contexts."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        policy = LearningPolicy.LinTS(alpha=NOISE_STD, l2_lambda=NOISE_STD**2 / PRIOR_VAR)
        self.arms = arms
        self.rows = [arms[arm : arm + 1] for arm in range(len(arms))]
        self.only_arm = np.array([0])
        self.mabs: list[Any] = [MAB([0], policy, seed=seed + task) for task in range(num_tasks)]
        for mab in self.mabs:
            # MAB will not predict before a fit; a context of zeros carries no information.
            mab.fit(self.only_arm, np.zeros(1), np.zeros((1, arms.shape[1])))

    def decide(self, task: int) -> int:
        draws = [draw[0] for draw in self.mabs[task].predict_expectations(self.arms)]
        return draws.index(max(draws))

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.mabs[task].partial_fit(self.only_arm, np.array([reward]), self.rows[arm])


class MABWiserInner:
    """mabwiser's per-arm ridge learner as one learner per task, without joblib and deep copies."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        from mabwiser.linear import _LinTS
        from mabwiser.utils import create_rng

        rng = create_rng(seed)
        self.arms = arms
        self.rows = [arms[arm : arm + 1] for arm in range(len(arms))]
        self.learners: list[Any] = [
            _LinTS(rng, NOISE_STD, NOISE_STD**2 / PRIOR_VAR) for _ in range(num_tasks)
        ]
        for learner in self.learners:
            learner.init(arms.shape[1])
            # init leaves the covariance lambda I; a fit of zeros makes it I / lambda.
            learner.fit(np.zeros((1, arms.shape[1])), np.zeros(1))

    def decide(self, task: int) -> int:
        # _LinTS.predict draws a parameter for each row; one shared draw is cheaper and joint.
        learner = self.learners[task]
        theta = learner.rng.multivariate_normal(learner.beta, NOISE_STD**2 * learner.A_inv)
        return int(self.arms.dot(theta).argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.learners[task].fit(self.rows[arm], np.array([reward]))


class River:
    """river: one BayesianLinearRegression per task, an independent draw for every arm."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        from river.linear_model import BayesianLinearRegression

        self.arms = arms
        self.rng = np.random.default_rng(seed)
        self.features = [dict(enumerate(row)) for row in arms.tolist()]
        self.models: list[Any] = [
            BayesianLinearRegression(alpha=1 / PRIOR_VAR, beta=1 / NOISE_STD**2)
            for _ in range(num_tasks)
        ]

    def decide(self, task: int) -> int:
        predict = self.models[task].predict_one
        beliefs = [predict(x, with_dist=True) for x in self.features]
        mean = np.array([belief.mu for belief in beliefs])
        std = np.array([belief.sigma for belief in beliefs])
        # Its sigma is that of a reward; rounding may leave it a hair below the noise.
        std = np.sqrt(np.maximum(std**2 - NOISE_STD**2, 0.0))
        return int((mean + std * self.rng.standard_normal(len(mean))).argmax())

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.models[task].learn_one(self.features[arm], reward)


class RiverInner(River):
    """river's posterior, kept and updated by river, drawn from its arrays in one joint draw."""

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        super().__init__(num_tasks, arms, seed)
        for model in self.models:
            # Allocates the arrays; features of zero carry no information.
            model.learn_one(dict.fromkeys(range(arms.shape[1]), 0.0), 0.0)

    def decide(self, task: int) -> int:
        model, d = self.models[task], self.arms.shape[1]
        model._ensure_m()
        # Sliced because river allocates at least eight features.
        root = np.linalg.cholesky(model._ss_inv_arr[:d, :d])
        theta = model._m_arr[:d] + root.dot(self.rng.standard_normal(d))
        return int(self.arms.dot(theta).argmax())


class VowpalWabbit:
    """vowpalwabbit: squarecb, not Bayesian, with one weight per task and feature.

    Lines are parsed once and reused, several times faster than handing it text at each event.
    """

    def __init__(self, num_tasks: int, arms: Matrix, seed: int) -> None:
        from vowpalwabbit import Workspace

        bits = max(18, (4 * num_tasks * arms.shape[1]).bit_length())  # few hash collisions
        # Only the crossed terms, so that a task has its own parameter and nothing else.
        crossed = "-q ta --ignore_linear t --ignore_linear a --noconstant"
        # Not --quiet, which would also hide its complaints about malformed lines.
        options = f"--cb_explore_adf --squarecb --driver_output_off -b {bits} {crossed}"
        self.workspace: Any = Workspace(options)
        self.rng = random.Random(seed)
        self.indices = range(len(arms))
        self.lines = [
            "|a " + " ".join(f"{i}:{value}" for i, value in enumerate(row)) for row in arms.tolist()
        ]
        self.actions = [self.workspace.example(line) for line in self.lines]
        self.shared = [self.workspace.example(f"shared |t {task}") for task in range(num_tasks)]
        uniform = [1 / len(arms)] * len(arms)
        self.propensities = [uniform] * num_tasks  # of each task's latest decision

    def decide(self, task: int) -> int:
        probabilities = self.workspace.predict([self.shared[task], *self.actions])
        self.propensities[task] = probabilities
        return self.rng.choices(self.indices, probabilities)[0]

    def observe(self, task: int, arm: int, reward: float) -> None:
        label = f"0:{-reward}:{self.propensities[task][arm]} "
        lines = [self.shared[task], *self.actions]
        # A fresh line, as labels add up on a reused one; it is freed with its Python object.
        lines[1 + arm] = self.workspace.example(label + self.lines[arm])
        self.workspace.learn(lines)


MakePeer = Callable[[int, Matrix, int], Peer]  # (num_tasks, arms, seed)

PEERS: dict[str, MakePeer] = {
    "numpy TS": NumpyTS,
    "numpy HierTS": NumpyHierTS,
    "bayesianbandits": BayesianBandits,
    "bayesianbandits inner": BayesianBanditsInner,
    "mabwiser": MABWiser,
    "mabwiser inner": MABWiserInner,
    "river": River,
    "river inner": RiverInner,
    "vowpalwabbit": VowpalWabbit,
}
DOCUMENTED = ("bayesianbandits", "mabwiser", "river")
"""The libraries' Bayesian learners, one per task, by the calls that their documentation shows."""


def available() -> tuple[dict[str, MakePeer], dict[str, str]]:
    """The PEERS that can be built here, and for each of the others why not."""
    usable: dict[str, MakePeer] = {}
    missing: dict[str, str] = {}
    for name, make in PEERS.items():
        try:
            make(1, np.eye(2), 0)
        except ImportError as error:
            missing[name] = str(error)
        else:
            usable[name] = make
    return usable, missing
