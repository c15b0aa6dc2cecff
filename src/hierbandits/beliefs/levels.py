"""What each level of each hierarchy assumes, in tables that kernels can look up."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.algebra import (
    FLOOR,
    eigenvalues,
    inverse,
    is_singular,
    is_well_conditioned,
    square_root,
    squared,
    unwhitening,
    whitening,
)
from hierbandits.beliefs.forms import ARM_VECTORS, COMMON_PART, Form, form_of, suits
from hierbandits.checks import LARGEST, count, positive, state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.types import Indices, Mask, Matrix, Vector

SHARPEST = 1e11
"""By how much a single event may narrow what is known, unless arms are independent."""

EVEN = 1e-4
"""The least variance of a covariance over its largest one, if it counts as even."""

_ROOM = 1e10  # for the number of features and of events

SAME = 1e-9
"""How far saved coordinates may be from the identity, and still be taken for it."""


class Levels:
    """Tables with one row for each hierarchy and level, a hierarchy's root first.

    A level has coordinates z of its own, theta = theta_parent + T z, in which its nodes keep what
    they know: a mean t and a square root S of a covariance, which is `start` at the start.  Then

        theta ~ N(T t + K theta_parent, T S S' T')        K = T S S' G

    is a node's posterior given its parent's parameter.  Where Sigma is well-conditioned, T is the
    identity, G is Sigma^-1 and `start` a square root of Sigma.  Otherwise T is a square root of
    Sigma, G is its inverse (see `algebra.whitening`) and `start` is the identity: Sigma may be
    singular, and no precision is lost.  Where arms have a part in common, T are their own widths
    and last the common one, and nodes start as `Nodes` says.  Hierarchies can be added at any time.
    """

    def __init__(self, hierarchy: GaussianHierarchy, form: Form) -> None:
        shape = hierarchy.task_cov.shape
        self.dim, self.form = hierarchy.dim, form
        self.is_armed, self.is_diagonal = form.is_armed, form.is_diagonal
        self.hierarchies: list[GaussianHierarchy] = []
        self.maps: Matrix = np.empty((0, 4, *shape))  # T, G, T', G'
        if form.is_diagonal or form.has_common_part:
            self.maps = np.empty((0, 2, form.task_block(self.dim)[1]))  # T, G
        self.assumed: Matrix = np.empty((0, 2))  # the noise variance, and whether T is the identity
        self.start: Matrix = np.empty((0, *shape))  # S of a node that knows nothing
        self.is_singular: Mask = np.empty(0, np.bool_)  # whether Sigma has no inverse
        self.is_even: Mask = np.empty(
            0, np.bool_
        )  # whether Sigma is about as wide in all directions
        self.below = np.empty(0, np.int32)  # the row of the level below, -1 below the tasks
        self.num_levels = 0  # the number of levels of the deepest hierarchy
        self.reach = np.inf  # the largest feature over the noise that leaves enough digits
        self.largest_feature = LARGEST
        self._root_row: dict[bytes, int] = {}  # by what a hierarchy assumes

    def adopt(self, hierarchy: GaussianHierarchy) -> int:
        """The row of this hierarchy's root; equal hierarchies share their rows."""
        row = self._root_row.get(_contents(hierarchy))
        return self.append(hierarchy) if row is None else row

    def append(self, hierarchy: GaussianHierarchy) -> int:
        """The row of this hierarchy's root, which it shares with no other."""
        row, levels = len(self.assumed), hierarchy.num_levels
        self._check_form(hierarchy)
        self.hierarchies.append(hierarchy)
        self.maps = np.concatenate([self.maps, np.empty((levels, *self.maps.shape[1:]))])
        self.start = np.concatenate([self.start, np.empty((levels, *self.start.shape[1:]))])
        self.assumed = np.concatenate([self.assumed, np.empty((levels, 2))])
        self.is_singular = np.append(self.is_singular, np.zeros(levels, np.bool_))
        self.is_even = np.append(self.is_even, np.zeros(levels, np.bool_))
        below = [*range(row + 1, row + levels), -1]
        self.below = np.append(self.below, np.array(below, np.int32))
        self.num_levels = max(self.num_levels, levels)
        if not self.is_diagonal:
            reach = _reach(hierarchy)
            self.reach = min(self.reach, reach)
            self.largest_feature = min(self.largest_feature, reach * hierarchy.noise_std)
        self._fill(row, hierarchy)
        return row

    def replace(self, row: int, hierarchy: GaussianHierarchy) -> None:
        """Let the rows of a hierarchy, its root's at `row`, be those of another as deep."""
        self._check_form(hierarchy)
        place = self.root_rows().index(row)
        old = _contents(self.hierarchies[place])
        if self._root_row.get(old) == row:
            del self._root_row[old]
        self.hierarchies[place] = hierarchy
        self._fill(row, hierarchy)

    def _check_form(self, hierarchy: GaussianHierarchy) -> None:
        if hierarchy.dim != self.dim or not suits(self.form, hierarchy):
            raise ValueError(f"prior must have the form of {self.hierarchies[0]}, got {hierarchy}")

    def _fill(self, row: int, hierarchy: GaussianHierarchy) -> None:
        """Fill the rows of a hierarchy, its root's at `row`."""
        self._root_row.setdefault(_contents(hierarchy), row)  # a file may hold equal ones
        one = _identity(self.maps.shape[2:])
        # A root has plain coordinates, and nobody above it to tell.
        parts = [(one, one, square_root(hierarchy.hyper_cov))]
        parts += [self._coordinates(cov) for cov in hierarchy.covs[1:]]
        self.assumed[row : row + len(parts), 0] = hierarchy.noise_std**2
        for place, (part, cov) in enumerate(zip(parts, hierarchy.covs, strict=True)):
            self._put(row + place, *part)
            self.is_singular[row + place] = is_singular(cov)
            values = eigenvalues(cov)
            self.is_even[row + place] = values[0] > EVEN * values[-1]

    def _put(self, row: int, own: Matrix, gain: Matrix, start: Matrix) -> None:
        """Fill a row of the tables with T, G and the start."""
        self.maps[row] = [own, gain] if own.ndim == 1 else [own, gain, own.T, gain.T]
        self.start[row] = start
        self.assumed[row, 1] = np.array_equal(own, _identity(own.shape))

    def _coordinates(self, cov: Matrix, own: Matrix | None = None) -> tuple[Matrix, Matrix, Matrix]:
        """T, G and the start of a level below the root; T is chosen here unless it is given."""
        parts = parts_in_common(cov) if self.form.has_common_part else None
        if parts is None:
            return _coordinates(cov, own)
        variances = np.append(*parts)
        own = whitening(variances) if own is None else own
        return own, unwhitening(own, variances), np.zeros_like(cov)  # no square root is kept

    def _covariance(self, own: Matrix, start: Matrix) -> Matrix:
        """The covariance of a level with this T and start."""
        if self.form.has_common_part:
            common: Matrix = np.diag(own[:-1] ** 2) + own[-1] ** 2
            return common
        return squared(own @ start, diagonal=False) if own.ndim == 2 else (own * start) ** 2

    @property
    def noise_var(self) -> Vector:
        """The variance of the noise of rewards, by row."""
        return self.assumed[:, 0]

    def checked_noise(self, noise_std: ArrayLike, features: Matrix | Indices) -> Vector:
        """The noise of each event, checked beside its features."""
        noise = positive("noise_std", noise_std, (len(features),))
        if not self.is_diagonal:
            sizes = np.ones(noise.size) if self.is_armed else np.abs(features).max(1)
            bad = np.flatnonzero(sizes > self.reach * noise)
            if bad.size:
                raise ValueError(
                    f"noise_std must be at least {sizes[bad[0]] / self.reach:g} for these features "
                    f"and widths, got {noise[bad[0]]}: less would leave no digits"
                )
        return noise

    def root_rows(self) -> list[int]:
        """The row of each hierarchy's root."""
        sizes = [hierarchy.num_levels for hierarchy in self.hierarchies]
        return list(accumulate([0, *sizes[:-1]])) if sizes else []

    def above(self, row: int) -> Matrix:
        """The covariance of the parent of a node of this level, before any data."""
        first = max(root for root in self.root_rows() if root <= row)
        hierarchy = self.hierarchies[self.root_rows().index(first)]
        cov: Matrix = np.sum(hierarchy.covs[: row - first], axis=0)
        return cov

    def copy(self) -> "Levels":
        """Independent tables."""
        twin = Levels.__new__(Levels)
        twin.__dict__.update(self.__dict__)
        twin.maps, twin.assumed, twin.start = (
            self.maps.copy(),
            self.assumed.copy(),
            self.start.copy(),
        )
        twin.is_singular, twin.is_even = self.is_singular.copy(), self.is_even.copy()
        twin.hierarchies, twin._root_row = list(self.hierarchies), dict(self._root_row)
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        meta = {"hierarchies": [hierarchy.to_dict() for hierarchy in self.hierarchies]}
        return meta, {"coordinates": self.maps[:, 0]}

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Levels":
        """The tables that `state` described, checked."""
        hierarchies = [GaussianHierarchy.from_dict(parts) for parts in meta["hierarchies"]]
        form = form_of(hierarchies)
        if form in (ARM_VECTORS, COMMON_PART):  # it may have held others, or rounding tells
            form = ARM_VECTORS if np.ndim(arrays["coordinates"]) == 3 else COMMON_PART
        if form is COMMON_PART:
            hierarchies = list(map(_with_common_part, hierarchies, arrays["coordinates"][1::2]))
        levels = cls(hierarchies[0], form)
        for hierarchy in hierarchies:
            levels.append(hierarchy)
        # Machines may find other coordinates, and the state of nodes is in these.
        saved = state_array("coordinates", arrays["coordinates"], levels.maps[:, 0].shape)
        covs = [cov for hierarchy in hierarchies for cov in hierarchy.covs]
        for row in set(range(len(covs))) - set(levels.root_rows()):
            own, gain, start = levels._coordinates(covs[row], saved[row])
            if not np.isfinite(gain).all():
                raise ValueError("coordinates do not follow from the hierarchies")
            _check_covariance(levels._covariance(own, start), covs[row])
            levels._put(row, own, gain, start)
        return levels


def _coordinates(cov: Matrix, own: Matrix | None = None) -> tuple[Matrix, Matrix, Matrix]:
    """T, G and the start of a level with this covariance; T is chosen here unless it is given."""
    one = _identity(cov.shape)
    if own is None:
        own = one if cov.ndim == 2 and is_well_conditioned(cov) else whitening(cov)
    if cov.ndim == 2 and np.abs(own - one).max() <= SAME:
        return one, inverse(cov), square_root(cov)
    return own, unwhitening(own, cov), one


def _check_covariance(saved: Matrix, cov: Matrix) -> None:
    """Raise an error unless saved coordinates are those of a covariance, but for rounding."""
    if not np.abs(saved - cov).max() <= 1e-6 * np.abs(cov).max() + 2 * FLOOR:
        raise ValueError("coordinates do not follow from the hierarchies")


def _with_common_part(hierarchy: GaussianHierarchy, own: Vector) -> GaussianHierarchy:
    """A hierarchy whose arms have a part in common, exactly, by the saved coordinates of tasks."""
    if hierarchy.num_levels != 2 or own.shape != (hierarchy.dim + 1,):
        raise ValueError(f"coordinates must be of {hierarchy}, got the shape {own.shape}")
    if parts_in_common(hierarchy.task_cov) is not None:
        return hierarchy
    cov = np.diag(own[:-1] ** 2) + own[-1] ** 2
    _check_covariance(cov, hierarchy.task_cov)
    return hierarchy.with_levels(hierarchy.hyper_mean, [hierarchy.hyper_cov, cov])


def _reach(hierarchy: GaussianHierarchy) -> float:
    """How many times the noise features may be.

    At a level of variance v along x, an event has the noise and the variance w of what is below.
    Rounding errors are about eps^2 v / w of what is left: at most SHARPEST^2 is let in.  And no
    reward is so many deviations from its mean that their square would overflow.
    """
    reach = np.sqrt(np.finfo(float).max) / (_ROOM * LARGEST)
    below = np.zeros_like(hierarchy.hyper_cov)
    for cov in hierarchy.covs[::-1]:
        most, least = eigenvalues(cov)[-1], eigenvalues(below)[0]
        if 0 < most > least * SHARPEST**2:
            reach = min(reach, SHARPEST / np.sqrt(hierarchy.dim * most))
        below = below + cov
    return float(reach)


def check_arms_fit(hierarchies: Sequence[GaussianHierarchy]) -> None:
    """Raise an error if events of arms that are not independent would leave no digits."""
    for hierarchy in hierarchies:
        least = 1 / _reach(hierarchy)
        if hierarchy.noise_std < least:
            raise ValueError(
                f"noise_std must be at least {least:g} beside such widths, got "
                f"{hierarchy.noise_std:g}: less would leave no digits unless arms are independent"
            )


def _identity(shape: tuple[int, ...]) -> Matrix:
    """The identity of this shape: a matrix, or a diagonal."""
    return np.ones(shape) if len(shape) == 1 else np.eye(shape[0])


def _contents(hierarchy: GaussianHierarchy) -> bytes:
    """The same bytes for equal hierarchies, and other bytes for others."""
    parts = hierarchy.hyper_mean, *hierarchy.covs, np.array(hierarchy.noise_std)
    form = repr(hierarchy.hyper_cov.shape).encode()
    return form + b"".join(part.tobytes() for part in parts)


def children_per_level(
    num_tasks: int | tuple[int, ...], priors: Sequence[GaussianHierarchy]
) -> tuple[int, ...]:
    """The number of children at each level below the root, checked; () for roots alone."""
    levels = priors[0].num_levels
    if any(prior.num_levels != levels for prior in priors):
        raise ValueError("prior must hold hierarchies of one depth; add_populations takes others")
    counts = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
    for number in counts:
        count("num_tasks", number)
    if counts == (0,):
        return ()
    if len(counts) != levels - 1:
        raise ValueError(
            f"num_tasks must have one count for each of the {levels - 1} levels below the root, "
            f"got {num_tasks!r}"
        )
    return counts
