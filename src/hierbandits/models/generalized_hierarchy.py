"""What is assumed where rewards are not Gaussian: a hierarchy of predictors, and a family."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.grid_hierarchy import GridHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.reward_families import checked_family, family_from_dict
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Matrix, Name, Vector

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True, eq=False)
class GeneralizedHierarchy:
    """Tasks of a Gaussian hierarchy whose rewards belong to a family.

        mu      ~ N(hyper_mean, hyper_cov)
        theta_s ~ N(mu, task_cov)
        y       ~ rewards(eta = x @ theta_s)

    `rewards` is a family or the name of one: "bernoulli", "binomial", "poisson", "gaussian".  The
    hierarchy is that of the linear predictors, of log odds or of log rates say; its noise_std is
    not used, and reads 1.
    """

    hierarchy: GaussianHierarchy
    rewards: RewardFamily

    def __init__(self, hierarchy: GaussianHierarchy, rewards: str | RewardFamily) -> None:
        if not isinstance(hierarchy, GaussianHierarchy):
            raise ValueError(f"hierarchy must be a GaussianHierarchy, got {hierarchy!r:.80}")
        family = checked_family(rewards)
        own = hierarchy.with_levels(hierarchy.hyper_mean, hierarchy.covs, noise_std=1.0)
        object.__setattr__(self, "hierarchy", own)
        object.__setattr__(self, "rewards", family)

    @property
    def hyper_mean(self) -> Vector:
        """mu_q, (d,)."""
        return self.hierarchy.hyper_mean

    @property
    def covs(self) -> tuple[Matrix, ...]:
        """The covariances from the root to the tasks."""
        return self.hierarchy.covs

    @property
    def hyper_cov(self) -> Matrix:
        """Sigma_q: the covariance of the parameter at the root."""
        return self.hierarchy.hyper_cov

    @property
    def task_cov(self) -> Matrix:
        """Sigma_0: the covariance of a task's parameter given its parent's."""
        return self.hierarchy.task_cov

    @property
    def noise_std(self) -> float:
        """1, and not used: the family says how rewards vary."""
        return self.hierarchy.noise_std

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return self.hierarchy.dim

    @property
    def num_levels(self) -> int:
        """Two for a population and its tasks."""
        return self.hierarchy.num_levels

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self.hierarchy.is_armed

    @property
    def is_diagonal(self) -> bool:
        """Whether arms are independent of each other: covariances are then diagonals, (K,)."""
        return self.hierarchy.is_diagonal

    @property
    def widths_known(self) -> bool:
        """Always: all widths are stated."""
        return True

    @property
    def arms(self) -> tuple[Name, ...] | None:
        """The names of the arms, if it is armed and they have names."""
        return self.hierarchy.arms

    @property
    def learned_from(self) -> LogTotals | None:
        """The totals of the log that its mean was learned from, if any."""
        return self.hierarchy.learned_from

    def with_levels(
        self, hyper_mean: Vector, covs: Sequence[Matrix], noise_std: float | None = None
    ) -> "GeneralizedHierarchy":
        """The same family over a hierarchy of the same form with these parts; no noise_std."""
        return self._over(self.hierarchy.with_levels(hyper_mean, covs))

    def reordered(self, arms: Sequence[Name]) -> "GeneralizedHierarchy":
        """The same model with its arms in this order; they must be the arms that it names."""
        return self._over(self.hierarchy.reordered(arms))

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> "GeneralizedHierarchy":
        """The same with one more arm, an armed hierarchy's last."""
        return self._over(self.hierarchy.with_arm(name, hyper_mean, hyper_std, task_std))

    def _over(self, hierarchy: GaussianHierarchy) -> "GeneralizedHierarchy":
        return GeneralizedHierarchy(hierarchy, self.rewards)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return {"hierarchy": self.hierarchy.to_dict(), "rewards": self.rewards.to_dict()}

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "GeneralizedHierarchy":
        """What `to_dict` described, checked again."""
        try:
            hierarchy, rewards = parts["hierarchy"], dict(parts["rewards"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"parts must be of a model: {error!r} is malformed") from None
        return cls(GaussianHierarchy.from_dict(hierarchy), family_from_dict(rewards))

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        return f"GeneralizedHierarchy({form}, {self.num_levels} levels, {self.rewards.NAME})"


def with_family(
    prior: Given, rewards: str | RewardFamily | None
) -> "Given | GeneralizedHierarchy | UnknownFamilyWidths":
    """The model of one who says which family rewards belong to; None for the prior's own.

    The name "gaussian" leaves the noise to the prior.
    """
    if rewards is None:
        return prior
    family = checked_family(rewards)
    if isinstance(prior, GridHierarchy):
        raise ValueError(f"rewards must not be given: {prior} says what they are, got {family}")
    if isinstance(prior, GeneralizedHierarchy | UnknownFamilyWidths):
        same = type(prior.rewards) is type(family) if isinstance(rewards, str) else False
        if not same and prior.rewards != family:
            raise ValueError(f"rewards must be those of the prior, {prior.rewards}, got {family}")
        return prior
    if isinstance(family, GaussianRewards) and isinstance(rewards, str):
        return prior
    if not isinstance(prior, GaussianHierarchy | UnknownWidths):
        raise ValueError(
            f"prior must be a GaussianHierarchy of linear predictors for {family.NAME} rewards, "
            f"got {prior!r:.80}"
        )
    if prior.learned_from is not None and not isinstance(family, GaussianRewards):
        raise ValueError(
            f"prior must be one of {family.LINK} for {family.NAME} rewards, got one that was "
            f"learned from a log as gaussian: learn_prior(..., rewards={family.NAME!r}) learns it"
        )
    if isinstance(prior, UnknownWidths):
        return UnknownFamilyWidths(prior, family)
    return GeneralizedHierarchy(prior, family)
