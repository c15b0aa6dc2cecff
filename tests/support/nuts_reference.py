"""`nuts_posteriors.json`, made by NUTS: exact posteriors up to an error that the file states.

In an environment that has numpyro besides this package:

    PYTHONPATH=src:tests python tests/support/nuts_reference.py

It takes an hour, and goes on where it was interrupted.  Each case is drawn from by chains side by
side, in coordinates z in which the prior is N(0, I).  Averages have less noise with control
variates: with g the gradient of minus the log density, E[g] = 0 and E[f g] = E[df / dz] for any f
(Stein).  So the mean of f is the intercept of its regression on g, and on f g - df / dz.  Errors
are those of the chains' own averages of what the regression leaves.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import MCMC, NUTS

from support.reference_cases import (
    CASES,
    DIM,
    EVENTS,
    STORED,
    TASKS,
    design,
    full,
    reference_case,
)

CHAINS, WARM_UP, DRAWS = 40, 300, 600
LOG_DENSITIES = {
    "bernoulli": lambda y, n, eta: y * eta - n * jnp.logaddexp(0.0, eta),
    "poisson": lambda y, n, eta: y * eta - n * jnp.exp(eta),
}
"""Of the sum y of n rewards, but for what does not depend on their linear predictor."""


def energy_of(case):
    """Minus the log density of z, (1 + tasks, d), but for a constant."""
    log_density, roots = LOG_DENSITIES[case.family], roots_of(case)
    order = np.argsort(case.tasks, kind="stable")
    x = design(case.features)[order].reshape(TASKS, EVENTS, DIM)
    total, number = case.rewards[order].reshape(TASKS, EVENTS), 1.0
    armed = case.features.ndim == 1
    if armed:  # sums of arms tell all
        total, number = (x * total[:, :, None]).sum(1), x.sum(1)

    def energy(z):
        theta = case.prior.hyper_mean + roots[0] @ z[0] + z[1:] @ roots[1].T
        eta = theta if armed else (x * theta[:, None]).sum(2)
        return (z**2).sum() / 2 - log_density(total, number, eta).sum()

    return energy


def roots_of(case):
    """Square roots of the covariances of mu and of tasks."""
    return [np.linalg.cholesky(full(cov)) for cov in case.prior.covs]


def drawn(energy, seed):
    """Draws of z and gradients there, each (chains, draws, (1 + tasks) d)."""
    sampler = MCMC(
        NUTS(potential_fn=energy),
        num_warmup=WARM_UP,
        num_samples=DRAWS,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    keys = jax.random.split(jax.random.PRNGKey(seed))
    start = jax.random.normal(keys[0], (CHAINS, 1 + TASKS, DIM))
    sampler.run(keys[1], init_params=start, extra_fields=("diverging",))
    if sampler.get_extra_fields()["diverging"].any():
        raise ValueError(f"chains of seed {seed} diverged")
    z = sampler.get_samples(group_by_chain=True)
    slope = jax.vmap(jax.vmap(jax.grad(energy)))(z)
    return [np.asarray(part).reshape(CHAINS, DRAWS, -1) for part in (z, slope)]


def mean_and_error(values, controls):
    """The mean of values, (chains, draws), whose controls have the mean zero, and its error."""
    table = np.column_stack([np.ones(values.size), controls])
    weights = np.linalg.lstsq(table, values.ravel(), rcond=None)[0]
    left = values.ravel() - table[:, 1:] @ weights[1:]
    chains = left.reshape(values.shape).mean(1)
    return weights[0], chains.std(ddof=1) / np.sqrt(CHAINS)


def posterior(case, seed):
    """The entry of a case in the file."""
    z, slope = drawn(energy_of(case), seed)
    roots, g = roots_of(case), slope.reshape(CHAINS * DRAWS, -1)
    found = []
    for node, i in np.ndindex(1 + TASKS, DIM):
        along = np.zeros((1 + TASKS, DIM))  # of the parameter, by z
        along[0] = roots[0][i]
        if node:
            along[node] = roots[1][i]
        theta = case.prior.hyper_mean[i] + z @ along.ravel()
        mean, mean_error = mean_and_error(theta, g)
        away = theta - mean
        controls = np.column_stack([g, away.reshape(-1, 1) * g - along.ravel()])
        var, var_error = mean_and_error(away**2, controls)
        found.append([mean, np.sqrt(var), mean_error / np.sqrt(var), var_error / (2 * var)])
    mean, std, mean_errors, std_errors = np.array(found).T
    return {
        "rewards": case.rewards.astype(int).tolist(),
        "mean": np.round(mean, 5).reshape(-1, DIM).tolist(),
        "std": np.round(std, 5).reshape(-1, DIM).tolist(),
        "mean_error": round(float(mean_errors.max()), 5),
        "std_error": round(float(std_errors.max()), 5),
    }


def main():
    numpyro.enable_x64()
    known = json.loads(STORED.read_text()) if STORED.exists() else {}
    for number, parts in enumerate(CASES):
        case, start = reference_case(*parts), time.monotonic()
        if case.name in known and sys.argv[1:] != ["--again"]:
            continue
        known[case.name] = found = posterior(case, 2 * number)
        errors = found["mean_error"], found["std_error"]
        print(
            case.name,
            int(case.rewards.sum()),
            *errors,
            f"{time.monotonic() - start:.0f} s",
            flush=True,
        )
        lines = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in known.items()]
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
