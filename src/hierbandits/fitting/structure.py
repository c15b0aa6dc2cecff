"""What structure a covariance may have: its free numbers, its slopes and its M-step."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import chdtrc, chdtri

from hierbandits.checks import count, one_of
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.types import Mask, Matrix, Vector

StructureKind: TypeAlias = Literal["scalar", "diagonal", "common", "full", "low-rank"]

LARGEST_LOG_WIDTH = 14.0
"""Log widths in the data's units are kept within this of zero."""

_FACTOR_STEPS = 100  # cheap beside one iteration of the search


@dataclass(frozen=True, slots=True)
class Structure:
    """A family of d x d covariances in unconstrained coordinates, in units of the data.

    scalar: log std.  diagonal: log stds.  full: the Cholesky factor, its diagonal in logs.
    low-rank: B and log stds psi of Sigma = B B' + diag(psi^2).  common: log stds psi and log std
    tau of Sigma = diag(psi^2) + tau^2, where arms have a part in common.  Independent arms have
    diagonals, (K,), for covariances.
    """

    kind: StructureKind
    dim: int
    rank: int
    is_diagonal: bool  # whether covariances are diagonals

    @classmethod
    def of(cls, kind: str, dim: int, rank: int, armed: bool) -> "Structure":
        """The structure, checked."""
        one_of("structure", kind, get_args(StructureKind))
        if kind == "common" and not (armed and dim > 1):
            raise ValueError("structure must not be 'common' unless there are several arms")
        rank = count("rank", rank, least=1)
        if kind == "low-rank" and rank >= dim:
            raise ValueError(f"rank must be below the {dim} features, got {rank}")
        alone = armed and kind in ("scalar", "diagonal")
        return cls(kind, dim, rank, alone)  # type: ignore[arg-type]

    @property
    def has_m_step(self) -> bool:
        """Whether `maximise` improves it."""
        return self.kind != "low-rank"

    @property
    def size(self) -> int:
        """How many free numbers there are."""
        full, low = self.dim * (self.dim + 1) // 2, self.dim * (self.rank + 1)
        sizes = {"scalar": 1, "diagonal": self.dim, "common": self.dim + 1, "full": full}
        return sizes.get(self.kind, low)

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """The bounds of each free number; only logs have any."""
        log: tuple[float | None, float | None] = (-LARGEST_LOG_WIDTH, LARGEST_LOG_WIDTH)
        free: tuple[float | None, float | None] = (None, None)
        if self.kind == "full":
            rows, columns = np.tril_indices(self.dim)
            return [log if i == j else free for i, j in zip(rows, columns, strict=True)]
        if self.kind == "low-rank":
            return [free] * (self.dim * self.rank) + [log] * self.dim
        return [log] * self.size

    def cov(self, free: Vector) -> Matrix:
        """The covariance of these free numbers."""
        if self.kind == "scalar":
            return self._diagonal(np.full(self.dim, np.exp(2 * free[0])))
        if self.kind == "diagonal":
            return self._diagonal(np.exp(2 * free))
        if self.kind == "full":
            lower = self._lower(free)
            return not_singular(lower @ lower.T)
        if self.kind == "common":
            own, shared = self.common_parts(free)
            return _beside(np.diag(own) + shared, own, self.dim * shared)
        loading, psi = self.split(free)
        own, shared = np.exp(2 * psi), float((loading**2).sum())
        return _beside(np.diag(own) + loading @ loading.T, own, shared)

    def common_parts(self, free: Vector) -> tuple[Vector, float]:
        """The variances of the arms' own parts and of the part in common, of a common structure."""
        variances = np.exp(2 * free)
        return variances[:-1], float(variances[-1])

    def start(self, variance: float) -> Matrix:
        """A covariance to begin with, of this variance for every coordinate."""
        if self.kind == "common":
            return variance / 2 * (np.eye(self.dim) + 1)
        return self._diagonal(np.full(self.dim, variance))

    def free(self, cov: Matrix) -> Vector:
        """The free numbers of this covariance, or of the nearest one that has this structure."""
        variances = cov if self.is_diagonal else np.diagonal(cov)
        if self.kind == "common":
            shared = (cov.sum() - variances.sum()) / (self.dim * (self.dim - 1))
            shared = max(float(shared), 1e-3 * variances.mean())
            own = np.maximum(variances - shared, 1e-2 * variances)
            free: Vector = np.log(np.append(own, shared)) / 2
            return free
        if self.kind == "scalar":
            return np.array([np.log(variances.mean()) / 2])
        if self.kind == "diagonal":
            return np.log(variances) / 2
        if self.kind == "full":
            lower = np.linalg.cholesky(cov)
            np.fill_diagonal(lower, np.log(np.diagonal(lower)))
            return lower[np.tril_indices(self.dim)]
        values, vectors = np.linalg.eigh(cov)
        common = values[: -self.rank].mean()
        top = np.sqrt(np.maximum(values[-self.rank :] - common, 1e-3 * values[-self.rank :]))
        loading = vectors[:, -self.rank :] * top
        own = np.maximum(variances - (loading**2).sum(1), 1e-2 * variances)
        loading, own = _factored(cov, loading, own)
        return np.concatenate([loading.ravel(), np.log(own) / 2])

    def slope(self, free: Vector, gradient: Matrix) -> Vector:
        """From d f / d Sigma (symmetric) to the derivatives by the free numbers."""
        if self.kind in ("scalar", "diagonal"):
            along = gradient if self.is_diagonal else np.diagonal(gradient)
            slopes = 2 * along * np.exp(2 * free)
            return slopes.sum(keepdims=True) if self.kind == "scalar" else slopes
        if self.kind == "full":
            lower = self._lower(free)
            slopes = 2 * gradient @ lower
            slopes[np.diag_indices(self.dim)] *= np.diagonal(lower)
            return slopes[np.tril_indices(self.dim)]
        if self.kind == "common":
            return 2 * np.append(np.diagonal(gradient), gradient.sum()) * np.exp(2 * free)
        loading, psi = self.split(free)
        along = 2 * np.diagonal(gradient) * np.exp(2 * psi)
        return np.concatenate([(2 * gradient @ loading).ravel(), along])

    def numbers_of(self, coordinates: Mask) -> Mask:
        """Which free numbers say nothing but of the widths of these coordinates."""
        if self.kind == "scalar":
            return np.array([coordinates.all()])
        if self.kind == "full":
            return coordinates[np.tril_indices(self.dim)[0]]
        if self.kind == "low-rank":
            return np.append(np.repeat(coordinates, self.rank), coordinates)
        return np.append(coordinates, np.zeros(self.size - self.dim, bool))

    def factor(self, free: Vector) -> tuple[Vector, Matrix] | None:
        """v and G of diag(v) + G G', (d,) or (d, rank); None if the structure has no such form."""
        if self.kind == "common":
            own, shared = self.common_parts(free)
            return own, np.full(own.size, np.sqrt(shared))
        if self.kind == "low-rank":
            loading, psi = self.split(free)
            return np.exp(2 * psi), loading
        return None

    def log_weak(
        self, cov: Matrix, weak: WeakPrior, factor: tuple[Vector, Matrix] | None = None
    ) -> float:
        """The log density of the weak prior, up to a constant; a part in common has its own.

        So have the variances psi^2 of low rank, where `factor` must be given.  Its loadings are
        normal: with a factor beside it a width of zero costs no volume, and nothing else would keep
        psi off zero.
        """
        if self.kind == "low-rank":
            assert factor is not None
            own, loading = factor
            return weak.log_covariance(own) - weak.covariance_weight * float((loading**2).sum())
        if self.kind != "common":
            return weak.log_covariance(cov)
        shared = cov[0, -1]
        return weak.log_covariance(np.append(np.diagonal(cov) - shared, shared))

    def weak_slope(self, free: Vector, weak: WeakPrior) -> Vector:
        """The derivatives of `log_weak` by the free numbers."""
        if self.kind == "common":
            variances = np.exp(2 * free)
            return 2 * variances * weak.covariance_slope(variances)
        if self.kind == "low-rank":
            loading, psi = self.split(free)
            variances = np.exp(2 * psi)
            along = 2 * variances * weak.covariance_slope(variances)
            return np.concatenate([-2 * weak.covariance_weight * loading.ravel(), along])
        return self.slope(free, weak.covariance_slope(self.cov(free)))

    @property
    def log_scale(self) -> float:
        """The log by which the weak prior's density over the free numbers is to be divided.

        Widths, those on the Cholesky factor's diagonal too, are half-normal.  The rest of the
        factor is normal, and so are loadings.
        """
        widths = self.dim if self.kind in ("full", "low-rank") else self.size
        others = self.size - widths
        return float(widths * np.log(np.pi / 2) + others * np.log(2 * np.pi)) / 2

    @property
    def numbers_of_a_width(self) -> int:
        """How many free numbers a width of zero takes away."""
        return {"full": self.dim, "low-rank": self.rank + 1, "common": 2}.get(self.kind, 1)

    @property
    def critical_loss(self) -> float:
        """The loss of log evidence above which a width of zero is ruled out, at 2.5 %.

        A zero width takes q free numbers away, one of them at its boundary.  Twice the loss is
        then an even mixture of chi-squared with q - 1 and with q degrees of freedom.  For q = 1
        the loss is 1.92.
        """
        q = self.numbers_of_a_width
        if q == 1:
            return float(chdtri(1, 0.05)) / 2
        from scipy.optimize import brentq  # slow to import

        def excess(twice: float) -> float:
            return float(chdtrc(q - 1, twice) + chdtrc(q, twice)) / 2 - 0.025

        return float(brentq(excess, 0.0, 10.0 * q + 20.0)) / 2

    def maximise(self, scatter: Matrix, count: int, weak: WeakPrior, cov: Matrix) -> Matrix:
        """The M-step: argmax of -(count log det + tr Sigma^-1 scatter) / 2 + the weak prior.

        The best Sigma has the scatter's eigenvectors.  With a part in common it is no argmax, but
        one step towards it from `cov`, by EM over that part.  With neither tasks nor a weak prior
        nothing says what Sigma is.
        """
        if self.kind == "common":
            return self._common_step(scatter, count, weak, cov)
        if self.kind == "full":
            values, vectors = np.linalg.eigh(scatter)
            roots = self._kept(np.maximum(values, 0.0), count, weak)
            return not_singular((vectors * roots) @ vectors.T)
        along = scatter if self.is_diagonal else np.diagonal(scatter)
        if self.kind == "scalar":
            along = np.full(self.dim, along.mean())
        return self._diagonal(self._kept(np.maximum(along, 0.0), count, weak))

    def _kept(self, scatter: Vector, count: int, weak: WeakPrior) -> Vector:
        """The best variances, kept within the bounds of the search."""
        best = weak.best_variances(scatter, count)
        kept: Vector = np.clip(best, np.exp(-2 * LARGEST_LOG_WIDTH), np.exp(2 * LARGEST_LOG_WIDTH))
        return kept

    def _common_step(self, scatter: Matrix, count: int, weak: WeakPrior, cov: Matrix) -> Matrix:
        """A better diag(v) + c, by the moments of the common part l given theta - mu."""
        parts = parts_in_common(cov)
        if parts is None:  # a width that is held near zero
            return cov
        regression = parts[1] * np.linalg.solve(cov, np.ones(self.dim))  # of l on theta - mu
        along = scatter @ regression
        left = max(parts[1] * (1 - regression.sum()), 0.0)  # the variance of l that remains
        common = regression @ along + count * left
        own = np.diagonal(scatter) - 2 * along + common
        best = self._kept(np.maximum(np.append(own, common), 0.0), count, weak)
        return not_singular(np.diag(best[:-1]) + best[-1])

    def _diagonal(self, variances: Vector) -> Matrix:
        return variances if self.is_diagonal else np.diag(variances)

    def _lower(self, free: Vector) -> Matrix:
        lower = np.zeros((self.dim, self.dim))
        lower[np.tril_indices(self.dim)] = free
        np.fill_diagonal(lower, np.exp(np.diagonal(lower)))
        return lower

    def split(self, free: Vector) -> tuple[Matrix, Vector]:
        """The loadings, (d, rank), and log psi of low rank."""
        cut = self.dim * self.rank
        return free[:cut].reshape(self.dim, self.rank), free[cut:]


def not_singular(cov: Matrix) -> Matrix:
    """The covariance, with eigenvalues raised where rounding might take it for singular."""
    values, vectors = np.linalg.eigh(cov)
    least = 8 * len(cov) * np.finfo(float).eps * values[-1]
    if values[0] > least / 4:
        return cov
    kept: Matrix = vectors * np.maximum(values, least) @ vectors.T
    return (kept + kept.T) / 2


def _beside(cov: Matrix, own: Vector, shared: float) -> Matrix:
    """`not_singular` of diag(own) and a part of this trace, by a bound where that is enough.

    No eigenvalue is below the least of `own`.
    """
    rounding = 2 * len(cov) * np.finfo(float).eps * (own.max() + shared)
    return cov if own.min() > rounding else not_singular(cov)


def _factored(cov: Matrix, loading: Matrix, own: Vector) -> tuple[Matrix, Vector]:
    """B and psi^2 nearer to B B' + diag(psi^2) = cov, by EM for factor analysis."""
    variances = np.diagonal(cov)
    for _ in range(_FACTOR_STEPS):
        regression = np.linalg.solve(loading @ loading.T + np.diag(own), loading).T  # (rank, d)
        seen = cov @ regression.T  # E theta z'
        scatter = np.eye(len(regression)) - regression @ loading + regression @ seen  # E z z'
        loading = np.linalg.solve(scatter, seen.T).T
        own = np.maximum(variances - (loading * seen).sum(1), 1e-4 * variances)
    return loading, own
