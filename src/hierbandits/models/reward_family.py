"""What a family of rewards is: the law of a reward given its linear predictor."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial
from typing import Any, ClassVar, cast

import numpy as np

from hierbandits.compiler import compiled_address
from hierbandits.kernels.family_call import MOMENTS, NUMBER, NUMBERS, FamilyCode
from hierbandits.kernels.moment_table import moment_table
from hierbandits.types import Matrix, Vector

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / np.sqrt(2 * np.pi)


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
    def code(self) -> FamilyCode:
        """Where its compiled functions lie, for kernels."""
        kind, quick = type(self), type(self).quick_moments
        return FamilyCode(
            (
                compiled_address(kind.log_densities, NUMBERS),
                compiled_address(kind.slope, NUMBER),
                compiled_address(kind.curvature, NUMBER),
                0 if quick is RewardFamily.quick_moments else compiled_address(quick, MOMENTS),
                _table_address(kind),
            )
        )

    def mean_and_std(self, eta_mean: Vector, eta_std: Vector) -> tuple[Vector, Vector]:
        """The mean of `mean`, and its standard deviation, if eta is Gaussian; (E,) each."""
        values = self.mean(eta_mean[:, None] + eta_std[:, None] * _NODES)
        centre: Vector = values @ _WEIGHTS
        square: Matrix = (values - centre[:, None]) ** 2
        return centre, np.sqrt(square @ _WEIGHTS)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; `family_from_dict` gives the same family back."""
        parts: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return {"name": self.NAME} | parts


@cache
def _table_address(kind: type[RewardFamily]) -> int:
    """Where the table of a family's moments lies, made once in a process; 0 if there is none."""
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


def refuse(name: str, values: Vector, is_bad: Any, what: str) -> None:
    """Raise an error that names the first bad value, if there is one."""
    bad = np.flatnonzero(is_bad)
    if bad.size:
        raise ValueError(f"{name} must be {what}, got {values[bad[0]]:g} at [{bad[0]}]")
