"""The loops that match sites, for each form of hierarchies."""

from collections.abc import Callable, Sequence
from typing import Any

from hierbandits.beliefs.forms import ARM_VECTORS, COMMON_PART, DENSE, DIAGONAL, Form, form_of
from hierbandits.kernels import arm_vector_sites, dense_sites, diagonal_sites
from hierbandits.models.hierarchy import GaussianHierarchy

MATCHES: dict[str, Callable[..., Any]] = {
    DENSE.name: dense_sites.match,
    DIAGONAL.name: diagonal_sites.match,
    ARM_VECTORS.name: arm_vector_sites.match,
}


def site_form_of(hierarchies: Sequence[GaussianHierarchy]) -> Form:
    """The form in which rewards of any family are learned: arms in common have full covariances."""
    form = form_of(hierarchies)
    return ARM_VECTORS if form is COMMON_PART else form
