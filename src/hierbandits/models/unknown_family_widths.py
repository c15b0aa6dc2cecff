"""What is assumed where rewards are of a family and widths are unknown: the form alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.reward_families import checked_family, family_from_dict
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Name, Vector

FAMILY_ARMS = 64
"""Up to so many arms, what the arms of a task have in common is learned; more are independent."""

FIRST_HYPER_STD, FIRST_TASK_STD = 2.0, 0.5
"""The widths of linear predictors before the first look at any: rates from 2 to 98 %, say."""


@dataclass(frozen=True, slots=True, eq=False)
class UnknownFamilyWidths:
    """`UnknownWidths` of linear predictors, whose rewards belong to a family.

    There is no noise to learn: the family says how rewards vary.
    """

    widths: UnknownWidths
    rewards: RewardFamily

    def __init__(self, widths: UnknownWidths, rewards: str | RewardFamily) -> None:
        if not isinstance(widths, UnknownWidths):
            raise ValueError(f"widths must be UnknownWidths, got {widths!r:.80}")
        own = UnknownWidths.of(
            widths.dim, armed=widths.is_armed, noise_std=1.0, hyper_mean=widths.hyper_mean,
            learned_from=widths.learned_from,
        )  # fmt: skip
        object.__setattr__(self, "widths", own)
        object.__setattr__(self, "rewards", checked_family(rewards))

    @property
    def hyper_mean(self) -> Vector:
        """mu_q, (d,); with arms, up to a number that all arms share."""
        return self.widths.hyper_mean

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return self.widths.dim

    @property
    def num_levels(self) -> int:
        """Populations and their tasks."""
        return 2

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self.widths.is_armed

    @property
    def is_diagonal(self) -> bool:
        """Whether tasks are taken for independent in all coordinates: there are too many arms."""
        return self.is_armed and self.dim > FAMILY_ARMS

    @property
    def widths_known(self) -> bool:
        """Never: a belief learns them."""
        return False

    @property
    def arms(self) -> None:
        """Its arms have no names."""
        return

    @property
    def learned_from(self) -> LogTotals | None:
        """The totals of the log that its mean was learned from, if any."""
        return self.widths.learned_from

    def hierarchy(self) -> GaussianHierarchy:
        """What is believed of linear predictors before any reward."""
        one = np.ones(self.dim) if self.is_diagonal else np.eye(self.dim)
        common = 1.0 if self.is_armed and not self.is_diagonal else 0.0
        hyper, task = FIRST_HYPER_STD**2 * one, FIRST_TASK_STD**2 * (one + common)
        return self.widths.with_widths(hyper, task, 1.0)

    def reordered(self, arms: Sequence[Name]) -> "UnknownFamilyWidths":
        """Refused, since no order of arms without names can be told from another."""
        return UnknownFamilyWidths(self.widths.reordered(arms), self.rewards)

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> "UnknownFamilyWidths":
        """The same with one more arm; its hyper-mean is the mean of the others unless given."""
        wider = self.widths.with_arm(name, hyper_mean, hyper_std, task_std)
        return UnknownFamilyWidths(wider, self.rewards)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return {"widths": self.widths.to_dict(), "rewards": self.rewards.to_dict()}

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> "UnknownFamilyWidths":
        """What `to_dict` described, checked again."""
        try:
            widths, rewards = parts["widths"], dict(parts["rewards"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"parts must be of a model, got {error!r}") from None
        return cls(UnknownWidths.from_dict(widths), family_from_dict(rewards))

    def __repr__(self) -> str:
        form = f"{self.dim}-armed" if self.is_armed else f"{self.dim} features"
        return f"UnknownFamilyWidths({form}, {self.rewards.NAME})"
