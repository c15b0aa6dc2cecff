"""A belief that starts over from the sums of its rewards, made aside and then put in place."""

from dataclasses import dataclass

import numpy as np

from hierbandits.agent.roster import Roster
from hierbandits.agent.running_sums import RunningSums
from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.policy import Policy
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True, eq=False)
class StartOver:
    """A new policy that has learned all sums, and the tasks' nodes in its belief.

    Nothing of an agent changes until it takes them, and calls `place`.
    """

    policy: Policy
    sums: RunningSums
    roster: Roster
    nodes: Indices  # of each task

    @classmethod
    def of(cls, policy: Policy, sums: RunningSums, roster: Roster, old: Posterior) -> "StartOver":
        """Let a new policy learn the sums, which have a row for each task of the roster.

        `old` is the belief that knows the roster's tasks.
        """
        before = np.array([member.node for member in roster], np.intp)
        moved, nodes = roster.moved_to(policy.belief)
        policy.belief._raw_start_over(old, before, nodes, sums.total(len(roster)))
        count_decisions(policy, moved, nodes)
        return cls(policy, sums, moved, nodes)

    def place(self) -> None:
        """Give every task its new node and row; twice is as once."""
        for row, (member, node) in enumerate(zip(self.roster, self.nodes.tolist(), strict=True)):
            member.node, member.row = node, row


def count_decisions(policy: Policy, roster: Roster, nodes: Indices) -> None:
    """Tell a forced start how often each task, at these nodes, has explored."""
    if policy.forced is not None:
        decided = np.zeros(policy.belief.num_nodes, np.int32)
        for member, node in zip(roster, nodes.tolist(), strict=True):
            decided[node] += member.decisions - member.best
        policy.forced = ForcedStart(decided)
