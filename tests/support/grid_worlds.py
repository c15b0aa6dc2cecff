"""Random hierarchies of Betas and Gammas, their truths, and events of their tasks."""

import numpy as np

import hierbandits as hb

KINDS = {"beta": hb.BetaHierarchy, "gamma": hb.GammaHierarchy}


def random_prior(rng, kind, arms=2, **options):
    """A hierarchy none of whose numbers is another's, or the usual one."""
    return KINDS[kind](
        arms,
        hyper_mean=rng.normal(-0.5, 1.0, arms),
        hyper_std=rng.uniform(0.3, 1.2, arms),
        task_std=rng.uniform(0.2, 0.8, arms),
        task_factor=rng.uniform(1.3, 2.5, arms),
        **options,
    )


def truth(rng, prior, num_tasks):
    """The means m of arms, their widths t, and the parameters of tasks, (tasks, K)."""
    x = rng.normal(prior.hyper_mean, prior.hyper_std)
    width = np.exp(rng.normal(np.log(prior.task_std), np.log(prior.task_factor)))
    if isinstance(prior, hb.GammaHierarchy):
        mean = np.exp(x)
        return mean, width, rng.gamma(1 / width**2, mean * width**2, (num_tasks, prior.dim))
    mean = 1 / (1 + np.exp(-x))
    c = 1 / (width**2 * mean * (1 - mean))
    return mean, width, rng.beta(c * mean, c * (1 - mean), (num_tasks, prior.dim))


def draw_rewards(rng, prior, rates, exposure):
    """Rewards of these rates and exposures."""
    if isinstance(prior, hb.GammaHierarchy):
        return rng.poisson(rates * exposure).astype(float)
    return rng.binomial(exposure.astype(int), rates).astype(float)


def random_events(rng, prior, num_tasks=5, number=80, *, sized=True, theta=None):
    """Tasks, arms, rewards and exposures, most of which are 1."""
    theta = truth(rng, prior, num_tasks)[2] if theta is None else theta
    tasks, arms = rng.integers(0, num_tasks, number), rng.integers(0, prior.dim, number)
    exposure = np.ones(number)
    if sized:
        some = rng.random(number) < 0.3
        sizes = rng.integers(1, 30, number).astype(float)
        if isinstance(prior, hb.GammaHierarchy):
            sizes = sizes / 4
        exposure[some] = sizes[some]
    return tasks, arms, draw_rewards(rng, prior, theta[tasks, arms], exposure), exposure


def told(belief, events, rows=slice(None)):
    """Let a belief observe some of the events; returns it."""
    tasks, arms, rewards, exposure = (part[rows] for part in events)
    belief.observe(tasks, arms, rewards, exposure=exposure)
    return belief


def all_moments(belief):
    """The means and variances of all arms of all nodes, with where variances come from."""
    nodes = np.repeat(np.arange(belief.num_nodes), belief.dim)
    return np.stack(belief.predict(nodes, np.tile(np.arange(belief.dim), belief.num_nodes)))


def sums_of(prior, events, num_tasks, arm):
    """The sums of an arm's rewards and exposures, (tasks,) each."""
    tasks, arms, rewards, exposure = events
    mine = arms == arm
    both = np.zeros((2, num_tasks))
    np.add.at(both[0], tasks[mine], rewards[mine])
    np.add.at(both[1], tasks[mine], exposure[mine])
    return both
