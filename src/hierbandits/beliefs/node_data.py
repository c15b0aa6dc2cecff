"""What data tell a node, and what the node tells its parent of them."""

from typing import NamedTuple

import numpy as np

from hierbandits.algebra import condition, settle, squared, times, transposed
from hierbandits.beliefs.levels import Levels
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Indices, Mask, Matrix, Vector

_MOST_SPREAD = 1e6
"""tr W tr (I + W)^-1 up to which W (I + W)^-1 has digits enough, of which it leaves ten."""


def information_of(levels: Levels, rows: Indices, sums: TaskSums) -> tuple[Matrix, Matrix]:
    """A = X'X / sigma^2 and B = X'y / sigma^2 of tasks, in the form of their levels."""
    if sums.is_armed and not levels.is_diagonal and not levels.form.has_common_part:
        sums = sums.with_unit_vectors()
    noise_var = levels.noise_var[rows]
    shape = (len(rows), *[1] * (sums.xx.ndim - 1))
    return sums.xx / noise_var.reshape(shape), sums.xy / noise_var[:, None]


class NodeData(NamedTuple):
    """What the sums A = X'X / sigma^2 and B = X'y / sigma^2 say, a row for each node.

    Given its parent's parameter, a node's is theta = theta_parent + T z with the coordinates z of
    `Levels`.  With theta integrated out, the data have the density exp(b' t - t' C t / 2) of
    t = theta_parent.
    """

    mean: Matrix  # of z, if theta_parent were zero
    root: Matrix  # a square root of the covariance of z
    log_det: Vector  # log det(I + Sigma A)
    precision: Matrix  # C = A (I + Sigma A)^-1
    weighted: Matrix  # b = (I + A Sigma)^-1 B

    @classmethod
    def of(cls, levels: Levels, rows: Indices, precision: Matrix, weighted: Matrix) -> "NodeData":
        """Of nodes whose levels have these rows in the table, all below roots; no common part.

        C and b have the digits of A and B, however narrow or wide Sigma is: nothing is subtracted,
        and Sigma has no inverse here.
        """
        if not levels.is_diagonal:
            return _of_matrices(levels, rows, precision, weighted)
        own, start = levels.maps[rows, 0], levels.start[rows]
        along = own * weighted
        mean, root, log_det = condition(np.zeros_like(along), start, own**2 * precision, along)
        gain = 1 / (1 + (own * start) ** 2 * precision)
        return cls(mean, root, log_det, gain * precision, gain * weighted)


def _of_matrices(levels: Levels, rows: Indices, precision: Matrix, weighted: Matrix) -> NodeData:
    is_hard = ~levels.is_even[rows]
    parts = NodeData(
        np.empty_like(weighted), np.empty_like(precision), np.empty(len(rows)),
        np.empty_like(precision), np.empty_like(weighted),
    )  # fmt: skip
    if not is_hard.all():
        easy = ~is_hard
        told, unclear = _settled(levels, rows[easy], precision[easy], weighted[easy])
        is_hard[np.flatnonzero(easy)[unclear]] = True
        for part, other in zip(parts, told, strict=True):
            part[easy] = other
    if is_hard.any():
        told = _rotated(levels, rows[is_hard], precision[is_hard], weighted[is_hard])
        for part, other in zip(parts, told, strict=True):
            part[is_hard] = other
    return parts


def _settled(
    levels: Levels, rows: Indices, precision: Matrix, weighted: Vector
) -> tuple[NodeData, Mask]:
    """With W = S' A S and S S' = Sigma: C = S^-1' W (I + W)^-1 S^-1, and where that is unclear.

    S must not have columns of very different lengths.
    """
    start = levels.start[rows]
    whole, up = levels.maps[rows, 0] @ start, transposed(levels.maps[rows, 1]) @ start
    inner = transposed(whole) @ precision @ whole
    inner = (inner + transposed(inner)) / 2
    told = settle(inner, times(transposed(whole), weighted))
    spread = np.trace(inner, axis1=1, axis2=2) * (told.root**2).sum((1, 2))
    heard = up @ told.message @ transposed(up), times(up, told.mean)
    data = NodeData(times(start, told.mean), start @ told.root, told.log_det, *heard)
    return data, ~(spread <= _MOST_SPREAD)


def _rotated(levels: Levels, rows: Indices, precision: Matrix, weighted: Vector) -> NodeData:
    """The same by rotations of rows, where each keeps its own digits.

    With R'R = A and R'r = B, the data say R (theta_parent + S z) = r + noise, and z = noise before
    them.  Rotating these rows into a triangle on z leaves some without z: what the parent hears.
    """
    which, place = np.unique(rows, return_inverse=True)
    roots = [_wide_first(levels, row) for row in which]
    whole, start = (np.array(parts)[place] for parts in zip(*roots, strict=True))
    number, dim = weighted.shape
    root, told = _data_root(precision, weighted)
    one = np.broadcast_to(np.eye(dim), root.shape)
    table = np.zeros((number, 2 * dim, 2 * dim + 1))
    table[:, :dim, :dim], table[:, :dim, dim:-1], table[:, :dim, -1] = root @ whole, root, told
    table[:, dim:, :dim] = one
    table = np.asarray(np.linalg.qr(table, mode="r"))
    inverse = np.linalg.solve(table[:, :dim, :dim], one)
    heard, rest = table[:, dim:, dim:-1], table[:, dim:, -1]
    return NodeData(
        times(start, times(inverse, table[:, :dim, -1])),
        start @ inverse,
        2 * np.log(np.abs(np.diagonal(table[:, :dim, :dim], axis1=1, axis2=2))).sum(1),
        squared(transposed(heard), diagonal=False),
        times(transposed(heard), rest),
    )


def _data_root(precision: Matrix, weighted: Vector) -> tuple[Matrix, Vector]:
    """R and r with R'R = A and R'r = B, by the eigenvectors of A with a unit diagonal.

    An eigenvalue that may be rounding counts as zero, and so does B along it, a product of A.
    """
    sizes = np.sqrt(np.maximum(np.diagonal(precision, axis1=1, axis2=2), 0.0))
    sizes = np.where(sizes > 0, sizes, 1.0)
    values, vectors = np.linalg.eigh(precision / (sizes[:, :, None] * sizes[:, None, :]))
    is_clear = values > sizes.shape[1] * np.finfo(float).eps * values[:, -1:]
    lengths = np.sqrt(np.where(is_clear, values, 1.0))
    along = times(transposed(vectors), weighted / sizes) / lengths
    root = np.where(is_clear, lengths, 0.0)[:, :, None] * transposed(vectors) * sizes[:, None, :]
    return root, np.where(is_clear, along, 0.0)


def _wide_first(levels: Levels, row: int) -> tuple[Matrix, Matrix]:
    """S with S S' = Sigma, and T^-1 S.

    S is triangular from the widest coordinate to the narrowest.  So no large column hides what a
    narrow coordinate has of its own.
    """
    own, start = levels.maps[row, 0], levels.start[row]
    if not levels.assumed[row, 1]:
        whole = own @ start  # which has small columns for narrow directions: they come last
        order = np.argsort(-(whole**2).sum(axis=0), kind="stable")
        return whole[:, order], start[:, order]
    cov = squared(start, diagonal=False)
    order = np.argsort(-np.diagonal(cov), kind="stable")
    whole = np.empty_like(cov)
    whole[order] = np.linalg.cholesky(cov[np.ix_(order, order)])
    return whole, whole
