"""Random models and histories for property tests: nothing is an identity, nothing is square."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from hierbandits import Belief, GaussianHierarchy
from support.oracle import dense_posterior, full, random_cov


@dataclass
class World:
    """A hierarchy, a forest of its nodes, and events on the tasks."""

    prior: GaussianHierarchy
    shape: tuple[int, ...]
    num_populations: int
    hyper_means: np.ndarray
    tasks: np.ndarray
    features: np.ndarray  # (E, d), or arm indices (E,)
    rewards: np.ndarray
    noise_std: np.ndarray

    @property
    def num_tasks(self):
        return self.num_populations * int(np.prod(self.shape))

    def belief(self):
        return Belief(self.prior, self.shape, self.num_populations, self.hyper_means)

    def observed(self, order=slice(None)):
        belief = self.belief()
        belief.observe(
            self.tasks[order], self.features[order], self.rewards[order], self.noise_std[order]
        )
        return belief

    def vectors(self):
        """The features as vectors, (E, d)."""
        return np.eye(self.prior.dim)[self.features] if self.prior.is_armed else self.features

    def joint(self):
        """The dense posterior over all nodes in the belief's order: tasks first, roots last.

        Parents follow here from the documented numbering; they are not read from the belief.
        """
        counts = self.num_populations * np.cumprod([1, *self.shape])  # nodes of each level
        starts = np.append(np.cumsum(counts[::-1])[::-1][1:], 0)  # the first node of each level
        size, d = int(counts.sum()), self.prior.dim
        parents, covs, means = [-1] * size, [None] * size, [None] * size
        for level, (start, count) in enumerate(zip(starts, counts, strict=True)):
            for i in range(count):
                node = start + i
                covs[node] = full(self.prior.covs[level])
                if level == 0:
                    means[node] = self.hyper_means[i]
                else:
                    parents[node] = starts[level - 1] + i // self.shape[level - 1]
        design = np.zeros((len(self.tasks), size * d))
        for e, (task, x) in enumerate(zip(self.tasks, self.vectors(), strict=True)):
            design[e, task * d : (task + 1) * d] = x
        return dense_posterior(parents, covs, means, design, self.rewards, self.noise_std**2)


LEVELS = st.integers(1, 4)
FORMS = ("linear", "armed", "correlated", "common")
"""Features; arms that are independent, have full covariances, or have a part in common."""


def random_covs(rng, form, d, stds):
    """Covariances of a form with about these widths, one for each level."""
    if form == "armed":
        return [(std * rng.uniform(0.5, 2.0, d)) ** 2 for std in stds]
    covs = [random_cov(rng, d, std) for std in stds]
    if form == "common":
        own = (stds[-1] * rng.uniform(0.3, 2.0, d)) ** 2
        covs[-1] = np.diag(own) + (stds[-1] * rng.uniform(0.5, 3.0)) ** 2
    return covs


def random_hierarchy(rng, form, d, stds, mean, noise_std):
    """A hierarchy of a form, with so many levels as widths."""
    return GaussianHierarchy.of_levels(
        hyper_mean=mean,
        covs=random_covs(rng, form, d, stds),
        noise_std=noise_std,
        armed=form != "linear",
    )


@st.composite
def worlds(draw, armed=None, levels=LEVELS, max_events=25):
    """One to four levels, several populations, d from 1 to 8, more or fewer events than d."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    num_levels = draw(levels)
    d = draw(st.integers(1, 8))
    forms = FORMS if armed is None else FORMS[1:] if armed else FORMS[:1]
    form = draw(st.sampled_from(forms))
    armed = form != "linear"
    unit = 10.0 ** draw(st.sampled_from([-12, -3, 0, 0, 0, 3, 12]))  # of rewards
    size = 10.0 ** draw(st.sampled_from([-6, 0, 0, 6]))  # of features
    scale = unit if armed else unit / size
    stds = scale * rng.uniform(0.2, 2.0, num_levels)
    mean = scale * rng.standard_normal(d)
    noise = unit * rng.uniform(0.3, 1.5)
    prior = random_hierarchy(rng, form, d, stds, mean, noise)
    below = num_levels - 1  # levels below the root
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=below, max_size=below)))
    populations = draw(st.integers(1, 3))
    num_tasks = populations * int(np.prod(shape))
    events = draw(st.integers(0, max_events))
    features = rng.integers(0, d, events) if armed else size * rng.standard_normal((events, d))
    return World(
        prior,
        shape,
        populations,
        mean + scale * rng.standard_normal((populations, d)),
        rng.integers(0, num_tasks, events),
        features,
        unit * 2 * rng.standard_normal(events),
        noise * rng.uniform(0.5, 2.0, events),
    )


def assert_close(actual, expected, scale=None, rtol=1e-9):
    """Close relative to the largest expected entry, since a zero among large numbers has none."""
    expected = np.asarray(expected)
    scale = np.abs(expected).max(initial=0.0) if scale is None else scale
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * scale)
