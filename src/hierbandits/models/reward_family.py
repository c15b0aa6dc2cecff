"""What a family of rewards is: the law of a reward given its linear predictor."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import real_array
from hierbandits.compiler import compiled_address
from hierbandits.kernels.family_call import (
    MOMENTS,
    NUMBER,
    NUMBERS,
    FamilyCode,
    nan_number,
    nan_numbers,
    no_moments,
)
from hierbandits.kernels.moment_table import moment_table
from hierbandits.types import Matrix, Vector

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / np.sqrt(2 * np.pi)


LARGEST_COUNT = 1e9
"""Larger counts, trials and exposures, or exposures below its inverse, leave too few digits.

Sums of them may be as large as its square.
"""


LARGEST_MEAN = 1e140
"""Mean rewards are told no larger: squares of them must not overflow."""


class RewardFamily(ABC):
    """The law of a reward y given its linear predictor eta = x @ theta and its exposure.

    Beliefs learn from rewards by a family, and environments draw rewards from it.  The exposure is
    how much a reward was counted over: the number of trials, say, or of days.  It is 1 unless an
    event says otherwise, and all families are such that E[y] = exposure * mean(eta), where `mean`
    increases.  A family is an immutable value, a frozen dataclass of plain numbers.

    Three static functions are compiled, so they must be plain: `log_densities`, the derivative
    `slope` of one and its negative second derivative `curvature`, all by eta.  Log densities must
    be concave in eta.  They may leave out what does not depend on eta, which is `log_base`.
    """

    NAME: ClassVar[str]
    LINK: ClassVar[str] = "linear predictor"
    """What a linear predictor is, in words."""
    ADDS_UP: ClassVar[bool] = False
    """Whether rewards of the same predictor tell what their sum tells, with exposures added up."""

    @property
    def shape(self) -> float:
        """The one number that the static functions need besides; 0 if they need none."""
        return 0.0

    @staticmethod
    @abstractmethod
    def log_densities(
        reward: float, exposure: float, shape: float, eta: Any, out: Any, number: int
    ) -> None:
        """Fill `out` with the log densities of a reward, but for `log_base`.

        `eta` and `out` are where so many numbers lie: they know `[i]` and nothing else.
        """

    @staticmethod
    @abstractmethod
    def slope(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of the log density by eta."""

    @staticmethod
    @abstractmethod
    def curvature(reward: float, exposure: float, shape: float, eta: float) -> float:
        """The derivative of `slope` by eta, with its sign changed: at least 0."""

    @staticmethod
    def quick_moments(
        reward: float, exposure: float, shape: float, mean: float, var: float, out: Any
    ) -> bool:
        """Fill `out` with what a reward tells of eta ~ N(mean, var), if there is a quick way to it.

        These are the log of the mean of the density, but for `log_base`; its derivative by `mean`;
        and its second derivative with its sign changed.  A family need not have it: it is for speed
        alone.
        """
        return False

    @staticmethod
    def density_of_none(eta: Matrix) -> Matrix | None:
        """The density of a reward of 0 and exposure 1, if that makes for a table of moments.

        It does where log densities are reward * eta and a function of eta alone.  A family need not
        have it: it is for speed alone.
        """
        return None

    @abstractmethod
    def log_base(self, rewards: Vector, exposure: Vector) -> Vector:
        """What the log density has besides, which does not depend on eta."""

    @abstractmethod
    def mean(self, eta: Vector) -> Vector:
        """The mean reward of an exposure of 1."""

    @abstractmethod
    def draw(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """One reward for each eta: what a uniform number in (0, 1) stands for."""

    def draw_totals(self, eta: Vector, exposure: Vector, uniforms: Vector) -> Vector:
        """`draw` for sums of rewards, where these add up."""
        return self.draw(eta, exposure, uniforms)

    @abstractmethod
    def check(self, name: str, rewards: Vector, exposure: Vector) -> None:
        """Raise an error that names a reward or an exposure that this family cannot have.

        Both hold finite numbers, and exposures are positive.
        """

    def check_totals(self, name: str, totals: Vector, exposure: Vector) -> None:
        """`check` for sums of rewards, where these add up."""
        self.check(name, totals, exposure)

    @property
    def is_known(self) -> bool:
        """Whether it is the package's own: its functions give a number wherever they are asked."""
        return type(self).__module__.startswith("hierbandits.")

    @property
    def code(self) -> FamilyCode:
        """Where its compiled functions lie, for kernels."""
        return _code_of(type(self), self.is_known)

    def mean_and_std(self, eta_mean: Vector, eta_std: Vector) -> tuple[Vector, Vector]:
        """The mean of `mean`, and its standard deviation, if eta is Gaussian; (E,) each.

        This is a sum over 32 nodes, which is right where `mean` bends little within some standard
        deviations.  A family that knows better has its own.
        """
        with np.errstate(over="ignore"):
            values = self.mean(eta_mean[:, None] + eta_std[:, None] * _NODES)
        values = np.clip(values, -LARGEST_MEAN, LARGEST_MEAN)
        centre: Vector = values @ _WEIGHTS
        square: Matrix = (values - centre[:, None]) ** 2
        return centre, np.sqrt(square @ _WEIGHTS)

    def check_numbers(
        self, numbers: Vector, rewards: Vector, exposure: Vector, name: str = "rewards"
    ) -> None:
        """Raise an error if the family's functions gave no number for a reward."""
        lost = np.flatnonzero(np.isnan(numbers))
        if lost.size and not self.is_known:
            first = lost[0]
            raise ValueError(
                f"{name} must be ones that the family {self.NAME!r} has a density for: "
                f"log_densities, slope or curvature gave nan, or raised an error, for a reward of "
                f"{rewards[first]:g} (exposure {exposure[first]:g}) at [{first}]"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; `family_from_dict` gives the same family back."""
        parts: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return {"name": self.NAME} | parts


@cache
def _code_of(kind: type[RewardFamily], is_known: bool) -> FamilyCode:
    """The code of a family, and its table, made once in a process."""
    quick = kind.quick_moments
    has_quick = quick is not RewardFamily.quick_moments
    return FamilyCode(
        (
            compiled_address(kind.log_densities, NUMBERS, nan_numbers),
            compiled_address(kind.slope, NUMBER, nan_number),
            compiled_address(kind.curvature, NUMBER, nan_number),
            compiled_address(quick, MOMENTS, no_moments) if has_quick else 0,
            _table_address(kind),
            0 if is_known else 1,
        )
    )


def _table_address(kind: type[RewardFamily]) -> int:
    """Where the table of a family's moments lies; 0 if there is none."""
    density = kind.density_of_none
    if density is RewardFamily.density_of_none:
        return 0
    table = moment_table(
        cast(Callable[[Matrix], Matrix], density),
        np.vectorize(partial(kind.curvature, 0.0, 1.0, 0.0)),
    )
    _TABLES.append(table)
    return int(table.ctypes.data)


_TABLES: list[Vector] = []  # an address is good for as long as its table is kept


def checked_exposure(value: ArrayLike, shape: tuple[int | None, ...]) -> Vector:
    """Exposures as kernels take them: positive numbers, whose bounds the family checks."""
    exposure = real_array("exposure", value, shape)
    refuse("exposure", exposure, exposure <= 0, "positive")
    return exposure


def refuse_large(name: str, counts: Vector, exposure: Vector, most: float) -> None:
    """Raise an error unless counts are at most `most`, and exposures in [1 / most, most]."""
    refuse(name, counts, counts > most, f"at most {most:g}")
    low = 1 / most
    refuse("exposure", exposure, (exposure > most) | (exposure < low), f"in [{low:g}, {most:g}]")


def refuse(name: str, values: Vector, is_bad: Any, what: str) -> None:
    """Raise an error that names the first bad value, if there is one."""
    bad = np.flatnonzero(is_bad)
    if bad.size:
        where = f" at [{bad[0]}]" if values.size > 1 else ""
        raise ValueError(f"{name} must be {what}, got {values[bad[0]]:g}{where}")
