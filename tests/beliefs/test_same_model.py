"""Whether a belief from a file assumes what one that is made anew assumes."""

import numpy as np
import pytest
from support.agent_lives import PRIORS

from hierbandits import AdaptiveBelief, Belief, UnknownWidths
from hierbandits.beliefs.same_model import check_same_model, parents_of


@pytest.mark.parametrize("form", list(PRIORS))
def test_the_same_prior_is_the_same_but_for_its_last_digits(form):
    prior = PRIORS[form]
    check_same_model(Belief(prior), Belief(prior))
    for factor, same in ((1 + 1e-12, True), (1 + 1e-6, False)):
        covs = [factor * cov for cov in prior.covs]
        other = Belief(prior.with_levels(prior.hyper_mean, covs))
        if same:
            check_same_model(other, Belief(prior))
        else:
            with pytest.raises(ValueError, match="belief must be of what the agent's prior says"):
                check_same_model(other, Belief(prior))


def test_other_forms_levels_noises_and_populations_are_refused():
    armed = PRIORS["armed"]
    noisy = armed.with_levels(armed.hyper_mean, armed.covs, 1.0)
    others = [Belief(PRIORS["linear"]), Belief(noisy), Belief(PRIORS["deep-armed"])]
    others += [Belief([armed, noisy]), Belief(armed, num_populations=2)]
    others += [AdaptiveBelief(UnknownWidths.of(3, armed=True))]
    for other in others:
        with pytest.raises(ValueError, match="belief must"):
            check_same_model(other, Belief(armed))


def test_fitted_widths_may_be_any_and_what_is_assumed_of_them_not():
    prior = UnknownWidths.of(3, armed=True)
    fitted = AdaptiveBelief(prior, 2)
    fitted.observe([0, 1, 1], [0, 1, 2], [1.0, 2.0, 3.0])
    check_same_model(fitted, AdaptiveBelief(prior))
    with pytest.raises(ValueError, match="belief must be of the agent's prior"):
        check_same_model(fitted, AdaptiveBelief(UnknownWidths.of(3, armed=True, noise_std=1.0)))


def test_parents_are_nodes_and_roots_have_none():
    belief = Belief(PRIORS["deep"], (2, 1))
    root = int(belief.roots[0])
    above = parents_of(belief, np.arange(belief.num_nodes))
    assert above.tolist() == [2, 3, root, root, -1]
