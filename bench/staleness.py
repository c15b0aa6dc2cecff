"""`python -m bench.staleness`: what old generations of the hyper-posterior cost in regret.

Worlds of twenty tasks with five arms are decided for as workers do that share a store: by a
generation of what all tasks have told, and by the acting task's own sums.  Who folds does so after
every reward, when rewards have grown, after a fixed number, or never.  One line acts on the folded
sums of the acting task too: its own newest rewards do not count then.  `bench.served_staleness`
does the same with workers.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import hierbandits as hb
from hierbandits.agent.running_sums import RunningSums, row_size
from hierbandits.agent.visited_tasks import VisitedTasks
from hierbandits.beliefs.absent_tasks import without
from hierbandits.types import Indices, Matrix, Vector

TASKS, ARMS, EACH = 20, 5, 30
_OTHER = 10**6  # a seed of agents that is none of a world
ARM_NAMES = [str(arm) for arm in range(ARMS)]
PRIOR = hb.GaussianHierarchy.armed(ARMS, hyper_std=1.0, task_std=0.3, noise_std=1.0)


@dataclass(frozen=True)
class World:
    """What is true of tasks, the order in which they come, and the noise of each reward."""

    theta: Matrix  # (tasks, arms)
    order: Indices  # (decisions,)
    noise: Vector  # (decisions,)

    def regret(self, task: int, arm: int) -> float:
        """What an arm gives a task less than its best one does."""
        return float(self.theta[task].max() - self.theta[task, arm])

    def reward(self, place: int, arm: int) -> float:
        """What the task that comes at a place gets."""
        return float(self.theta[self.order[place], arm] + self.noise[place])


def worlds(number: int) -> Iterator[World]:
    """The same ones for whoever decides."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        theta = rng.normal(size=ARMS) + 0.3 * rng.normal(size=(TASKS, ARMS))
        order = rng.permutation(np.repeat(np.arange(TASKS), EACH))
        yield World(theta, order, rng.normal(size=len(order)))


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


def regret(refresh: Refresh, rule: str, world: World, seed: int) -> float:
    """The total regret in one world."""
    agent = hb.Agent(PRIOR, rule, arms=ARM_NAMES, seed=seed)
    visits = VisitedTasks(agent)
    now = RunningSums(ARMS, armed=True, rows=np.zeros((TASKS, row_size(ARMS, armed=True))))
    folded, told = now.table.copy(), visits.absent.nothing()
    lost, in_fold, new = 0.0, 0, 0
    for place, task in enumerate(world.order.tolist()):
        known = now.table if refresh.fresh else folded
        own = RunningSums(ARMS, armed=True, rows=folded[[task]]).total(1)
        others = without(told, visits.absent.told_by(own))
        visits.come([task], RunningSums(ARMS, armed=True, rows=known[[task]]), others)
        arm = int(agent.decide(task).arm)
        now.add(task, arm, world.reward(place, arm))
        lost, new = lost + world.regret(task, arm), new + 1
        if refresh.is_due(in_fold, new):
            folded, in_fold, new = now.table.copy(), in_fold + new, 0
            told = visits.absent.told_by(now.total(TASKS))
    return lost


def table(title: str, found: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Lines of mean regrets, and of how much more they are than the first, in the same worlds."""
    first = np.array(next(iter(found.values())))
    yield f"{title:<34}{'regret':>8}{'more':>8}{'+-':>6}"
    for name, values in found.items():
        more = np.array(values) - first
        error = more.std(ddof=1) / np.sqrt(len(more))
        yield f"{name:<34}{np.mean(values):>8.1f}{more.mean():>8.1f}{error:>6.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--rule", default="HierIDS")
    words = parser.parse_args()
    found: dict[str, list[float]] = {one.name: [] for one in REFRESHES}
    for number, world in enumerate(worlds(words.worlds)):
        for refresh in REFRESHES:
            found[refresh.name].append(regret(refresh, words.rule, world, _OTHER + number))
    print(*table(f"{words.rule}, {words.worlds} worlds", found), sep="\n")


if __name__ == "__main__":
    main()
