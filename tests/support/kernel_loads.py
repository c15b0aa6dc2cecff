"""A session that uses every policy and form, and the kernels that it compiles or loads.

`python -m support.kernel_loads` prints those that `hb.warm_up` has left to do, one a line.
"""

import sys
import tempfile
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

import hierbandits as hb
from hierbandits.models.variants import as_given, unknown_widths
from support.agent_lives import PRIORS, long_life, new_agent
from support.agents import Clock

UNTOLD = (
    {"num_features": 2},
    {"arms": ["a", "b", "c"]},
    {"arms": list(range(70))},  # more than are fitted with a part in common
)


class _Compiled(event.Listener):
    """Keeps the names of what is compiled."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(f"compiled {event.data['dispatcher'].py_func.__name__}")

    def on_end(self, event):
        pass


def loaded():
    """All signatures of all kernels of the package that have been compiled or loaded."""
    kernels = {
        kernel
        for name, module in list(sys.modules.items())
        if name.startswith("hierbandits.")
        for kernel in vars(module).values()
        if isinstance(kernel, Dispatcher)
    }
    return {
        f"loaded {kernel.py_func.__module__}.{kernel.py_func.__name__} {signature}"
        for kernel in kernels
        for signature in kernel.signatures
    }


def use_everything():
    """Every policy and form, by agents and by policies, with all that can be asked of them."""
    rng = np.random.default_rng(1)
    for name, recipe in hb.POLICIES.items():
        for form in PRIORS:
            _rounds(recipe, form, rng)
            if not recipe.knows_truth:
                long_life(new_agent(form, name), form, rng)
                agent = new_agent(form, name, draws=5, floor=0.1, journal=lambda event: None)
                long_life(agent, form, rng)
                _kept(agent)
        if not recipe.knows_truth and recipe.believe in (as_given, unknown_widths):
            _untold(name, rng)
    for form, family in product(("armed", "linear", "correlated"), ("bernoulli", "poisson")):
        _of_family(PRIORS[form], family)


def _untold(name, rng):
    for options in UNTOLD:
        agent = hb.Agent(policy=name, seed=0, **options)
        arms = rng.normal(size=(5, 2)) if "num_features" in options else None
        for number in range(60):
            made = agent.decide(number % 7, arms)
            agent.reward(made.id, 0.0 if number < 3 else float(rng.normal()))
            if number % 20 == 9:
                agent.correct(made.id, -1.0)
        made = agent.decide_many(range(9), arms)
        agent.reward_many([one.id for one in made], rng.normal(size=9))
        agent.forget(1)
        _kept(agent)


def _of_family(prior, family):
    """An agent of clicks or counts, until after its first refit."""
    arms = None if prior.is_armed else np.eye(prior.dim)
    agent = hb.Agent(prior, rewards=family, arms=arms, seed=0, draws=5)
    for number in range(30):
        made = agent.decide(f"t{number % 3}")
        agent.reward(made.id, number % 2)
    agent.reward_many([made.id for made in agent.decide_many(["t0", "t1"])], [1, 0])
    agent.correct(made.id, 0)
    agent.forget("t1")
    agent.decide("t0", best=True)


def _rounds(recipe, form, rng):
    """Rounds of a policy in several populations."""
    prior = PRIORS[form]
    tasks = (2, 3) if prior.num_levels == 3 else 6
    policy = recipe(prior, num_tasks=tasks, num_populations=2, truth=np.zeros((2, prior.dim)))
    every, some = np.arange(12), rng.integers(0, 12, 5)
    sets = rng.normal(size=(12, 4, prior.dim))
    ragged = [sets[e, : 1 + e % 4] for e in range(12)]
    offers = [None, np.arange(prior.dim), [np.arange(1 + e % 2) for e in range(12)]]
    for arms in offers if prior.is_armed else [sets[0], sets, ragged]:
        choices = policy.act(rng, every, arms)
        policy.act_with_propensities(rng, every, arms, draws=7, floor=0.01)
        features = choices if prior.is_armed else rng.normal(size=(12, prior.dim))
        policy.learn(every, features, rng.normal(size=12))
    eligible = np.arange(prior.dim if prior.is_armed else 4) > 0
    policy.act(rng, some, None if prior.is_armed else sets[0], eligible)
    policy.belief.sample(rng, policy.belief.roots, fresh=True)
    if recipe.believe is as_given:
        features = choices[:5] if prior.is_armed else sets[:5, 0]
        policy.belief.observe(some, features, np.zeros(5), np.ones(5))
        policy.belief.revise(int(some[0]), features[0], 0.0, 1.0)


def _kept(agent):
    """Files and tables."""
    agent.summary()
    agent.log()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent"
        agent.save(path)
        hb.Agent.load(path, clock=Clock())


def main():
    """Print what a session compiles or loads after the kernels were warmed up."""
    warnings.simplefilter("error")
    hb.warm_up()
    before, listener = loaded(), _Compiled()
    event.register("numba:compile", listener)
    use_everything()
    print(*sorted(loaded() - before), *listener.names, sep="\n")


if __name__ == "__main__":
    main()
