"""The prior that a log teaches, and the prior that an agent starts from."""

from typing import TYPE_CHECKING

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices

if TYPE_CHECKING:
    from hierbandits.fitting import Fit
    from hierbandits.fitting.structure import Shape


def fitted(
    sums: TaskSums, population: Indices, structure: "Shape", rank: int, noise_std: float | None
) -> "Fit":
    """The widths that make the log most probable."""
    from hierbandits.fitting import fit_prior  # here: its optimiser is slow to import

    return fit_prior(
        sums, population=population, structure=structure, rank=rank, noise_std=noise_std
    )


def starting_prior(prior: GaussianHierarchy, posterior: TaskPosteriors) -> GaussianHierarchy:
    """What an agent should believe before it meets new tasks.

    With one population the hyper-posterior given the log takes the place of the hyper-prior; with
    several, a new population is one more draw from the learned hyper-prior.
    """
    if len(posterior.hyper_mean) > 1:
        return prior
    return prior.with_levels(posterior.hyper_mean[0], [posterior.hyper_cov[0], prior.task_cov])
