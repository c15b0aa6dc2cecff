"""The loops for each form of hierarchy."""

from hierbandits.kernels import arm_vectors, dense, diagonal
from hierbandits.kernels.loops import Loops
from hierbandits.models.hierarchy import GaussianHierarchy


def loops_for(prior: GaussianHierarchy) -> Loops:
    """The loops for covariances and features of this form."""
    if prior.is_diagonal:
        return diagonal
    return arm_vectors if prior.is_armed else dense
