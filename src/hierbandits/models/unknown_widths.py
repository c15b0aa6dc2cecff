"""What is assumed where widths are unknown: the form alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import boolean, count, frozen, positive, real_array, reduce_frozen
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.stated_widths import usual
from hierbandits.types import Name, Vector

FACTORS, FACTOR_ARMS = 1, 16
"""So many factors, which each arm has in its own measure, are learned of up to so many arms."""

COMMON_ARMS = 128
"""Up to so many arms, what the arms of a task have in common is learned; more are independent."""

NOISE_RANGE = 1e-20, 1e20


@dataclass(frozen=True, slots=True, eq=False)
class UnknownWidths:
    """Many tasks that share one unknown mean, as in `GaussianHierarchy`, with unknown widths.

    Unknown are a width for each coordinate of the tasks and all correlations (with arms, the width
    of what the arms of a task have in common and, if they are few, a factor and how much of it each
    arm has), the width of the mean, and the noise unless `noise_std` states it; see
    `kernels.width_draws` and `kernels.arm_width_draws` for their priors, which have no scale of
    their own.  `learned_from` are the totals of the log that the mean was learned from, if any.
    """

    hyper_mean: Vector  # mu_q, (d,); with arms, up to a number that all arms share
    is_armed: bool
    noise_std: float | None
    learned_from: LogTotals | None = None

    __reduce__ = reduce_frozen

    def __post_init__(self) -> None:
        mean = real_array("hyper_mean", self.hyper_mean, (None,))
        if mean.size == 0:
            raise ValueError("hyper_mean must have at least one entry, got none")
        object.__setattr__(self, "hyper_mean", frozen(mean))
        boolean("is_armed", self.is_armed)
        if self.noise_std is not None:
            noise = float(positive("noise_std", self.noise_std, ()))
            if not NOISE_RANGE[0] <= noise <= NOISE_RANGE[1]:
                raise ValueError(
                    f"noise_std must be in [1e-20, 1e20] with widths unknown, got {noise}"
                )
            object.__setattr__(self, "noise_std", noise)

    @classmethod
    def of(
        cls,
        dim: int,
        *,
        armed: bool,
        noise_std: float | None = None,
        hyper_mean: ArrayLike | None = None,
        learned_from: LogTotals | None = None,
    ) -> "UnknownWidths":
        """The assumption, checked; `hyper_mean` is zero unless given."""
        dim, armed = count("dim", dim, least=1), boolean("armed", armed)
        mean = np.zeros(dim) if hyper_mean is None else hyper_mean
        return cls(real_array("hyper_mean", mean, (dim,)), armed, noise_std, learned_from)

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return int(self.hyper_mean.size)

    @property
    def num_levels(self) -> int:
        """Populations and their tasks."""
        return 2

    @property
    def arms(self) -> None:
        """Its arms have no names."""
        return

    def reordered(self, arms: Sequence[Name]) -> "UnknownWidths":
        """Refused, since no order of arms without names can be told from another."""
        raise ValueError(
            f"arms must not be put in order where a prior names none, got {arms!r:.80}"
        )

    @property
    def widths_known(self) -> bool:
        """Never: a belief learns them."""
        return False

    @property
    def is_diagonal(self) -> bool:
        """Whether tasks are taken for independent in all coordinates: there are too many arms."""
        return self.is_armed and self.dim > COMMON_ARMS

    @property
    def num_factors(self) -> int:
        """How many factors the arms of a task share beside their part in common."""
        return factors_of(self.dim) if self.is_armed else 0

    def hierarchy(self) -> GaussianHierarchy:
        """A hierarchy of this form, with widths of one: what is believed before any reward."""
        one = np.ones(self.dim) if self.is_diagonal else np.eye(self.dim)
        common = 1.0 if self.is_armed and not self.is_diagonal else 0.0
        return self.with_widths(
            one, one + common, 1.0 if self.noise_std is None else self.noise_std
        )

    def with_widths(
        self, hyper_cov: ArrayLike, task_cov: ArrayLike, noise_std: float, shift: float = 0.0
    ) -> GaussianHierarchy:
        """The hierarchy of these widths, its mean shifted by a number."""
        return GaussianHierarchy.of_levels(
            hyper_mean=self.hyper_mean + shift,
            covs=[hyper_cov, task_cov],
            noise_std=noise_std,
            armed=self.is_armed,
        )

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> "UnknownWidths":
        """The same with one more arm; its hyper-mean is the mean of the others unless given."""
        if not self.is_armed:
            raise ValueError(
                f"name must be of an arm without features, got {name!r:.80} for {self}"
            )
        for width, std in (("hyper_std", hyper_std), ("task_std", task_std)):
            if std is not None:
                raise ValueError(f"{width} must not be given where widths are unknown, got {std!r}")
        mean = usual(self.hyper_mean) if hyper_mean is None else hyper_mean
        means = np.append(self.hyper_mean, real_array("hyper_mean", mean, ()))
        return UnknownWidths.of(
            means.size,
            armed=True,
            noise_std=self.noise_std,
            hyper_mean=means,
            learned_from=self.learned_from,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        parts = {
            "armed": self.is_armed,
            "hyper_mean": self.hyper_mean.tolist(),
            "noise_std": self.noise_std,
        }
        if self.learned_from is not None:
            parts["learned_from"] = self.learned_from.to_dict()
        return parts

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "UnknownWidths":
        """What `to_dict` described, checked again."""
        try:
            mean, armed, noise = parts["hyper_mean"], parts["armed"], parts["noise_std"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"parts must be of a model: {error!r} is malformed") from None
        log = parts.get("learned_from")
        learned_from = None if log is None else LogTotals.from_dict(log)
        return cls(mean, boolean("armed", armed), noise, learned_from)

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        noise = "unknown" if self.noise_std is None else f"{self.noise_std:g}"
        return f"UnknownWidths({form}, noise_std={noise})"


def factors_of(num_arms: int) -> int:
    """How many factors are learned of so many arms."""
    return FACTORS if 1 < num_arms <= FACTOR_ARMS else 0
