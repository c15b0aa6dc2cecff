"""What a policy might be told to be, to be judged by its log first."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from hierbandits.checks import probability
from hierbandits.service.policy_settings import PolicySettings


class Candidate(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Settings of a policy that are to be judged by its log; those not given are as they are.

    These are the settings of which a log can tell what they earn.
    """

    rule: str | UnsetType | None = UNSET
    """The name of a policy of the library."""
    prior: dict[str, Any] | UnsetType | None = UNSET
    """A model as `hierbandits learn` writes it; null to fit one to the earlier rows."""
    rewards: str | UnsetType | None = UNSET
    """The family of rewards."""
    floor: float | UnsetType | None = UNSET
    """The share of decisions made uniformly at random."""
    confidence: float = 0.95
    """How often intervals are meant to cover the truth."""

    def settings(self, live: PolicySettings) -> PolicySettings:
        """The settings of the policy with these changes; a ValueError if they are wrong."""
        probability("confidence", self.confidence)
        names = ("rule", "prior", "rewards", "floor")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not UNSET}
        changed: PolicySettings = msgspec.structs.replace(live, **given)
        changed.check()
        return changed
