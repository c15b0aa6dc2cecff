"""Files that were saved on another kind of processor, whose last digits differ."""

import numpy as np
import pytest
from support.agents import Clock

from hierbandits import Agent, GaussianHierarchy
from hierbandits.archive import read_archive, write_archive

BELOW = np.array([[1.0, 0.5], [0.5, 0.25]]) - 0.6e-12 * np.array([[0.2, -0.4], [-0.4, 0.8]])
WIDTHS = {"hyper_std": [1.0, 0.5, 2.0], "noise_std": 0.7}


def _linear(task_cov):
    cov = np.asarray(task_cov, float)
    return GaussianHierarchy(
        hyper_mean=[0.1, -0.2], hyper_cov=[[1.0, 0.3], [0.3, 0.8]], task_cov=cov, noise_std=0.5
    )


PRIORS = {
    "plain": _linear([[0.3, 0.1], [0.1, 0.2]]),
    "singular": _linear([[1.0, 0.5], [0.5, 0.25]]),
    "below zero by rounding": _linear(BELOW),
    "nearly singular": _linear([[1.0, 0.5], [0.5, 0.25 + 1e-11]]),
    "ill-conditioned": _linear([[1.0, 0.0], [0.0, 1e-20]]),
    "at the edge of both coordinates": _linear(np.eye(2) + (1 - 2e-4) * (1 - np.eye(2))),
    "all tasks alike": _linear(np.zeros((2, 2))),
    "independent arms": GaussianHierarchy.armed(3, task_std=[0.3, 0.0, 0.4], **WIDTHS),
    "a part in common": GaussianHierarchy.armed(
        3, task_std=[0.2, 0.1, 0.3], common_std=0.6, **WIDTHS
    ),
    "only a part in common": GaussianHierarchy.armed(3, task_std=0.0, common_std=0.6, **WIDTHS),
    "singular arms": GaussianHierarchy.armed(
        3, task_cov=np.outer([1.0, 2.0, 0.5], [1.0, 2.0, 0.5]), **WIDTHS
    ),
    "deep": GaussianHierarchy.deep(
        hyper_mean=[0.0, 0.0], covs=[np.eye(2), [[1.0, 0.5], [0.5, 0.25]], BELOW], noise_std=0.5
    ),
}


def _saved(prior, path, policy):
    """An agent that has learned a little, and its file."""
    agent, rng = Agent(prior, policy, seed=0, clock=Clock()), np.random.default_rng(1)
    arms = None if prior.is_armed else rng.normal(size=(3, 2))
    for event in range(20):
        task = ("g", event % 3) if prior.num_levels == 3 else event % 3
        agent.reward(agent.decide(task, arms).id, float(rng.normal()))
    agent.save(path)
    return agent


def _perturbed(values, rng):
    """Numbers that differ in their last digits."""
    return values * (1 + 1e-12 * rng.choice([-1.0, 1.0], np.shape(values)))


def _perturb(path):
    """Change the last digits of all that was computed before it was saved, assumptions too."""
    rng = np.random.default_rng(2)
    meta, arrays = read_archive(path, "agent", 2)
    for name in ("coordinates", "state", "roots", "sums.xy", "sums.yy"):
        arrays[name] = _perturbed(arrays[name], rng)
    arrays["evidence"][1:] = _perturbed(arrays["evidence"][1:], rng)
    for parts in (meta["prior"], *meta["belief"]["hierarchies"]):
        parts["covs"] = [_perturbed(np.array(cov), rng).tolist() for cov in parts["covs"]]
    write_archive(path, "agent", 2, meta, arrays)


@pytest.mark.parametrize("name", list(PRIORS))
@pytest.mark.parametrize("policy", ["HierTS", "TS", "PooledTS"])
def test_last_digits_do_not_matter(name, policy, tmp_path):
    agent = _saved(PRIORS[name], tmp_path / "a", policy)
    _perturb(tmp_path / "a")
    loaded = Agent.load(tmp_path / "a", clock=Clock())
    arms = None if PRIORS[name].is_armed else np.eye(2)
    for turn in range(2):
        for column in ("mean", "within_var", "shared_var"):
            one, other = agent.table()[column], loaded.table()[column]
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
        for each in (agent, loaded):
            for number in range(5):
                task = ("g", 3) if PRIORS[name].num_levels == 3 else 3
                made = each.decide(task, arms, id=f"{turn}-{number}")
                each.reward(made.id, 0.5)


@pytest.mark.parametrize("name", list(PRIORS))
def test_eigenvalues_that_come_out_otherwise_do_not_matter(name, tmp_path, monkeypatch):
    agent = _saved(PRIORS[name], tmp_path / "a", "HierTS")
    exact = np.linalg.eigvalsh
    for off in (-1.0, 1.0):
        monkeypatch.setattr(
            np.linalg,
            "eigvalsh",
            lambda cov, off=off: exact(cov) + off * 1e-12 * np.abs(cov).max(),
        )
        loaded = Agent.load(tmp_path / "a", clock=Clock())
        for column in ("mean", "within_var", "shared_var"):
            np.testing.assert_allclose(
                loaded.table()[column], agent.table()[column], rtol=1e-8, atol=1e-12
            )


def test_a_covariance_that_people_state_must_still_be_one(tmp_path):
    with pytest.raises(ValueError, match="task_cov must be positive semi-definite"):
        _linear([[1.0, 0.5], [0.5, 0.25 - 1e-11]])
    _saved(PRIORS["singular"], tmp_path / "a", "HierTS")
    meta, arrays = read_archive(tmp_path / "a", "agent", 2)
    for parts in (meta["prior"], *meta["belief"]["hierarchies"]):
        parts["covs"][1][1][1] -= 1e-6
    write_archive(tmp_path / "a", "agent", 2, meta, arrays)
    with pytest.raises(ValueError, match="must be positive semi-definite"):
        Agent.load(tmp_path / "a")
