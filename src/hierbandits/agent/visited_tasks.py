"""Tasks that an agent knows for the length of a round; they are kept elsewhere."""

from collections.abc import Sequence

import numpy as np

from hierbandits.agent.agent import Agent
from hierbandits.agent.running_sums import RunningSums
from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.contribution import Contribution
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import TaskName


class VisitedTasks:
    """Lets an agent know the tasks of a round, and nothing of those before.

    The agent must know its widths.  What it decides in the round has its place in the posterior of
    all tasks: of those that are not here it has heard what they tell.
    """

    def __init__(self, agent: Agent) -> None:
        if not isinstance(agent.belief, Belief) or agent.belief.FITS_WIDTHS:
            raise ValueError(f"agent must have a belief of known widths, got {agent.belief!r:.80}")
        self._agent, self.absent = agent, AbsentTasks(agent.belief)

    def come(
        self,
        tasks: Sequence[TaskName],
        sums: RunningSums,
        others: Contribution,
        sites: TaskSums | None = None,
    ) -> None:
        """Let these tasks be there, each with a row of sums; all others tell `others`.

        Where rewards belong to a family, `sites` are the sums of the sites that stand for them.
        """
        books = self._agent._books
        state = books.whole()
        state.ledger.drop(list(state.ledger.pending.values()))
        state.roster.unmeet(0, 1)
        self.absent.leave()
        self.absent.hear(others)
        members = state.roster.meet_all(books.paths(tasks))
        state.sums = sums
        known = sums.total(len(members)) if sites is None else sites
        seen = np.flatnonzero(known.n > 0)
        if seen.size:
            nodes = np.array([member.node for member in members], np.intp)
            self.absent.learn(nodes[seen], known.rows(seen))
        state.num_rewards = int(state.belief.num_rewards.sum())
