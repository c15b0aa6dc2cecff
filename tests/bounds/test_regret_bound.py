"""A bound in parts: its terms add up, and every one is named."""

import numpy as np
import pytest
from support.bound_priors import BOTH, random_prior

from hierbandits import bounds


@BOTH
def test_terms_add_up_and_rows_name_them(constants):
    rng = np.random.default_rng(9)
    for kind in ("skewed", "armed"):
        prior = random_prior(rng, kind)
        eta = 1.0 if kind == "armed" else 0.2
        for bound in (
            bounds.sequential(prior, 7, 11, constants=constants),
            bounds.concurrent(prior, 7, 11, 3, eta=eta, constants=constants),
        ):
            terms = [
                bound.task_regret,
                bound.hyper_regret,
                bound.concurrency_regret,
                bound.forced_regret,
                bound.tail_regret,
            ]
            at_once = bound.eta is not None  # tasks act concurrently
            has_tail = constants == "repaired" or not at_once
            assert [term > 0 for term in terms] == [True, True, at_once, at_once, has_tail]
            assert sum(terms) == pytest.approx(bound.total, rel=1e-12)
            assert bound.c3 == bound.forced_regret + bound.tail_regret
            assert bound.hyper_alone > bound.hyper_regret + bound.concurrency_regret
            rows = {name: value for name, value, meaning in bound.rows() if meaning}
            assert rows["total"] == bound.total
            assert ("eta" in rows) == (bound.eta is not None)
            named = set(bounds.RegretBound.__slots__) - {"constants"}
            assert set(rows) == (named if bound.eta is not None else named - {"eta"})
