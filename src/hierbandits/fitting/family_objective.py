"""What a fit maximises where rewards are of a family: the evidence by expectation propagation."""

from dataclasses import dataclass, replace

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.fitting.expectation import Expectation, HierarchyParts, e_step
from hierbandits.fitting.objective import Objective


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FamilyObjective(Objective):
    """The log evidence of sites that match under each hierarchy, and its exact slope.

    Where all sites match, the evidence does not change with them to first order.  So its slope by
    the hierarchy is that of Gaussian sums with the sites held fixed.
    """

    sites: FamilySites

    def expectation(self, hierarchy: HierarchyParts) -> Expectation:
        """The E-step, once sites match under this hierarchy."""
        covs = [hierarchy.hyper_cov, hierarchy.task_cov]
        if hierarchy.hyper_cov.ndim != hierarchy.task_cov.ndim:
            raise AssertionError("covariances of arms are both diagonals, or both matrices")
        self.sites.match(hierarchy.hyper_mean, covs, self.population)
        expected = e_step(hierarchy, self.sites.sums(), self.population, self.num_populations)
        return replace(expected, log_evidence=expected.log_evidence + self.sites.log_scale)
