"""`python -m bench.staleness`: what old generations of the hyper-posterior cost in regret.

Worlds of twenty tasks with five arms are decided for as workers do that share a store: by a
generation of what all tasks have told, and by the acting task's own sums.  Who folds does so after
every reward, when rewards have grown, after a fixed number, or never.  One line acts on the folded
sums of the acting task too: its own newest rewards do not count then.
"""

import argparse
from dataclasses import dataclass

import numpy as np

import hierbandits as hb
from hierbandits.agent.running_sums import RunningSums, row_size
from hierbandits.agent.visited_tasks import VisitedTasks
from hierbandits.beliefs.absent_tasks import without
from hierbandits.types import Matrix, Vector

TASKS, ARMS, EACH = 20, 5, 30
PRIOR = hb.GaussianHierarchy.armed(ARMS, hyper_std=1.0, task_std=0.3, noise_std=1.0)


@dataclass(frozen=True)
class Refresh:
    """When all that tasks know is folded."""

    name: str
    growth: float | None = None  # of the rewards, since the last time
    every: float = np.inf  # so many rewards
    fresh: bool = True  # whether the acting task's own rewards always count

    def is_due(self, folded: int, new: int) -> bool:
        """Whether it is time after so many new rewards."""
        return new >= self.every or (self.growth is not None and new > self.growth * folded)


REFRESHES = (
    Refresh("after every reward", every=1),
    Refresh("a tenth more", growth=0.1),
    Refresh("half more", growth=0.5),
    Refresh("after 100 rewards", every=100),
    Refresh("after 300 rewards", every=300),
    Refresh("never", every=np.inf),
    Refresh("after 100 rewards, own ones too", every=100, fresh=False),
)


def regret(refresh: Refresh, rule: str, theta: Matrix, order: Vector, seed: int) -> float:
    """The total regret in one world, whose tasks come in this order."""
    rng = np.random.default_rng(seed)
    names = [str(arm) for arm in range(ARMS)]
    agent = hb.Agent(PRIOR, rule, arms=names, seed=seed)
    visits = VisitedTasks(agent)
    now = RunningSums(ARMS, armed=True, rows=np.zeros((TASKS, row_size(ARMS, armed=True))))
    folded, told = now.table.copy(), visits.absent.nothing()
    lost, in_fold, new = 0.0, 0, 0
    for task in order.tolist():
        known = now.table if refresh.fresh else folded
        own = RunningSums(ARMS, armed=True, rows=folded[[task]]).total(1)
        others = without(told, visits.absent.told_by(own))
        visits.come([task], RunningSums(ARMS, armed=True, rows=known[[task]]), others)
        arm = int(agent.decide(task).arm)
        now.add(task, arm, float(theta[task, arm] + rng.normal()))
        lost, new = lost + theta[task].max() - theta[task, arm], new + 1
        if refresh.is_due(in_fold, new):
            folded, in_fold, new = now.table.copy(), in_fold + new, 0
            told = visits.absent.told_by(now.total(TASKS))
    return float(lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--rule", default="HierIDS")
    words = parser.parse_args()
    found: dict[str, list[float]] = {one.name: [] for one in REFRESHES}
    for world in range(words.worlds):
        rng = np.random.default_rng(world)
        theta = rng.normal(size=ARMS) + 0.3 * rng.normal(size=(TASKS, ARMS))
        order = rng.permutation(np.repeat(np.arange(TASKS), EACH))
        for refresh in REFRESHES:
            found[refresh.name].append(regret(refresh, words.rule, theta, order, world))
    first = np.array(found[REFRESHES[0].name])
    print(f"{words.rule}, {words.worlds} worlds{'':<14}{'regret':>8}{'more':>8}{'+-':>6}")
    for name, values in found.items():
        more = np.array(values) - first
        error = more.std(ddof=1) / np.sqrt(len(more))
        print(f"{name:<34}{np.mean(values):>8.1f}{more.mean():>8.1f}{error:>6.1f}")


if __name__ == "__main__":
    main()
