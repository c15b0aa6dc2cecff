"""Simulation-based calibration: truths drawn from the prior rank uniformly among posterior draws.

`PYTHONPATH=tests python tests/beliefs/test_grid_belief_calibration.py` does it at length.
"""

import numpy as np
import pytest
from scipy import stats
from support.grid_worlds import KINDS, random_events, random_prior, told, truth

import hierbandits as hb

DRAWS, TASKS = 19, 4


def _ranks(kind, worlds, seed, resolution=16):
    """The ranks of an arm's mean, its width, and the parameters of two tasks, (worlds, 4)."""
    rng, ranks = np.random.default_rng(seed), []
    for _ in range(worlds):
        prior = random_prior(rng, kind, 1, resolution=resolution)
        mean, width, theta = truth(rng, prior, TASKS)
        events = random_events(rng, prior, TASKS, 30, theta=theta)
        belief = told(hb.GridBelief(prior, TASKS), events)
        root = int(belief.roots[0])
        draws, slots = belief._raw_draws(rng, np.array([root, 0, 1]), repeats=DRAWS)
        drawn = draws[slots].reshape(DRAWS, 3)
        cells = belief.hyper_cells(0)
        widths = rng.choice(cells.task_std, DRAWS, p=cells.weight)
        # A column of cells is one width, so that draws are spread over its step.
        step = np.log(cells.task_std[resolution] / cells.task_std[0])
        widths = widths * np.exp(step * (rng.random(DRAWS) - 0.5))
        steps = belief._grids.ranges[0, 0, :resolution, 1].mean()
        x = drawn[:, 0] / (1 - drawn[:, 0]) if kind == "beta" else drawn[:, 0]
        own = mean[0] / (1 - mean[0]) if kind == "beta" else mean[0]
        x = x * np.exp(steps * (rng.random(DRAWS) - 0.5))
        ranks.append(
            [
                (x < own).sum(),
                (widths < width[0]).sum(),
                (drawn[:, 1] < theta[0, 0]).sum(),
                (drawn[:, 2] < theta[1, 0]).sum(),
            ]
        )
    return np.array(ranks)


def _p_values(ranks):
    """Of uniform ranks in twenty places, for each quantity."""
    counts = [np.bincount(column, minlength=DRAWS + 1) for column in ranks.T]
    return np.array([stats.chisquare(count).pvalue for count in counts])


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_uniform(kind):
    assert _p_values(_ranks(kind, 400, seed=1)).min() > 1e-3


def main():
    """Print the p-values of many worlds."""
    for kind in KINDS:
        print(kind, _p_values(_ranks(kind, 5000, seed=2, resolution=32)).round(3))


if __name__ == "__main__":
    main()
