"""Tasks that are kept elsewhere: a belief hears what they tell, and of some it knows the sums."""

import numpy as np

from hierbandits.algebra import condition, square_root
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.contribution import Contribution, told_by_sums
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


class AbsentTasks:
    """A belief of one population of two levels, whose tasks come and go.

    What the root has heard from tasks that are not here are sums of their C_s and b_s; see
    `Contribution`.  With a few of all tasks here, what is known of them is the same as in a belief
    that holds all tasks.  Sums are those of Gaussian rewards, or of the sites of others.
    """

    def __init__(self, belief: Belief) -> None:
        if belief.num_levels != 2 or belief.num_populations != 1:
            raise ValueError(
                "belief must have one population of two levels, got "
                f"{belief.num_populations} of {belief.num_levels}"
            )
        self._belief = belief
        (prior,) = belief._nodes.levels.hierarchies
        self._start = prior.hyper_mean, square_root(prior.hyper_cov)

    @classmethod
    def of(cls, hierarchy: GaussianHierarchy) -> "AbsentTasks":
        """With a belief of its own."""
        return cls(Belief(hierarchy))

    def leave(self) -> None:
        """Let all tasks go, and the root know what was assumed before any reward."""
        belief = self._belief
        belief._raw_remove_newest(belief.num_nodes - 1)
        belief._evidence = Evidence.none(1)
        self._put_root(*self._start)

    def hear(self, others: Contribution) -> None:
        """Let the root hear what tasks tell that are not here; none may be here now."""
        mean, factor, _ = condition(*self._start, others.precision, others.weighted)
        self._put_root(mean, factor)

    def _put_root(self, mean: Vector, factor: Matrix) -> None:
        self._belief._nodes.put_roots(slice(None), mean[None], factor[None])

    def learn(self, tasks: Indices, sums: TaskSums) -> None:
        """Let tasks that are here, and know nothing, learn sums, a row for each."""
        self._belief._learn_tasks(tasks, sums)

    def told_by(self, sums: TaskSums) -> Contribution:
        """What tasks of these sums tell, all together.

        It has the digits of the sums, however narrow task_cov is.  A ValueError if that is
        singular.
        """
        nodes = self._belief._nodes
        level = int(nodes.forest.level[self._belief.roots[0]]) + 1
        return told_by_sums(nodes.levels, level, sums)

    def nothing(self) -> Contribution:
        """What no task tells."""
        mean, factor = self._start
        return Contribution(np.zeros(factor.shape), np.zeros(mean.shape))


def without(whole: Contribution, part: Contribution) -> Contribution:
    """What the others tell, without some of the tasks.

    Rounding may leave a little less than nothing, which counts as nothing.
    """
    precision = whole.precision - part.precision
    weighted = whole.weighted - part.weighted
    if precision.ndim == 1:
        return Contribution(np.maximum(precision, 0.0), weighted)
    values, vectors = np.linalg.eigh((precision + precision.T) / 2)
    return Contribution(vectors * np.maximum(values, 0.0) @ vectors.T, weighted)
