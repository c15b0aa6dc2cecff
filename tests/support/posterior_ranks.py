"""Simulation-based calibration: the rank of the truth among posterior draws, for every belief.

Truths are drawn from what a belief assumes, and Thompson sampling plays on.  Then the truth is one
more draw from the posterior, so that its rank among others has no preference.  The long form is

    PYTHONPATH=tests python tests/support/posterior_ranks.py --worlds 2000

which prints the table of docs/models.md.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

import hierbandits as hb
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.family_width_look import HYPER_STDS, SHARES, SPREAD, TASK_STDS, USUAL_STD
from hierbandits.beliefs.gibbs_belief import GibbsBelief
from hierbandits.models import FAMILIES, GaussianRewards
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths

TASKS, DIM, OFFERED = 3, 3, 4
ROUNDS, EACH = 6, 6  # batches of so many events in every world
DRAWS = 19
GAP = 10  # sweeps of a chain between two draws
NOISE = 0.7
MEAN = np.array([-0.6, 0.2, -0.3])
HYPER_COV = np.array([[0.8, 0.2, -0.1], [0.2, 0.5, 0.1], [-0.1, 0.1, 0.6]])
TASK_COV = np.array([[0.30, -0.10, 0.05], [-0.10, 0.25, 0.06], [0.05, 0.06, 0.40]])
KNOWN = {
    "features": hb.GaussianHierarchy(
        hyper_mean=MEAN, hyper_cov=HYPER_COV, task_cov=TASK_COV, noise_std=NOISE
    ),
    "arms": hb.GaussianHierarchy.armed(
        DIM, hyper_mean=MEAN, hyper_std=[0.9, 0.7, 0.8], task_std=[0.5, 0.6, 0.4], noise_std=NOISE
    ),
    "correlated arms": hb.GaussianHierarchy.armed(
        DIM, hyper_mean=MEAN, hyper_cov=HYPER_COV, task_cov=TASK_COV, noise_std=NOISE
    ),
}


@dataclass(frozen=True)
class Subject:
    """A belief, the truths that it assumes, and the rewards that it learns from."""

    make: Callable  # of the number of worlds
    truths: Callable  # of a generator and the number of worlds: mu (W, d) and theta (W, T, d)
    armed: bool
    family: str = "gaussian"
    cost: int = 1  # beside an exact belief, roughly: it gets so many times fewer worlds


def known_truths(prior):
    """Draws of a stated hierarchy."""

    def truths(rng, worlds):
        covs = [np.diag(cov) if cov.ndim == 1 else cov for cov in prior.covs]
        mu = rng.multivariate_normal(prior.hyper_mean, covs[0], worlds)
        return mu, mu[:, None] + rng.multivariate_normal(np.zeros(DIM), covs[1], (worlds, TASKS))

    return truths


def unknown_truths(armed, centre):
    """Widths from the prior of a look at them; arms are about a mean of their own."""

    def widths(rng, stds, worlds):
        low, high = (stats.norm.cdf(np.log(end / USUAL_STD) / SPREAD) for end in stds[[0, -1]])
        return USUAL_STD * np.exp(SPREAD * stats.norm.ppf(rng.uniform(low, high, (worlds, 1))))

    def truths(rng, worlds):
        t, q = widths(rng, TASK_STDS, worlds), widths(rng, HYPER_STDS, worlds)
        middle = rng.normal(centre, 0.7, (worlds, 1)) if armed else 0.0
        mu = middle + q * rng.normal(size=(worlds, DIM))
        share = rng.choice(SHARES, (worlds, 1, 1)) if armed else 0.0
        common, own = rng.normal(size=(worlds, TASKS, 1)), rng.normal(size=(worlds, TASKS, DIM))
        away = np.sqrt(share) * common + np.sqrt(1 - share) * own
        return mu, mu[:, None] + t[:, :, None] * away

    return truths


def _matched(kind, form, family):
    model = hb.GeneralizedHierarchy(KNOWN[form], _family(family))
    return Subject(
        lambda worlds: kind(model, TASKS, worlds), known_truths(KNOWN[form]), form != "features",
        family, 5 if kind is GibbsBelief else 1,
    )  # fmt: skip


def _adaptive(armed, family):
    widths = hb.UnknownWidths.of(DIM, armed=armed)
    truths = unknown_truths(armed, 0.0 if family == "gaussian" else -1.0)
    if family == "gaussian":
        make = lambda worlds: AdaptiveBelief(widths, TASKS, worlds)  # noqa: E731
    else:
        model = UnknownFamilyWidths(widths, family)
        make = lambda worlds: AdaptiveMatchedBelief(model, TASKS, worlds)  # noqa: E731
    return Subject(make, truths, armed, family, 20)


def _exact(form):
    prior = KNOWN[form]
    return Subject(
        lambda worlds: hb.Belief(prior, TASKS, worlds), known_truths(prior), form != "features"
    )


def _family(name):
    return GaussianRewards(NOISE) if name == "gaussian" else FAMILIES[name]()


SUBJECTS = {
    **{f"Belief, {form}": _exact(form) for form in KNOWN},
    **{
        f"MatchedBelief, {family}, {form}": _matched(hb.MatchedBelief, form, family)
        for family in FAMILIES
        for form in ("features", "arms" if family == "binomial" else "correlated arms")
    },
    **{
        f"GibbsBelief, {family}, {form}": _matched(GibbsBelief, form, family)
        for family, form in (("bernoulli", "features"), ("binomial", "arms"))
    },
    **{
        f"{'AdaptiveBelief' if family == 'gaussian' else 'AdaptiveMatchedBelief'}, {family}, "
        f"{'arms' if armed else 'features'}": _adaptive(armed, family)
        for family in ("gaussian", "bernoulli", "poisson")
        for armed in (False, True)
    },
}
"""Every belief, by name."""


@dataclass(frozen=True)
class Ranks:
    """How many draws were below the truth, from 0 to DRAWS, for each quantity in each world."""

    below: np.ndarray  # (quantities, W)

    def p_values(self):
        """How probable ranks as uneven as these are if none is preferred, for each quantity.

        Ranks are in so many equal parts that ten worlds at least are expected in each.
        """
        worlds = self.below.shape[1]
        parts = max(part for part in (2, 4, 5, 10, 20) if part == 2 or worlds >= 10 * part)
        place = self.below * parts // (DRAWS + 1)
        counts = [np.bincount(row, minlength=parts) for row in place]
        return np.array([stats.chisquare(count).pvalue for count in counts])

    def held(self, share):
        """How often the central interval of this share holds the truth, for each quantity."""
        out = round((1 - share) / 2 * (DRAWS + 1))
        return ((self.below >= out) & (self.below <= DRAWS - out)).mean(1)

    @property
    def middle(self):
        """The mean rank, as a share: 0.5 if nothing is too high or too low."""
        return (self.below.mean(1) + 0.5) / (DRAWS + 1)


def ranks_of(subject, worlds, seed=0):
    """Let beliefs in so many worlds learn by their own choices, then rank the truths.

    The quantities are a coordinate of the hyper-parameter, one of a task, and the difference of two
    coordinates in another task.
    """
    rng, family = np.random.default_rng(seed), _family(subject.family)
    mu, theta = subject.truths(rng, worlds)
    flat, belief = theta.reshape(-1, DIM), subject.make(worlds)
    first = np.arange(worlds) * TASKS
    for _ in range(ROUNDS):
        tasks = np.repeat(first, EACH) + rng.integers(0, TASKS, worlds * EACH)
        offers = rng.normal(size=(tasks.size, OFFERED, DIM))
        offers[:, :, 0] = 1.0
        if subject.armed:
            offers = np.broadcast_to(np.eye(DIM), (tasks.size, DIM, DIM))
        values = np.einsum("eki,ei->ek", offers, belief.sample(rng, tasks))
        chosen = values.argmax(1)
        x = offers[np.arange(tasks.size), chosen]
        exposure = np.ones(tasks.size)
        if subject.family == "binomial":
            exposure = rng.integers(1, 6, tasks.size).astype(float)
        rewards = family.draw((x * flat[tasks]).sum(1), exposure, rng.random(tasks.size))
        own = {} if subject.family == "gaussian" else {"exposure": exposure}
        belief.observe(tasks, chosen if subject.armed else x, rewards, **own)
        belief._raw_settle()
    truth = np.array([mu[:, 0], theta[:, 0, 1], theta[:, 1, 0] - theta[:, 1, 2]])
    below = np.zeros(truth.shape, int)
    for _ in range(DRAWS):
        if isinstance(belief, GibbsBelief):
            belief.sweep(GAP)
        drawn = belief.sample(rng, np.concatenate([belief.roots, first, first + 1]))
        root, one, other = drawn.reshape(3, worlds, DIM)
        below += np.array([root[:, 0], one[:, 1], other[:, 0] - other[:, 2]]) < truth
    return Ranks(below)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument("--only", default="", help="beliefs whose name begins so")
    options = parser.parse_args()
    print("| belief | worlds | 50 % intervals hold | 90 % hold | mean rank | p |")
    print("|---|---|---|---|---|---|")
    for name, subject in SUBJECTS.items():
        if not name.startswith(options.only):
            continue
        worlds = options.worlds // subject.cost
        found = ranks_of(subject, worlds)
        cells = [
            ", ".join(f"{100 * value:.0f}" for value in values) + " %"
            for values in (found.held(0.5), found.held(0.9), found.middle)
        ]
        p = ", ".join(f"{value:.2g}" for value in found.p_values())
        print(f"| {name} | {worlds:,} | {' | '.join([*cells, p])} |", flush=True)


if __name__ == "__main__":
    main()
