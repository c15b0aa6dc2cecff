"""What is assumed: the Gaussian hierarchy that tasks are drawn from."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.atomic_write import atomic_write
from hierbandits.checks import LARGEST, count, positive, real_array
from hierbandits.types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False, init=False)
class GaussianHierarchy:
    """Many bandit tasks that share one unknown mean.

        mu      ~ N(hyper_mean, hyper_cov)
        theta_s ~ N(mu, task_cov)              i.i.d. given mu
        y       ~ N(x @ theta_s, noise_std**2)

    [HBB, eq. gaussian hierarchical].  `armed` is the K-armed bandit with diagonal covariances;
    `deep` puts further levels between mu and the tasks.  Only hyper_cov may be singular or zero:
    a zero one says that mu is known.
    """

    hyper_mean: Vector  # mu_q, (d,)
    covs: tuple[Matrix, ...]  # root to leaf: Sigma_q, ..., Sigma_0; each (d, d), or (d,) if armed
    noise_std: float  # sigma

    def __init__(
        self, *, hyper_mean: ArrayLike, hyper_cov: ArrayLike, task_cov: ArrayLike, noise_std: float
    ) -> None:
        self._assume(
            hyper_mean, {"hyper_cov": hyper_cov, "task_cov": task_cov}, noise_std, armed=False
        )

    @classmethod
    def deep(
        cls, *, hyper_mean: ArrayLike, covs: Sequence[ArrayLike], noise_std: float
    ) -> "GaussianHierarchy":
        """A hierarchy with one covariance per level, from the root to the tasks.

        theta_root ~ N(hyper_mean, covs[0]) and theta_node ~ N(theta_parent, covs[level]).
        """
        named = {f"covs[{level}]": cov for level, cov in enumerate(_some(covs))}
        return cls.__new__(cls)._assume(hyper_mean, named, noise_std, armed=False)

    @classmethod
    def armed(
        cls,
        num_arms: int,
        *,
        hyper_mean: ArrayLike = 0.0,
        hyper_std: ArrayLike,
        task_std: ArrayLike,
        noise_std: float,
        group_stds: Sequence[ArrayLike] = (),
    ) -> "GaussianHierarchy":
        """A K-armed bandit: theta_s holds the arms' mean rewards, independent of each other.

        Each width is one number or one per arm; `group_stds` are the widths of any levels
        between the population and its tasks.  [HBB, Section Gaussian Bandit]
        """
        num_arms = count("num_arms", num_arms, least=1)
        stds = {"hyper_std": hyper_std}
        stds |= {f"group_stds[{i}]": std for i, std in enumerate(group_stds)}
        stds |= {"task_std": task_std}
        variances = _variances_of(stds, num_arms, "num_arms")
        mean = _per_coordinate("hyper_mean", hyper_mean, num_arms, "num_arms")
        return cls.__new__(cls)._assume(mean, variances, noise_std, armed=True)

    @classmethod
    def linear(
        cls,
        num_features: int,
        *,
        hyper_mean: ArrayLike = 0.0,
        hyper_std: ArrayLike,
        task_std: ArrayLike,
        noise_std: float,
    ) -> "GaussianHierarchy":
        """A linear bandit whose features are independent of each other.

        Each width is one number or one per feature.
        """
        dim = count("num_features", num_features, least=1)
        stds = {"hyper_std": hyper_std, "task_std": task_std}
        variances = _variances_of(stds, dim, "num_features")
        _variances("task_std", variances["task_std"], dim, singular=False, each="feature")
        covs = {name: np.diag(var) for name, var in variances.items()}
        mean = _per_coordinate("hyper_mean", hyper_mean, dim, "num_features")
        return cls.__new__(cls)._assume(mean, covs, noise_std, armed=False)

    @classmethod
    def of_levels(
        cls, *, hyper_mean: ArrayLike, covs: Sequence[ArrayLike], noise_std: float, armed: bool
    ) -> "GaussianHierarchy":
        """A hierarchy from its parts: covs from the root to the tasks; if armed, variances (K,)."""
        names = [f"covs[{level}]" for level in range(len(_some(covs)))]
        names[0], names[-1] = "hyper_cov", "task_cov" if len(names) > 1 else "hyper_cov"
        named = dict(zip(names, covs, strict=True))
        return cls.__new__(cls)._assume(hyper_mean, named, noise_std, armed=armed)

    def _assume(
        self, hyper_mean: ArrayLike, covs: dict[str, Any], noise_std: float, armed: bool
    ) -> "GaussianHierarchy":
        """Check every part and fill the fields."""
        mean = real_array("hyper_mean", hyper_mean, (None,))
        if mean.size == 0:
            raise ValueError("hyper_mean must have at least one entry, got none")
        checked = []
        for level, (name, cov) in enumerate(covs.items()):
            check = _variances if armed else _covariance
            checked.append(check(name, cov, mean.size, singular=level == 0))
        noise = float(positive("noise_std", noise_std, ()))
        object.__setattr__(self, "hyper_mean", _frozen(mean))
        object.__setattr__(self, "covs", tuple(_frozen(cov) for cov in checked))
        object.__setattr__(self, "noise_std", noise)
        return self

    @property
    def hyper_cov(self) -> Matrix:
        """Sigma_q: the covariance of the parameter at the root."""
        return self.covs[0]

    @property
    def task_cov(self) -> Matrix:
        """Sigma_0: the covariance of a task's parameter given its parent's."""
        return self.covs[-1]

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return int(self.hyper_mean.size)

    @property
    def num_levels(self) -> int:
        """Two for a population and its tasks."""
        return len(self.covs)

    @property
    def is_armed(self) -> bool:
        """Whether this is the K-armed, diagonal form, where a feature is an arm's index."""
        return self.covs[0].ndim == 1

    def with_levels(
        self, hyper_mean: Vector, covs: Sequence[Matrix], noise_std: float | None = None
    ) -> "GaussianHierarchy":
        """A hierarchy of the same form (armed or linear) with these parts."""
        noise = self.noise_std if noise_std is None else noise_std
        return GaussianHierarchy.of_levels(
            hyper_mean=hyper_mean, covs=covs, noise_std=noise, armed=self.is_armed
        )

    def with_arm(
        self, hyper_mean: float | None, hyper_std: float | None, task_std: float | None
    ) -> "GaussianHierarchy":
        """The same with one more arm, an armed hierarchy's last.

        Its hyper-mean and variances are means over the other arms unless they are given.
        """
        if not self.is_armed:
            raise ValueError(f"arms must not be added where they have features, got {self}")
        stds: dict[str, ArrayLike] = {}
        for name, std in (("hyper_std", hyper_std), ("task_std", task_std)):
            if std is not None:
                stds[name] = [std]
        given = _variances_of(stds, 1, "one arm")
        names = ["hyper_std", *["group"] * (self.num_levels - 2), "task_std"][: self.num_levels]
        covs = [
            np.append(cov, given.get(name, usual(cov)))
            for name, cov in zip(names, self.covs, strict=True)
        ]
        mean = usual(self.hyper_mean) if hyper_mean is None else hyper_mean
        new = real_array("hyper_mean", mean, ())
        return GaussianHierarchy.of_levels(
            hyper_mean=np.append(self.hyper_mean, new),
            covs=covs,
            noise_std=self.noise_std,
            armed=True,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON; `from_dict` gives the same hierarchy back, exactly."""
        return {
            "armed": self.is_armed,
            "hyper_mean": self.hyper_mean.tolist(),
            "covs": [cov.tolist() for cov in self.covs],
            "noise_std": self.noise_std,
        }

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "GaussianHierarchy":
        """The hierarchy that `to_dict` described, checked again."""
        try:
            covs = list(parts["covs"])
            mean, noise, armed = parts["hyper_mean"], parts["noise_std"], parts["armed"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a hierarchy: {error!r} is missing or malformed") from None
        if not covs or not isinstance(armed, bool):
            raise ValueError("not a hierarchy: covs must not be empty and armed must be a boolean")
        return cls.of_levels(hyper_mean=mean, covs=covs, noise_std=noise, armed=armed)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the hierarchy as JSON, the whole file or none of it; `load` reads it back."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        with atomic_write(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "GaussianHierarchy":
        """The hierarchy that `save` wrote, or `to_dict` as JSON; any other file is refused."""
        text = Path(path).read_bytes()
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            where = os.fspath(path)
            raise ValueError(f"{where} must hold a hierarchy as JSON: {error}") from error

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        return f"GaussianHierarchy({form}, {self.num_levels} levels, noise_std={self.noise_std:g})"


def _per_coordinate(
    name: str, value: ArrayLike, dim: int, count_name: str, largest: float = LARGEST
) -> Vector:
    """One number for all coordinates, or one for each."""
    if isinstance(value, int | float | np.number) or getattr(value, "shape", None) == ():
        return np.full(dim, real_array(name, value, (), largest=largest))
    return real_array(name, value, (dim,), f" to match {count_name}", largest)


def _variances_of(stds: dict[str, ArrayLike], dim: int, count_name: str) -> dict[str, Vector]:
    """The squares of widths, checked."""
    variances = {}
    for name, value in stds.items():
        std = _per_coordinate(name, value, dim, count_name, largest=LARGEST**0.5)
        if (std < 0).any():
            raise ValueError(f"{name} must not be negative, got {std.min()}")
        variances[name] = std**2
    return variances


def usual(values: Vector) -> float:
    """The number that all arms share, or else their mean."""
    return float(values[0] if (values == values[0]).all() else values.mean())


def _some(covs: Sequence[ArrayLike]) -> Sequence[ArrayLike]:
    if not isinstance(covs, Sequence | np.ndarray) or len(covs) == 0:
        raise ValueError(f"covs must hold at least one covariance, got {covs!r:.80}")
    return covs


def _variances(name: str, value: ArrayLike, dim: int, singular: bool, each: str = "arm") -> Vector:
    var = real_array(name, value, (dim,), " to match hyper_mean")
    if (var < 0).any() or (not singular and (var < 1 / LARGEST).any()):
        kind = "non-negative" if singular else "positive"
        raise ValueError(f"{name} must be {kind} for every {each}, got a variance of {var.min()}")
    return var


def _covariance(name: str, value: ArrayLike, dim: int, singular: bool) -> Matrix:
    cov = real_array(name, value, (dim, dim), " to match hyper_mean")
    asymmetry = np.abs(cov - cov.T).max()
    if asymmetry > 1e-8 * np.abs(cov).max():
        raise ValueError(f"{name} must be symmetric, got entries that differ by {asymmetry:g}")
    cov = (cov + cov.T) / 2
    eigenvalues = np.linalg.eigvalsh(cov)
    smallest, largest = eigenvalues[0], eigenvalues[-1]
    rounding = dim * np.finfo(float).eps * largest
    if singular and smallest < -rounding:
        raise ValueError(
            f"{name} must be positive semi-definite, got an eigenvalue of {smallest:g}"
        )
    if np.count_nonzero(cov) == np.count_nonzero(np.diagonal(cov)):
        rounding = 0.0  # a diagonal's eigenvalues are its own entries
    if not singular and smallest <= max(rounding, 1 / LARGEST):
        raise ValueError(
            f"{name} must be positive definite, got eigenvalues from {smallest:g} to {largest:g}"
        )
    return cov


def _frozen(array: Vector) -> Vector:
    array = array.copy()
    array.flags.writeable = False
    return array
