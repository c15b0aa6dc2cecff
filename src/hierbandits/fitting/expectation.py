"""The E-step: the exact evidence of a log and its slopes, from per-task sums alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import condition, square_root, squared, times, transposed
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.factored_tasks import FactoredTasks
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.types import Indices, Matrix, Vector

_CHUNK = 1 << 22  # numbers in one batched array: 32 MiB


@dataclass(frozen=True, slots=True, eq=False)
class HierarchyParts:
    """The parts of a two-level hierarchy, unchecked; covariances are (d, d), or diagonals."""

    hyper_mean: Vector
    hyper_cov: Matrix
    task_cov: Matrix
    noise_var: float | Vector  # one for all rewards, or one for each arm, (K,)
    factor: tuple[Vector, Matrix] | None = None
    """v and G of task_cov = diag(v) + G G', if known; G is (d,) or (d, rank)."""
    hyper_factor: tuple[Vector, Matrix] | None = None  # the same of hyper_cov

    def factor_of_tasks(self) -> tuple[Vector, Matrix] | None:
        """v and G, if task_cov is known to have that form."""
        if self.factor is not None or self.task_cov.ndim == 1:
            return self.factor
        parts = parts_in_common(self.task_cov)
        return None if parts is None else (parts[0], np.full(len(parts[0]), np.sqrt(parts[1])))


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """The log evidence, its derivatives, and what the M-step needs.

    By Fisher's identity the derivatives of the evidence are those of the expected complete log
    density.  For a Gaussian theta ~ N(mean, Sigma) seen through likelihoods,

        d log p / d Sigma = slope = sum (u u' - C + C Cov C) / 2
        E sum (theta - mean)(theta - mean)' = count * Sigma + 2 Sigma slope Sigma

    The slope needs no inverse of Sigma; u is Sigma^-1 times the posterior mean's step from its
    parent's.
    """

    log_evidence: float
    task_cov_slope: Matrix  # d log p / d task_cov, (d, d), or (K,) if diagonal
    num_tasks: int
    square: Vector  # E sum (y - x @ theta)^2, (1,); of each arm, (K,), if each has its noise
    num_events: Vector  # (1,), or (K,)
    hyper_cov_slope: Matrix
    hyper_mean_slope: Vector  # d log p / d hyper_mean, (d,)
    hyper_means: Matrix  # mu_bar, (P, d)
    hyper_covs: Matrix  # of mu given the rewards, (P, d, d), or (P, K) if diagonal

    def task_scatter(self, cov: Matrix) -> Matrix:
        """E sum_s (theta_s - mu)(theta_s - mu)' at task_cov."""
        return _scatter(cov, self.task_cov_slope, self.num_tasks)

    def hyper_scatter(self, cov: Matrix, hyper_mean: Vector, new_mean: Vector) -> Matrix:
        """E sum_p (mu_p - new_mean)(mu_p - new_mean)' at hyper_cov and hyper_mean."""
        count = len(self.hyper_means)
        about = _scatter(cov, self.hyper_cov_slope, count)
        moved = hyper_mean - new_mean
        steps = (self.hyper_means - hyper_mean).sum(0)
        shift: Matrix
        if cov.ndim == 1:
            shift = 2 * moved * steps + count * moved**2
        else:
            cross = np.outer(steps, moved)
            shift = cross + cross.T + count * np.outer(moved, moved)
        return about + shift


@dataclass(frozen=True, slots=True, eq=False)
class _Tasks:
    """A chunk of tasks in the coordinates of a root L of task_cov."""

    rows: slice  # of the sums
    population: Indices  # of each task
    data: Matrix  # H = L' X'X L / sigma^2
    weighted: Vector  # g = L' X'Y / sigma^2
    seen: Matrix  # L' C L = (I + H)^-1 H
    step: Vector  # (I + H)^-1 g
    log_det: Vector  # log det (I + H)


def e_step(
    hierarchy: HierarchyParts,
    sums: TaskSums,
    population: Indices,
    num_populations: int,
    squares: Vector | None = None,
) -> Expectation:
    """The evidence of the sums and its slopes; `population`, of each task, never falls.

    Where each arm has its noise, `squares` has the sum of its squared rewards, (K,).
    """
    noise_var = np.atleast_1d(hierarchy.noise_var)
    if squares is None:
        squares, num_events = sums.yy.sum(keepdims=True), sums.n.sum(keepdims=True)
    else:
        num_events = sums.xx.sum(0)
    tasks: _WholeTasks | FactoredTasks
    factor = hierarchy.factor_of_tasks() if sums.is_armed else None
    if factor is None:
        tasks = _WholeTasks(hierarchy, sums, population)
    else:
        tasks = FactoredTasks.of(sums, population, noise_var, *factor)
    seen, weighted = tasks.about_mu(num_populations)
    left = float((squares / noise_var).sum()) - tasks.explained
    mean = np.broadcast_to(hierarchy.hyper_mean, weighted.shape)
    factors = np.broadcast_to(square_root(hierarchy.hyper_cov), seen.shape)
    after, factors, log_det = condition(mean, factors, seen, weighted)
    residual = weighted - times(seen, mean)
    left -= float((mean * (weighted + residual)).sum() + (residual * (after - mean)).sum())
    count = float(num_events.sum())
    log_var = tasks.log_det + float(log_det.sum() + (num_events * np.log(noise_var)).sum())
    cov = squared(factors, diagonal=hierarchy.task_cov.ndim == 1)
    mean_slope = weighted - times(seen, after)  # of each population
    task_cov_slope, about_mean = tasks.slopes(after, cov)
    return Expectation(
        log_evidence=-0.5 * (count * np.log(2 * np.pi) + log_var + left),
        task_cov_slope=task_cov_slope,
        num_tasks=len(sums.n),
        square=squares + about_mean * noise_var,
        num_events=num_events,
        hyper_cov_slope=_cov_slope(mean_slope, seen, cov),
        hyper_mean_slope=mean_slope.sum(0),
        hyper_means=after,
        hyper_covs=cov,
    )


class _WholeTasks:
    """Tasks with any task_cov, integrated out in the coordinates of a root L of it."""

    def __init__(self, hierarchy: HierarchyParts, sums: TaskSums, population: Indices) -> None:
        self._hierarchy, self._sums, self._population = hierarchy, sums, population
        cov = hierarchy.task_cov
        self._root = np.sqrt(cov) if cov.ndim == 1 else np.linalg.cholesky(cov)
        few = len(sums.n) * self._root.size <= _CHUNK
        self._kept = list(self._chunks()) if few else None
        self.log_det, self.explained = 0.0, 0.0

    def about_mu(self, num_populations: int) -> tuple[Matrix, Matrix]:
        """What the tasks of each population say about mu; `log_det` and `explained` follow."""
        root = self._root
        seen: Matrix = np.zeros((num_populations, *root.shape))
        weighted: Matrix = np.zeros((num_populations, root.shape[0]))
        for part in self._parts():
            _add(seen, part.population, part.seen)
            _add(weighted, part.population, part.step)
            self.log_det += float(part.log_det.sum())
            self.explained += float((part.weighted * part.step).sum())
        seen = _from_root_coordinates(root, seen)
        return seen, _from_root_coordinates(root, weighted, vector=True)

    def slopes(self, hyper_means: Matrix, hyper_covs: Matrix) -> tuple[Matrix, Vector]:
        """d log p / d task_cov, and E sum (y - x @ theta)^2 - y^2 in units of the noise variance.

        The second is (1,), or (K,) where each arm has its noise.
        """
        root, diagonal = self._root, self._root.ndim == 1
        centre = hyper_means / root if diagonal else np.linalg.solve(root, hyper_means.T).T
        around_hyper = hyper_covs / root**2 if diagonal else _whitened(root, hyper_covs)
        slope: Matrix = np.zeros(root.shape)
        by_arm = np.ndim(self._hierarchy.noise_var) == 1
        square: Vector = np.zeros(len(root) if by_arm else 1)
        for part in self._parts():
            at, around = centre[part.population], around_hyper[part.population]
            u = part.step - times(part.seen, at)
            slope = slope + _cov_slope(u, part.seen, around)
            theta = at + u
            if by_arm and not diagonal:
                square += self._squares_of_arms(part, theta, around)
                continue
            squares = theta * (times(part.data, theta) - 2 * part.weighted)
            trace = part.seen if diagonal else np.diagonal(part.seen, axis1=-2, axis2=-1)
            through = part.seen**2 if diagonal else part.seen @ part.seen
            spread = (part.seen - through) * around
            if by_arm:
                square += (squares + trace + spread).sum(0)
            else:
                square += squares.sum() + trace.sum() + spread.sum()
        return _from_root_coordinates(root, slope[None])[0], square

    def _squares_of_arms(self, part: _Tasks, theta: Matrix, around: Matrix) -> Vector:
        """What correlated arms add to the squares of `slopes`.

        With D the arms' precisions, D Var(theta given mu) = C Sigma_0, and the gain of mu is
        I - Sigma_0 C: nothing cancels where there are many rewards.
        """
        root, noise_var = self._root, self._hierarchy.noise_var
        xx, xy = self._sums.xx[part.rows] / noise_var, self._sums.xy[part.rows] / noise_var
        usual = theta @ root.T
        turned = part.seen + part.seen @ around @ (np.eye(len(root)) - part.seen)
        spread = np.diagonal(np.linalg.solve(root.T, turned.sum(0)) @ root.T)
        squares: Vector = (usual * (xx * usual - 2 * xy)).sum(0) + spread
        return squares

    def _parts(self) -> Iterable[_Tasks]:
        return self._chunks() if self._kept is None else self._kept

    def _chunks(self) -> Iterator[_Tasks]:
        return _chunks(self._root, self._hierarchy, self._sums, self._population)


def _chunks(
    root: Matrix, hierarchy: HierarchyParts, sums: TaskSums, population: Indices
) -> Iterator[_Tasks]:
    size = max(1, _CHUNK // max(1, root.size))
    for start in range(0, len(sums.n), size):
        rows = slice(start, start + size)
        xx, xy = sums.xx[rows] / hierarchy.noise_var, sums.xy[rows] / hierarchy.noise_var
        seen: Matrix
        step: Matrix
        log_det: Vector
        if root.ndim == 1:
            data, weighted = root**2 * xx, root * xy
            inner = 1.0 + data
            seen, step, log_det = data / inner, weighted / inner, np.log1p(data).sum(-1)
        else:
            along = xx[:, :, None] * root if sums.is_armed else xx @ root  # X'X L
            data, weighted = root.T @ along, xy @ root
            seen, step, log_det = _shrunk(data, weighted)
        yield _Tasks(rows, population[rows], data, weighted, seen, step, log_det)


def _shrunk(data: Matrix, weighted: Vector) -> tuple[Matrix, Vector, Vector]:
    """(I + H)^-1 H, (I + H)^-1 g and log det (I + H), also where rounding makes I + H singular."""
    inner = np.eye(data.shape[-1]) + data
    try:
        solved = np.linalg.solve(inner, np.concatenate([data, weighted[..., None]], -1))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((data + transposed(data)) / 2)
        values = np.maximum(values, 0.0)
        across = transposed(vectors)
        seen = vectors * (values / (1 + values))[..., None, :] @ across
        step = times(vectors, times(across, weighted) / (1 + values))
        return seen, step, np.log1p(values).sum(-1)
    seen, step = solved[..., :-1], solved[..., -1]
    return (seen + transposed(seen)) / 2, step, np.linalg.slogdet(inner)[1]


def _add(total: Matrix, population: Indices, part: Matrix) -> None:
    """Add each task's part to its population's row; populations are contiguous."""
    if len(total) == 1:
        total[0] += part.sum(0)
        return
    starts = np.flatnonzero(np.diff(population, prepend=-1))
    total[population[starts]] += np.add.reduceat(part, starts, axis=0)


def _cov_slope(u: Vector, seen: Matrix, cov: Matrix) -> Matrix:
    """Half the sum over rows of u u' - C + C Cov C."""
    twice: Matrix
    if seen.ndim == 2:
        twice = (u**2 - seen + seen**2 * cov).sum(0)
    else:
        through = seen @ cov
        dim = u.shape[1]
        last = through.transpose(1, 0, 2).reshape(dim, -1) @ seen.reshape(-1, dim)
        twice = u.T @ u - seen.sum(0) + (last + last.T) / 2
    return twice / 2


def _from_root_coordinates(root: Matrix, part: Matrix, *, vector: bool = False) -> Matrix:
    """v or C in the usual coordinates, from those of L: L^-T v, or L^-T C L^-1."""
    if root.ndim == 1:
        return part / (root if vector else root**2)
    inverse = np.linalg.inv(root)
    return part @ inverse if vector else inverse.T @ part @ inverse


def _whitened(root: Matrix, cov: Matrix) -> Matrix:
    inverse = np.linalg.inv(root)
    return inverse @ cov @ inverse.T


def _scatter(cov: Matrix, slope: Matrix, count: int) -> Matrix:
    return count * cov + 2 * (cov**2 * slope if cov.ndim == 1 else cov @ slope @ cov)
