"""What an evaluation assumes of rewards: a prior if it is given one, and their family."""

from typing import TypeAlias

import numpy as np

from hierbandits.logs import Batch
from hierbandits.logs.family_guess import FamilyGuess
from hierbandits.logs.family_rows import FamilyRows
from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy, with_family
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_families import checked_family
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Matrix

Stated: TypeAlias = GaussianHierarchy | GeneralizedHierarchy
"""A prior that states its widths."""


class RewardModel:
    """The prior of the reward model, None if it is fitted, and the family; None if Gaussian."""

    def __init__(
        self, rewards: str | RewardFamily | None, prior: Stated | None, table: Matrix | None
    ) -> None:
        """A family must add up, and its arms have no features: sums of arms then tell all."""
        if prior is not None:
            whole = with_family(prior, rewards)
            assert isinstance(whole, GaussianHierarchy | GeneralizedHierarchy)
            prior = whole
        family = prior.rewards if isinstance(prior, GeneralizedHierarchy) else None
        if prior is None and rewards is not None and rewards != GaussianRewards.NAME:
            family = checked_family(rewards)
        if family is not None and table is not None:
            raise ValueError(f"arm_features must not be given with {family.NAME} rewards")
        if family is not None and not family.ADDS_UP:
            raise ValueError(
                f"rewards must be of a family that adds up (ADDS_UP), got {family}: an evaluation "
                "keeps sums of arms of its training rows"
            )
        self.prior, self.family = prior, family
        self._is_named = rewards is not None or prior is not None
        self._takes_family = table is None
        self._guess = FamilyGuess()

    def see(self, batch: Batch, column: str) -> None:
        """Look at the rewards of a batch; one that the family cannot have is refused."""
        self._guess.add(batch.rewards)
        self._takes_family = self._takes_family and batch.is_armed
        if self.family is not None:
            if not batch.is_armed:
                raise ValueError(f"context must not come with {self.family.NAME} rewards")
            FamilyRows(self.family, column).add(batch, np.zeros(batch.num_rows, np.intp))

    @property
    def words(self) -> str | None:
        """What rewards are taken for, or look like if their family would be taken."""
        family = self.family
        if family is None:
            return self._guess.proposal if self._takes_family and not self._is_named else None
        return (
            f"Rewards are taken for {family.NAME}: the model is one of {family.LINK}, and DM and "
            "DR use the mean rewards that follow."
        )
