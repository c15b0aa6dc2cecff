"""Tasks that the others do not explain."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc

from hierbandits.algebra import times, transposed
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.leave_one_out import without_each
from hierbandits.learning.noise_shape import NoiseShape
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Indices, Mask, Matrix, Name, Vector

FALSE_ALARMS = 0.05  # the share of the flagged tasks that may be, on average
_FEW = 3  # names in a line
_RANK = 1e-10  # relative eigenvalues below this are rounding


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outliers:
    """The surprise of each task's data given all other tasks.

    With mu given the others ~ N(m, S), r = X'(Y - X m) / sigma^2 has the covariance
    G + G (Sigma_0 + S) G, so that r' cov^-1 r is chi-squared with the rank of G = X'X / sigma^2
    for its degrees of freedom.  Where the noise is skewed or has tails, p-values are those of the
    normal numbers that are as rare as the residuals, see `NoiseShape`; `surprise` is as it is.
    Tasks are flagged by Benjamini and Hochberg's rule at FALSE_ALARMS.
    """

    tasks: tuple[Name, ...]
    coordinates: tuple[Name, ...]
    surprise: Vector  # (tasks,)
    freedom: Indices  # degrees of freedom, (tasks,)
    p_value: Vector
    adjusted: Vector  # the least share of false alarms at which the rule flags the task
    flagged: Mask  # whether that is at most FALSE_ALARMS
    odd: Indices  # each task's most surprising coordinate, (tasks,)
    odd_z: Vector  # and its standardised residual, (tasks,)
    others_mean: Matrix  # of theta by what the others say, for `flagged_places`, (flagged, d)
    others_cov: Matrix  # its covariance, (flagged, d, d), or (flagged, d) if all are diagonals

    @classmethod
    def of(
        cls,
        prior: GaussianHierarchy,
        sums: TaskSums,
        posteriors: TaskPosteriors,
        tasks: tuple[Name, ...],
        coordinates: tuple[Name, ...],
        shape: NoiseShape | None = None,
    ) -> "Outliers":
        """Compare each task's data with what all other tasks say of it.

        `shape` is that of the noise in every task's coordinates; None if it is Gaussian.
        """
        noise_var = prior.noise_std**2
        armed = sums.is_armed
        if armed and not posteriors.is_diagonal:
            sums = sums.with_unit_vectors()
        data = sums.xx / noise_var
        mean, cov = without_each(prior, sums, posteriors)
        task_cov = cov + prior.task_cov  # of theta, given the other tasks
        residual = sums.xy / noise_var - times(data, mean)
        if task_cov.ndim == 2:
            surprise, freedom, z, rarity = _diagonal_surprise(data, task_cov, residual, shape)
        else:
            surprise, freedom, z, rarity = _dense_surprise(
                data, task_cov, residual, shape, armed=armed
            )
        p_value = chdtrc(np.maximum(freedom, 1).astype(float), rarity)
        p_value = np.where(freedom > 0, p_value, 1.0)
        adjusted = benjamini_hochberg(p_value)
        odd = np.abs(z).argmax(1)
        flagged = adjusted <= FALSE_ALARMS
        places = _in_order(p_value, flagged)
        return cls(
            tasks=tasks,
            coordinates=coordinates,
            surprise=surprise,
            freedom=freedom,
            p_value=p_value,
            adjusted=adjusted,
            flagged=flagged,
            odd=odd,
            odd_z=z[np.arange(len(z)), odd],
            others_mean=mean[places],
            others_cov=task_cov[places],
        )

    @property
    def flagged_places(self) -> Indices:
        """Where the flagged tasks are in `tasks`, the most surprising first, (flagged,)."""
        return _in_order(self.p_value, self.flagged)

    @property
    def flagged_tasks(self) -> list[Name]:
        """The flagged tasks, the most surprising first."""
        return [self.tasks[s] for s in self.flagged_places]

    def __repr__(self) -> str:
        flagged = [shown_name(name) for name in self.flagged_tasks]
        named = f": {', '.join(flagged[:_FEW])}" if flagged else ""
        more = f" and {len(flagged) - _FEW:,} more" if len(flagged) > _FEW else ""
        return f"<Outliers: {len(flagged):,} of {len(self.tasks):,} tasks stand out{named}{more}>"

    def _repr_html_(self) -> str:
        rows = [
            [shown_name(self.tasks[s]), shown_name(self.coordinates[self.odd[s]]),
             f"{self.odd_z[s]:+.2g}", f"{self.p_value[s]:.2g}", "yes" if self.flagged[s] else ""]
            for s in np.argsort(self.p_value, kind="stable").tolist()
        ]  # fmt: skip
        columns = ("task", "most surprising", "z", "p", "stands out")
        return notebook_card(repr(self), (), [("Least explained by the others", columns, rows)])

    def frame(self) -> Any:
        """One row for each task, as a polars frame."""
        import polars as pl

        return pl.DataFrame(
            {
                "task": list(self.tasks),
                "surprise": self.surprise,
                "degrees_of_freedom": self.freedom,
                "p_value": self.p_value,
                "adjusted_p_value": self.adjusted,
                "flagged": self.flagged,
                "most_surprising": [str(self.coordinates[j]) for j in self.odd],
                "z": self.odd_z,
            }
        )


def _in_order(p_value: Vector, flagged: Mask) -> Indices:
    order = np.argsort(p_value, kind="stable")
    return order[flagged[order]]


def benjamini_hochberg(p_value: Vector) -> Vector:
    """Adjusted p-values: the least share of false alarms at which the step-up rule rejects each."""
    order = np.argsort(p_value, kind="stable")[::-1]
    size = p_value.size
    raw = p_value[order] * size / np.arange(size, 0, -1)
    adjusted = np.empty(size)
    adjusted[order] = np.minimum(np.minimum.accumulate(raw), 1.0)
    return adjusted


def _diagonal_surprise(
    data: Matrix, task_cov: Matrix, residual: Matrix, shape: NoiseShape | None
) -> tuple[Vector, Indices, Matrix, Vector]:
    """The surprise, its degrees of freedom, standardised residuals, and the surprise by `shape`."""
    seen, inner = data > 0, 1.0 + data * task_cov
    z = np.where(seen, residual / np.sqrt(np.where(seen, data * inner, 1.0)), 0.0)
    normal = z if shape is None else np.where(seen, shape.normal_numbers(z, 1 / inner), 0.0)
    return (z**2).sum(1), seen.sum(1), z, (normal**2).sum(1)


def _dense_surprise(
    data: Matrix, task_cov: Matrix, residual: Matrix, shape: NoiseShape | None, *, armed: bool
) -> tuple[Vector, Indices, Matrix, Vector]:
    """In the eigenvectors of G, with features scaled alike, G is the identity on its range."""
    diagonal = np.diagonal(data, axis1=1, axis2=2)
    size = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))  # (tasks, d)
    values, vectors = np.linalg.eigh(data / size[:, :, None] / size[:, None, :])
    seen = values > _RANK * np.maximum(values[:, -1:], 1e-300)
    roots = np.sqrt(np.where(seen, values, 0.0))
    scaled = transposed(vectors) * size[:, None, :]  # V' D: G = (root V' D)' (root V' D)
    along = scaled * roots[:, :, None]
    inner = np.eye(data.shape[1]) + along @ task_cov @ transposed(along)

    def whitened(part: Matrix) -> Matrix:
        turned = np.einsum("sij,sj->si", transposed(vectors), part / size)
        turned = np.where(seen, turned / np.where(seen, roots, 1.0), 0.0)
        along_axes: Matrix = np.einsum("sji,sj->si", axes, turned) / np.sqrt(lengths)
        return along_axes

    lengths, axes = np.linalg.eigh(inner)
    white = whitened(residual)
    var = diagonal + np.einsum("sij,sjk,ski->si", data, task_cov, data)
    z = np.where(diagonal > 0, residual / np.sqrt(np.where(diagonal > 0, var, 1.0)), 0.0)
    surprise = (white**2).sum(1)
    if shape is None:
        rarity = surprise
    elif armed:
        share = np.where(diagonal > 0, diagonal / np.where(diagonal > 0, var, 1.0), 0.0)
        rarity = (whitened(shape.normal_numbers(z, share) * np.sqrt(var)) ** 2).sum(1)
    else:  # one row can be behind all of it, and be skewed to either side
        share = (white**2 / lengths).sum(1) / np.maximum(surprise, 1e-300)
        rarity = shape.normal_numbers(np.sqrt(surprise)[:, None], share[:, None])[:, 0] ** 2
    return surprise, seen.sum(1), z, rarity
