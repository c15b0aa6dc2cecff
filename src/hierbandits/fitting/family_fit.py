"""Learn the widths of linear predictors from rewards of a family."""

import numpy as np

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.family_width_look import link_of_mean
from hierbandits.checks import count, positive
from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.family_objective import FamilyObjective
from hierbandits.fitting.fit import Fit
from hierbandits.fitting.maximum_evidence import fit_objective
from hierbandits.fitting.structure import Structure, StructureKind
from hierbandits.fitting.units import Units
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.types import Indices, Vector

HYPER_WIDTH = 5.0
"""The default hyper-width of one population, of log odds or log rates per unit of the feature.

It allows rates that differ by a factor of ten thousand, and keeps an arm without any positive from
going to minus infinity.
"""


def fit_family_prior(
    sites: FamilySites,
    *,
    population: Indices | None = None,
    structure: StructureKind = "diagonal",
    rank: int = 1,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    intervals: bool = True,
) -> Fit:
    """The hierarchy of linear predictors that maximises the log evidence of rewards of a family.

    All is as in `fit_prior`, with three differences.  The evidence is that of expectation
    propagation, run until it is settled at each hierarchy that is tried.  There is no noise to
    learn: `Fit.prior.noise_std` is 1 and not used.  Units are those of the link, per root mean
    square of a feature; with one population mu ~ N(c, HYPER_WIDTH^2), where c is the link of the
    log's mean reward if armed and otherwise 0.
    """
    max_iterations = count("max_iterations", max_iterations, least=1)
    tolerance = float(positive("tolerance", tolerance, ()))
    armed, dim = sites.is_armed, sites.dim
    checked = Structure.of(structure, dim, rank, armed)
    of_task = np.zeros(sites.num_tasks, np.intp) if population is None else population
    seen = np.unique(sites.tasks)
    seen = seen[np.argsort(of_task[seen], kind="stable")]
    ranks = np.unique(of_task[seen], return_inverse=True)[1]
    many = bool(ranks.max(initial=0) > 0)
    units = _units(sites, isotropic=structure == "scalar")
    some = sites.rows(seen).scaled(units.parameter)
    centre = link_of_mean(sites.family, sites.rewards, sites.exposure) if armed else 0.0
    hyper = checked.start(1.0 if many else HYPER_WIDTH**2)
    if structure == "common" and not many:
        hyper = HYPER_WIDTH**2 * np.eye(dim)
    objective = FamilyObjective(
        sums=some.sums(),
        sites=some,
        population=ranks,
        num_populations=int(ranks.max(initial=-1)) + 1,
        structure=checked,
        start=HierarchyParts(np.full(dim, centre), hyper, checked.start(0.25), 1.0),
        learns_noise=False,
        learns_mean=many,
        learns_hyper=many,
        weak=WeakPrior.of(structure, dim),
    )
    return fit_objective(objective, units, max_iterations, tolerance, intervals)


def _units(sites: FamilySites, *, isotropic: bool) -> Units:
    """Parameters are in units of the link, per root mean square of their feature."""
    dim = sites.dim
    if sites.is_armed:
        ones: Vector = np.ones(dim)
        return Units(1.0, np.zeros(dim), ones, HYPER_WIDTH * ones)
    squares = (sites.features**2).mean(0)
    squares = np.where(squares > 0, squares, squares.max(initial=0.0) or 1.0)
    unit = 1 / np.sqrt(squares)
    if isotropic:
        unit = np.full(dim, 1 / np.sqrt(squares.sum()))
    return Units(1.0, np.zeros(dim), unit, HYPER_WIDTH * unit)
