"""What is assumed: the Gaussian hierarchy that tasks are drawn from."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.atomic_write import atomic_write, whole_file
from hierbandits.checks import checked_names, count, frozen, positive, real_array, reduce_frozen
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.stated_arms import (
    are_alike,
    arm_covs,
    full_if_any,
    in_order,
    names_of_arms,
    number_of_arms,
    with_usual_arm,
)
from hierbandits.models.stated_covs import checked_covariance, checked_variances
from hierbandits.models.stated_widths import per_coordinate, usual, variances_of
from hierbandits.types import Matrix, Name, Vector


@dataclass(frozen=True, slots=True, eq=False, init=False)
class GaussianHierarchy:
    """Many bandit tasks that share one unknown mean.

        mu      ~ N(hyper_mean, hyper_cov)
        theta_s ~ N(mu, task_cov)              i.i.d. given mu
        y       ~ N(x @ theta_s, noise_std**2)

    [HBB, eq. gaussian hierarchical].  `armed` is the K-armed bandit, where theta_s holds the arms'
    mean rewards; `deep` puts further levels between mu and the tasks.  Covariances may be singular
    or zero: a zero hyper_cov says that mu is known, and a zero task_cov that all tasks are alike.
    If arms are independent of each other, covariances are their diagonals, (K,).  `arms` are the
    names of the arms, if it is armed and they have names.  `learned_from` are the totals of the log
    that mu is already known from, if any.
    """

    hyper_mean: Vector  # mu_q, (d,)
    covs: tuple[Matrix, ...]  # root to leaf: Sigma_q, ..., Sigma_0; all (d, d), or all (K,)
    noise_std: float  # sigma
    is_armed: bool  # whether a feature is an arm's index
    arms: tuple[Name, ...] | None  # (K,)
    learned_from: LogTotals | None

    __reduce__ = reduce_frozen

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
        num_arms: int | None = None,
        *,
        hyper_mean: ArrayLike = 0.0,
        hyper_std: ArrayLike | None = None,
        task_std: ArrayLike | None = None,
        noise_std: float,
        group_stds: Sequence[ArrayLike] = (),
        arms: Sequence[Name] | None = None,
        common_std: float | None = None,
        hyper_cov: ArrayLike | None = None,
        task_cov: ArrayLike | None = None,
    ) -> "GaussianHierarchy":
        """A K-armed bandit: theta_s holds the arms' mean rewards, independent of each other.

        Each width is one number or one per arm; `group_stds` are the widths of any levels
        between the population and its tasks.  `arms` are the arms' names, which also say how many
        there are.  [HBB, Section Gaussian Bandit]

        Arms that move together have a part in common, or full covariances.  With `common_std`,
        theta_s = mu + l_s + deviations, where the number l_s ~ N(0, common_std^2) is the same for
        all arms and `task_std` is the width of the deviations.  `hyper_cov` and `task_cov`, (K, K),
        take the places of `hyper_std` and `task_std`.
        """
        num_arms = number_of_arms(num_arms, arms)
        groups = {f"group_stds[{i}]": std for i, std in enumerate(group_stds)}
        covs = arm_covs(
            num_arms,
            {"hyper_std": hyper_std, **groups, "task_std": task_std},
            {"hyper_cov": hyper_cov, **dict.fromkeys(groups), "task_cov": task_cov},
            common_std,
        )
        mean = per_coordinate("hyper_mean", hyper_mean, num_arms, "num_arms")
        return cls.__new__(cls)._assume(mean, covs, noise_std, armed=True, arms=arms)

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
        variances = variances_of(stds, dim, "num_features")
        covs = {name: np.diag(var) for name, var in variances.items()}
        mean = per_coordinate("hyper_mean", hyper_mean, dim, "num_features")
        return cls.__new__(cls)._assume(mean, covs, noise_std, armed=False)

    @classmethod
    def of_levels(
        cls,
        *,
        hyper_mean: ArrayLike,
        covs: Sequence[ArrayLike],
        noise_std: float,
        armed: bool,
        arms: Sequence[Name] | None = None,
        learned_from: LogTotals | None = None,
        saved: bool = False,
    ) -> "GaussianHierarchy":
        """A hierarchy from its parts: covs from the root to the tasks; if armed, maybe (K,).

        `saved` says that they come from a file, where they were checked before.
        """
        names = [f"covs[{level}]" for level in range(len(_some(covs)))]
        names[0], names[-1] = "hyper_cov", "task_cov" if len(names) > 1 else "hyper_cov"
        named = dict(zip(names, covs, strict=True))
        return cls.__new__(cls)._assume(
            hyper_mean, named, noise_std, armed, arms, learned_from, saved
        )

    def _assume(
        self,
        hyper_mean: ArrayLike,
        covs: dict[str, Any],
        noise_std: float,
        armed: bool,
        arms: Sequence[Name] | None = None,
        learned_from: LogTotals | None = None,
        saved: bool = False,
    ) -> "GaussianHierarchy":
        """Check every part and fill the fields."""
        mean = real_array("hyper_mean", hyper_mean, (None,))
        if mean.size == 0:
            raise ValueError("hyper_mean must have at least one entry, got none")
        checked = {}
        for name, cov in covs.items():
            if armed and np.ndim(cov) != 2:
                checked[name] = checked_variances(name, cov, mean.size)
            else:
                checked[name] = checked_covariance(name, cov, mean.size, saved=saved)
        noise = float(positive("noise_std", noise_std, ()))
        object.__setattr__(self, "hyper_mean", frozen(mean))
        object.__setattr__(self, "covs", tuple(map(frozen, full_if_any(checked).values())))
        object.__setattr__(self, "noise_std", noise)
        object.__setattr__(self, "is_armed", armed)
        object.__setattr__(self, "arms", names_of_arms(arms, mean.size, armed))
        object.__setattr__(self, "learned_from", learned_from)
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
    def is_diagonal(self) -> bool:
        """Whether arms are independent of each other: covariances are then diagonals, (K,)."""
        return self.covs[0].ndim == 1

    @property
    def arms_alike(self) -> bool:
        """Whether nothing is assumed of one arm or feature that is not of the others."""
        return are_alike((self.hyper_mean, *self.covs))

    @property
    def widths_known(self) -> bool:
        """Always: all widths are stated."""
        return True

    def with_levels(
        self,
        hyper_mean: Vector,
        covs: Sequence[Matrix],
        noise_std: float | None = None,
        *,
        learned_from: LogTotals | None = None,
    ) -> "GaussianHierarchy":
        """A hierarchy of the same form (armed or linear) and arms with these parts.

        With the same mean it still holds the log that this one was learned from.
        """
        if learned_from is None and np.array_equal(hyper_mean, self.hyper_mean):
            learned_from = self.learned_from
        noise = self.noise_std if noise_std is None else noise_std
        return self._like(hyper_mean, covs, noise, self.arms, learned_from)

    def with_arms(self, arms: Sequence[Name] | None) -> "GaussianHierarchy":
        """The same hierarchy whose arms have these names, in their order."""
        return self._like(self.hyper_mean, self.covs, self.noise_std, arms, self.learned_from)

    def reordered(self, arms: Sequence[Name]) -> "GaussianHierarchy":
        """The same hierarchy with its arms in this order; they must be the arms that it names."""
        names, known = checked_names("arms", arms), self.arms
        if known is None or set(names) != set(known):
            raise ValueError(f"arms must be those of the prior, {known!r:.80}, got {names!r:.80}")
        order = [known.index(name) for name in names]
        mean, covs = self.hyper_mean[order], [in_order(cov, order) for cov in self.covs]
        return self._like(mean, covs, self.noise_std, names, self.learned_from)

    def _like(
        self,
        mean: Vector,
        covs: Sequence[Matrix],
        noise_std: float,
        arms: Sequence[Name] | None,
        learned_from: LogTotals | None,
    ) -> "GaussianHierarchy":
        """A hierarchy of the same form with other parts."""
        return GaussianHierarchy.of_levels(
            hyper_mean=mean,
            covs=covs,
            noise_std=noise_std,
            armed=self.is_armed,
            arms=arms,
            learned_from=learned_from,
        )

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> "GaussianHierarchy":
        """The same with one more arm, an armed hierarchy's last.

        Its hyper-mean, variances and correlations are means over the other arms unless they are
        given.  Its name is kept if the others have names.
        """
        if not self.is_armed:
            raise ValueError(f"name must be of an arm without features, got {name!r:.80}")
        covs = [with_usual_arm(cov, "hyper_std", None) for cov in self.covs]
        for level, name_of, std in ((0, "hyper_std", hyper_std), (-1, "task_std", task_std)):
            if std is not None:
                covs[level] = with_usual_arm(self.covs[level], name_of, std)
        mean = usual(self.hyper_mean) if hyper_mean is None else hyper_mean
        means = np.append(self.hyper_mean, real_array("hyper_mean", mean, ()))
        arms = None if self.arms is None else (*self.arms, name)
        return self._like(means, covs, self.noise_std, arms, self.learned_from)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON; `from_dict` gives the same hierarchy back, exactly."""
        parts = {
            "armed": self.is_armed,
            "hyper_mean": self.hyper_mean.tolist(),
            "covs": [cov.tolist() for cov in self.covs],
            "noise_std": self.noise_std,
        }
        if self.arms is not None:
            parts["arms"] = list(self.arms)
        if self.learned_from is not None:
            parts["learned_from"] = self.learned_from.to_dict()
        return parts

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "GaussianHierarchy":
        """The hierarchy that `to_dict` described, checked again."""
        try:
            covs = list(parts["covs"])
            mean, noise, armed = parts["hyper_mean"], parts["noise_std"], parts["armed"]
        except (KeyError, TypeError) as error:
            raise ValueError(f"parts must be of a hierarchy: {error!r} is malformed") from None
        if not covs or not isinstance(armed, bool):
            raise ValueError("parts must be of a hierarchy: covs not empty, armed a boolean")
        log = parts.get("learned_from")
        return cls.of_levels(
            hyper_mean=mean,
            covs=covs,
            noise_std=noise,
            armed=armed,
            arms=parts.get("arms"),
            learned_from=None if log is None else LogTotals.from_dict(log),
            saved=True,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the hierarchy as JSON, the whole file or none of it; `load` reads it back."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        with atomic_write(path) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "GaussianHierarchy":
        """The hierarchy that `save` wrote, or `to_dict` as JSON; any other file is refused."""
        text = whole_file(path)
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, RecursionError) as error:
            where = os.fspath(path)
            raise ValueError(f"{where} must hold a hierarchy as JSON: {error}") from error

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        form += " correlated" if self.is_armed and not self.is_diagonal else ""
        return f"GaussianHierarchy({form}, {self.num_levels} levels, noise_std={self.noise_std:g})"


def _some(covs: Sequence[ArrayLike]) -> Sequence[ArrayLike]:
    if not isinstance(covs, Sequence | np.ndarray) or len(covs) == 0:
        raise ValueError(f"covs must hold at least one covariance, got {covs!r:.80}")
    return covs
