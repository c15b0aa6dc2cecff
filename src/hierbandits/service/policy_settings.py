"""What a policy of the service is told to be."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np

from hierbandits.agent import Agent
from hierbandits.agent.agent_prior import checked_recipe
from hierbandits.agent.journal import Event
from hierbandits.beliefs.model_kinds import model_from_dict
from hierbandits.checks import real_array
from hierbandits.logs import LIMITS, Encoder, Limits, Start
from hierbandits.models.model import Model
from hierbandits.models.variants import as_given
from hierbandits.policies.recipes import Recipe
from hierbandits.service.guardrail import Guardrail
from hierbandits.types import Name

REMEMBERED = 200_000
"""The settled decisions that are kept in memory, unless a policy says otherwise."""
MOST_GUARDRAILS = 20


class PolicySettings(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A policy: what it assumes, how it chooses, and how it treats rewards and tasks.

    Give `arms` alone for a policy that knows nothing yet; `prior` is a model as
    `hierbandits learn` writes it into prior.json.
    """

    arms: list[Name] | dict[str, list[float]] | None = None
    """Names of arms, or their features by name; None where each call brings its own."""
    num_features: int | None = None
    """The number of features, where each call brings its arms and nothing else is known."""
    rewards: str | None = None
    """The family of rewards: "bernoulli", "poisson" and the like; Gaussian unless given."""
    prior: dict[str, Any] | None = None
    encoder: dict[str, Any] | None = None
    """What makes features of a context and an arm; part of a start that `learn` writes."""
    rule: str | None = None
    """The name of a policy of the library: "HierIDS" unless given."""
    draws: int = 50
    """Posterior draws for propensities; 0 for decisions without propensities and gaps."""
    floor: float | None = None
    """The share of decisions made uniformly at random."""
    reward_wait: float | None = None
    """Seconds after which a decision without a reward has `default_reward`, or is given up."""
    default_reward: float | None = None
    mode: Literal["live", "shadow"] = "live"
    """In shadow the caller's own choice is played, and what the policy would do is recorded."""
    control_share: float = 0.0
    """The share of tasks that always have `control_arm`."""
    control_arm: Name | None = None
    """What all tasks have that the policy does not decide for; a rollout needs it."""
    guardrails: list[Guardrail] = []
    """Metrics that roll the policy back if one of them crosses its bound."""
    ratio_check: Literal["none", "rewards", "exposures"] = "none"
    """What says that a decision was shown, to compare the arms with their propensities."""
    sticky: bool = False
    """Whether a task keeps the arm that it had first."""
    remember: int = REMEMBERED
    """Settled decisions that are kept in memory; rewards of older ones are in the log alone."""
    most_tasks: int | None = None
    most_pending: int | None = None
    description: str = ""

    def check(self) -> None:
        """Raise a ValueError that names what is wrong."""
        for name in ("floor", "control_share"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {value}")
        if self.reward_wait is not None and real_array("reward_wait", self.reward_wait, ()) <= 0:
            raise ValueError(f"reward_wait must be positive seconds, got {self.reward_wait}")
        if self.default_reward is not None and self.reward_wait is None:
            raise ValueError("reward_wait must be given with default_reward, got none")
        if self.control_share > 0 and self.control_arm is None:
            raise ValueError("control_arm must be given with control_share, got none")
        self._check_watching()
        if not 0 <= self.draws <= 10_000:
            raise ValueError(f"draws must be in [0, 10000], got {self.draws}")
        if len(self.description) > 10_000:
            raise ValueError("description must have at most 10,000 characters")
        agent = self.make_agent(lambda event: None, seed=0)
        if self.default_reward is not None:
            agent.belief.check_rewards("default_reward", self.default_reward)
        arm = self.control_arm
        if arm is not None and self.arms is not None and arm not in self.arms:
            raise ValueError(f"control_arm must be one of arms, got {arm!r}")

    def _check_watching(self) -> None:
        """Guardrails and the sample-ratio check."""
        if len(self.guardrails) > MOST_GUARDRAILS:
            raise ValueError(
                f"guardrails must be at most {MOST_GUARDRAILS}, got {len(self.guardrails)}"
            )
        for guardrail in self.guardrails:
            guardrail.check()
        names = [one.name for one in self.guardrails]
        if len(set(names)) < len(names):
            raise ValueError(f"guardrails must have different names, got {names!r:.80}")
        if names and self.control_arm is None:
            raise ValueError("control_arm must be given with guardrails: what is played instead")
        if self.ratio_check != "none" and not self.draws:
            raise ValueError("draws must be positive with a ratio_check, which needs propensities")

    def make_agent(
        self,
        journal: Callable[[Event], object],
        seed: int,
        clock: Callable[[], float] = time.time,
        believed: Model | None = None,
    ) -> Agent:
        """An agent that knows nothing of any task yet.

        If `believed` is given, it is what the agent believes in, whatever the settings say.
        """
        model = None if self.prior is None else _model(self.prior)
        rule: str | Recipe | None = self.rule
        recipe = checked_recipe(rule, "rule")
        if believed is not None:
            model, rule = believed, replace(recipe, believe=as_given)
        prior: Model | Start | None = model
        if self.encoder is not None:
            if model is None:
                raise ValueError("prior must be given with an encoder, got none")
            prior = Start(model, encoder=Encoder.from_dict(self.encoder))
        arms: Any = self.arms
        if isinstance(arms, dict):
            arms = {name: np.array(row, float) for name, row in arms.items()}
        return Agent(
            prior, rule, arms=arms,
            num_features=self.num_features if believed is None else None,
            rewards=self.rewards if believed is None else None,
            seed=seed, draws=self.draws, floor=self.floor, clock=clock,
            journal=journal, remember=self.remember, limits=self._limits(),
        )  # fmt: skip

    def _limits(self) -> Limits:
        """How large the agent may grow."""
        given = {"tasks": self.most_tasks, "pending": self.most_pending}
        own = {name: value for name, value in given.items() if value is not None}
        return Limits(**LIMITS.to_dict() | own)

    def to_json(self) -> bytes:
        """As it is stored and sent."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> "PolicySettings":
        """What `to_json` gave."""
        return msgspec.json.decode(data, type=cls)


def _model(parts: dict[str, Any]) -> Model:
    """The model of a prior: prior.json has no kind, which its other parts tell."""
    if "kind" not in parts:
        marks = {"covs": "gaussian hierarchy", "hierarchy": "generalized hierarchy"}
        kinds = [kind for mark, kind in marks.items() if mark in parts]
        if len(kinds) != 1:
            raise ValueError(
                "prior must be what `hierbandits learn` writes into prior.json, or have a kind, "
                f"got an object with {sorted(parts)!r:.80}"
            )
        parts = {"kind": kinds[0]} | parts
    return model_from_dict(parts)
