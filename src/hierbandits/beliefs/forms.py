"""The forms of hierarchies: which loops serve them, and how their nodes' state is laid out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hierbandits.kernels import arm_vectors, common_part, dense, diagonal
from hierbandits.kernels.loops import Loops
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.models.unknown_widths import factors_of


@dataclass(frozen=True, slots=True)
class Form:
    """Features or arms, and the form of their covariances."""

    name: str
    loops: Loops  # over the nodes of a forest
    is_armed: bool  # whether features are arm indices
    is_diagonal: bool  # whether covariances are diagonals
    has_common_part: bool  # whether the arms of a task have a part in common, and no more

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy or a pickle is the form itself: modules cannot be pickled."""
        return _named, (self.name,)

    def root_block(self, dim: int) -> tuple[int, int]:
        """The shape of what is known of a root."""
        return (2, dim) if self.is_diagonal else (dim + 1, dim)

    def task_block(self, dim: int) -> tuple[int, int]:
        """The shape of what is known of a node below a root."""
        return (3, dim + 1) if self.has_common_part else self.root_block(dim)

    def num_normals(self, dim: int) -> int:
        """How many normals a draw of a node takes."""
        return dim + 1 if self.has_common_part else dim


DIAGONAL = Form("diagonal", diagonal, is_armed=True, is_diagonal=True, has_common_part=False)
DENSE = Form("dense", dense, is_armed=False, is_diagonal=False, has_common_part=False)
ARM_VECTORS = Form(
    "arm vectors", arm_vectors, is_armed=True, is_diagonal=False, has_common_part=False
)
COMMON_PART = Form(
    "common part", common_part, is_armed=True, is_diagonal=False, has_common_part=True
)


def _named(name: str) -> Form:
    forms = (DIAGONAL, DENSE, ARM_VECTORS, COMMON_PART)
    return next(form for form in forms if form.name == name)


def form_of(hierarchies: Sequence[GaussianHierarchy]) -> Form:
    """The form that suits all these hierarchies, by the first one's features and covariances."""
    first = hierarchies[0]
    if first.is_diagonal:
        return DIAGONAL
    if not first.is_armed:
        return DENSE
    widths = [_common_var(hierarchy) for hierarchy in hierarchies]
    # Without any part in common the form would be the same, but it could hold no other later.
    return ARM_VECTORS if None in widths or not any(widths) else COMMON_PART


def form_of_fits(hierarchies: Sequence[GaussianHierarchy]) -> Form:
    """The form that suits all hierarchies that may be fitted where these are assumed at first."""
    first = hierarchies[0]
    return ARM_VECTORS if first.is_armed and factors_of(first.dim) else form_of(hierarchies)


def suits(form: Form, hierarchy: GaussianHierarchy) -> bool:
    """Whether nodes of a form can hold a hierarchy."""
    if (form.is_armed, form.is_diagonal) != (hierarchy.is_armed, hierarchy.is_diagonal):
        return False
    return not form.has_common_part or _common_var(hierarchy) is not None


def _common_var(hierarchy: GaussianHierarchy) -> float | None:
    """The variance of what the arms of a task have in common; None if they have more, or groups."""
    if hierarchy.num_levels != 2 or hierarchy.is_diagonal:
        return None
    parts = parts_in_common(hierarchy.task_cov)
    return None if parts is None else parts[1]
