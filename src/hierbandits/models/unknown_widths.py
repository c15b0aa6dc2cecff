"""What is assumed where widths are unknown: the form alone, and a lattice of possible widths."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import count, positive, real_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.stated_widths import usual
from hierbandits.types import Indices, Name, Vector

Point: TypeAlias = tuple[int, int]  # steps of the task width and of the hyper-width

TASK_RATIO, HYPER_RATIO, UNIT_RATIO = 2.0, 4.0, 4.0  # between neighbours on the lattice
TASK_STEPS, HYPER_STEPS = range(-9, 0), range(2)  # the first widths
TASK_RANGE, HYPER_RANGE = range(-20, 15), range(-8, 9)
LARGEST_RATIO = 2.0**20  # of hyper_std to task_std; beyond it no digits are left
UNITS = 1e-23, 1e23  # the least and the greatest unit, in units of the noise
LARGEST_FEATURE = 1e22  # in units of the noise
TILT = 1 / 3  # the prior weight of a task width falls as task_std^-TILT
TAIL = np.log(4.0)  # each step beyond the first widths costs this much log weight more


@dataclass(frozen=True, slots=True, eq=False)
class UnknownWidths:
    """Many tasks that share one unknown mean, as in `GaussianHierarchy`, with unknown widths.

    In units of the noise and of each feature, the widths are points of a lattice,

        task_std  = TASK_RATIO^i      hyper_std = HYPER_RATIO^j

    with prior weight task_std^-TILT.  Every step beyond TASK_STEPS and HYPER_STEPS divides the
    weight by four.  Without `noise_std` the noise is unknown too; its log is uniform.
    `learned_from` are the totals of the log that the mean was learned from, if any.
    """

    hyper_mean: Vector  # mu_q, (d,)
    is_armed: bool
    noise_std: float | None
    learned_from: LogTotals | None = None

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
        dim = count("dim", dim, least=1)
        mean = np.zeros(dim) if hyper_mean is None else hyper_mean
        noise = None if noise_std is None else float(positive("noise_std", noise_std, ()))
        if noise is not None and not 1e-20 <= noise <= 1e20:
            raise ValueError(f"noise_std must be in [1e-20, 1e20] with widths unknown, got {noise}")
        return cls(real_array("hyper_mean", mean, (dim,)), armed, noise, learned_from)

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
        """Never: a belief weighs the widths of the lattice."""
        return False

    @property
    def largest_feature(self) -> float:
        """The size above which features are refused, because no unit is as large."""
        return LARGEST_FEATURE * self._noise

    @property
    def unit_steps(self) -> tuple[int, int]:
        """The least and the greatest unit of a feature, as powers of UNIT_RATIO."""
        least, most = np.log(self._noise / np.array(UNITS)[::-1]) / np.log(UNIT_RATIO)
        return int(np.ceil(least)), int(np.floor(most))

    @property
    def _noise(self) -> float:
        return 1.0 if self.noise_std is None else self.noise_std

    def first_points(self) -> list[Point]:
        """The widths that a belief starts with."""
        return list(product(TASK_STEPS, HYPER_STEPS))

    def neighbours(self, point: Point) -> list[Point]:
        """The lattice points next to one, as far as the lattice goes."""
        i, j = point
        near = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
        return [
            (i, j)
            for i, j in near
            if i in TASK_RANGE
            and j in HYPER_RANGE
            and HYPER_RATIO**j <= LARGEST_RATIO * TASK_RATIO**i
        ]

    def log_prior(self, point: Point) -> float:
        """The log prior weight of a point, up to a constant."""
        beyond = 0
        for step, first in zip(point, (TASK_STEPS, HYPER_STEPS), strict=True):
            beyond += max(first[0] - step, step - first[-1], 0)
        return float(-TAIL * beyond - TILT * np.log(TASK_RATIO) * point[0])

    def hierarchy(self, point: Point, units: Indices) -> GaussianHierarchy:
        """The hierarchy of these widths; `units` are powers of UNIT_RATIO, (d,)."""
        noise = self._noise
        unit = noise / UNIT_RATIO**units
        task, hyper = unit * TASK_RATIO ** point[0], unit * HYPER_RATIO ** point[1]
        form = GaussianHierarchy.armed if self.is_armed else GaussianHierarchy.linear
        return form(
            self.dim, hyper_mean=self.hyper_mean, hyper_std=hyper, task_std=task, noise_std=noise
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
            raise ValueError(f"arms must not be added where they have features, got {self}")
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
        mean, armed = parts["hyper_mean"], parts["armed"]
        if not isinstance(armed, bool):
            raise ValueError(f"armed must be a boolean, got {armed!r}")
        log = parts.get("learned_from")
        return cls.of(
            len(mean),
            armed=armed,
            noise_std=parts["noise_std"],
            hyper_mean=mean,
            learned_from=None if log is None else LogTotals.from_dict(log),
        )

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        noise = "unknown" if self.noise_std is None else f"{self.noise_std:g}"
        return f"UnknownWidths({form}, noise_std={noise})"
