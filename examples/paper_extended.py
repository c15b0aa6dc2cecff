"""A paper reproduced and extended: the synthetic problem of HBB, and a policy of one's own.

    python examples/paper_extended.py       # a table, and a figure in paper_extended.png
    hierbandits reproduce synthetic --from examples/paper_extended.py --policies TwoDraws,TS

The question: is one posterior draw enough?  `TwoDraws` makes two in each round, and plays the arm
that looks best in the better of them.
"""

import hierbandits as hb
from hierbandits.models.variants import as_given


def two_draws(view, rng, tasks, arms, /):
    """Play the arm whose better score of two posterior draws is highest."""
    theta, slots = view.draws(rng, tasks, repeats=2)
    scores = arms.repeated(2).values(theta[slots])  # of every arm in both draws
    return arms.best(scores.reshape(2, -1).max(axis=0), rng)


POLICIES = {"TwoDraws": hb.Recipe(as_given, two_draws, "the better of two posterior draws")}


def main(runs: int = 100) -> None:
    """Compare it with the paper's policies, in the worlds of the paper's figure (a)."""
    prior = hb.GaussianHierarchy.linear(2, hyper_std=0.5, task_std=0.1, noise_std=0.5)
    world = hb.environments.HierarchicalBandit(
        hierarchy=prior, num_tasks=10, actions=hb.environments.ActionSets(num_arms=10)
    )
    named = {name: hb.POLICIES[name] for name in ("OracleTS", "HierTS", "TS")}
    study = hb.simulate(
        world, named | POLICIES, hb.schedules.Concurrent(5), runs=runs, num_interactions=200
    )
    for name in study.outcomes:
        mean, error = study.mean(name)
        more, its_error = study.difference(name, "HierTS")
        print(f"{name:9} {mean:6.1f} ± {error:.1f}   HierTS and {more:+.1f} ± {its_error:.1f}")
    bound = hb.bounds.sequential(prior, num_tasks=10, num_interactions=200)
    print(f"the theorem for one task a round promises HierTS at most {bound.total:.0f}")
    study.picture("The paper's problem, and TwoDraws").save("paper_extended.png")


if __name__ == "__main__":
    main()
