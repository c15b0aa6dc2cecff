"""What models have in common whose hyper-parameters are learned on a grid, arm by arm."""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import checked_names, count, frozen
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.stated_arms import names_of_arms, number_of_arms
from hierbandits.models.stated_widths import per_coordinate, usual
from hierbandits.types import Name, Vector

RESOLUTION = 32
"""The cells of a grid along each of its two axes."""

MOST_CELLS = 2**26
"""Of the grids of all arms of a population."""

_RANGES = {
    "hyper_mean": (-30.0, 30.0),
    "hyper_std": (1e-3, 5.0),
    "task_std": (1e-3, 100.0),
    "task_factor": (1.001, 100.0),
}


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class GridHierarchy(ABC):
    """Arms that are independent, each with an unknown mean m and an unknown width t of tasks.

        link(m) ~ N(hyper_mean, hyper_std^2)
        log t   ~ N(log task_std, log(task_factor)^2)

    `hyper_mean` and `hyper_std` are on the scale of the link; task_std is right to within
    `task_factor`, one standard deviation.  Each is one number, or one per arm.  `arms` are names,
    which also say how many there are.  The posterior of (m, t) of each arm is kept on a grid of
    resolution x resolution cells that moves to where it is.
    """

    FAMILY: ClassVar[RewardFamily]  # whose link it is, and which rewards there are
    LIKELIHOOD: ClassVar[int]  # which of the kernels' two

    hyper_mean: Vector  # (K,)
    hyper_std: Vector  # (K,)
    task_std: Vector  # (K,)
    task_factor: Vector  # (K,)
    resolution: int
    arms: tuple[Name, ...] | None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies are checked as files are."""
        return type(self).from_dict, (self.to_dict(),)

    def _assume(
        self,
        num_arms: int | None,
        arms: Sequence[Name] | None,
        resolution: int,
        parts: dict[str, ArrayLike],
    ) -> None:
        """Check every part and fill the fields."""
        size = number_of_arms(num_arms, arms)
        cells = count("resolution", resolution, least=8)
        if cells > 256:
            raise ValueError(f"resolution must be at most 256, got {cells}")
        if size * cells**2 > MOST_CELLS:
            raise ValueError(
                f"num_arms must be at most {MOST_CELLS // cells**2:,} at a resolution of {cells}, "
                f"got {size:,}"
            )
        for name, value in parts.items():
            low, high = _RANGES[name]
            numbers = per_coordinate(name, value, size, "num_arms")
            bad = np.flatnonzero((numbers < low) | (numbers > high))
            if bad.size:
                raise ValueError(f"{name} must be in [{low:g}, {high:g}], got {numbers[bad[0]]:g}")
            object.__setattr__(self, name, frozen(numbers))
        object.__setattr__(self, "resolution", cells)
        object.__setattr__(self, "arms", names_of_arms(arms, size, armed=True))

    @property
    def dim(self) -> int:
        """The number of arms K."""
        return int(self.hyper_mean.size)

    @property
    def num_levels(self) -> int:
        """Populations and their tasks."""
        return 2

    @property
    def is_armed(self) -> bool:
        """Always: features are arm indices."""
        return True

    @property
    def widths_known(self) -> bool:
        """Never: a belief learns them."""
        return False

    @property
    def learned_from(self) -> LogTotals | None:
        """None: what is assumed is no log's."""
        return None

    def reordered(self, arms: Sequence[Name]) -> Self:
        """The same model with its arms in this order; they must be the arms that it names."""
        names = checked_names("arms", arms)
        if self.arms is None or set(names) != set(self.arms):
            known = self.arms
            raise ValueError(f"arms must be those of the prior, {known!r:.80}, got {names!r:.80}")
        order = [self.arms.index(name) for name in names]
        return self._with({part: values[order] for part, values in self._parts()}, names)

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> Self:
        """The same with one more arm, the last; what is not given is as is usual for the others."""
        given = {"hyper_mean": hyper_mean, "hyper_std": hyper_std, "task_std": task_std}
        parts = {}
        for part, values in self._parts():
            own = given.get(part)
            parts[part] = np.append(values, usual(values) if own is None else own)
        return self._with(parts, None if self.arms is None else [*self.arms, name])

    def _parts(self) -> list[tuple[str, Vector]]:
        """The numbers of each arm, by name."""
        return [(name, getattr(self, name)) for name in _RANGES]

    def _with(self, parts: dict[str, Any], arms: Sequence[Name] | None) -> Self:
        twin = object.__new__(type(self))
        twin._assume(len(parts["hyper_mean"]), arms, self.resolution, parts)
        return twin

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        lists = {name: values.tolist() for name, values in self._parts()}
        names = None if self.arms is None else list(self.arms)
        return {**lists, "resolution": self.resolution, "arms": names}

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> Self:
        """What `to_dict` described, checked again."""
        try:
            own = {part.name: parts[part.name] for part in fields(cls)}
            size = len(own["hyper_mean"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"parts must be of a model: {error!r} is malformed") from None
        if size == 0:
            raise ValueError("hyper_mean must have a number for each arm, got none")
        arms, resolution = own.pop("arms"), own.pop("resolution")
        model = object.__new__(cls)
        model._assume(size, arms, resolution, own)
        return model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dim}-armed, resolution={self.resolution})"
