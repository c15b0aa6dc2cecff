"""What an agent holds in memory: `python -m bench.agent_memory` prints the table."""

import tracemalloc
from dataclasses import dataclass

import numpy as np

import hierbandits as hb

TASKS, DECISIONS = 20_000, 50_000


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """Bytes for each task, and for each decision that is pending or settled."""

    form: str
    task: float
    pending: float
    settled: float


def agent_memory(prior: hb.GaussianHierarchy) -> AgentMemory:
    """An agent that meets many tasks, then decides often, then learns all rewards."""
    arms = None if prior.is_armed else np.random.default_rng(0).normal(size=(10, prior.dim))
    agent = hb.Agent(prior, arms=arms, seed=0, remember=None)
    agent.reward(agent.decide("first").id, 0.0)
    tracemalloc.start()
    once = np.zeros(TASKS, np.intp) if prior.is_armed else np.ones((TASKS, prior.dim))
    agent.learn(range(TASKS), once, np.zeros(TASKS))
    agent.summary()
    with_tasks = tracemalloc.get_traced_memory()[0]
    assert isinstance(agent.belief, hb.Belief)
    untraced = agent.belief.nbytes
    for number in range(DECISIONS):
        agent.decide(number % TASKS)
    pending = tracemalloc.get_traced_memory()[0]
    for decision in agent.pending:
        agent.reward(decision.id, 1.0)
    settled = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    form = f"{prior.dim} {'arms' if prior.is_armed else 'features'}"
    return AgentMemory(
        form,
        (with_tasks + untraced) / TASKS,
        (pending - with_tasks) / DECISIONS,
        (settled - with_tasks) / DECISIONS,
    )


def main() -> None:
    """Print a row for each form of agent."""
    print("| agent | bytes per task | per pending decision | per settled decision |")
    print("|---|---|---|---|")
    for prior in (
        hb.GaussianHierarchy.armed(10, hyper_std=1.0, task_std=0.3, noise_std=0.5),
        hb.GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.3, noise_std=0.5),
        hb.GaussianHierarchy.linear(16, hyper_std=1.0, task_std=0.3, noise_std=0.5),
    ):
        held = agent_memory(prior)
        print(f"| {held.form} | {held.task:,.0f} | {held.pending:,.0f} | {held.settled:,.0f} |")


if __name__ == "__main__":
    main()
