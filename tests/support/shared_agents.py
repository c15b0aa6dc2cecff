"""Threads that share one agent: calls of every kind, and what must hold in the end."""

import threading
from contextlib import suppress

import numpy as np

from hierbandits import POLICIES, Agent, RewardConflict, UnknownDecision
from hierbandits.models.unknown_widths import UnknownWidths
from support.agent_lives import (
    ARMS,
    FAMILY_PRIORS,
    GRID_PRIORS,
    UNEVEN,
    agent_can_forget,
    as_reward,
)
from support.agents import LINEAR, state

KINDS = {
    "armed": (UNEVEN, ["a", "b", "c"]),
    "linear": (LINEAR, ARMS),
    "bernoulli armed": (FAMILY_PRIORS["bernoulli"], ["a", "b", "c"]),
    "beta": (GRID_PRIORS["beta"], ["a", "b", "c"]),
    "poisson linear": (FAMILY_PRIORS["poisson"], ARMS),
    "unknown armed": (UnknownWidths.of(3, armed=True), ["a", "b", "c"]),
    "unknown linear": (UnknownWidths.of(2, armed=False), ARMS),
}


def able(kind):
    """The policies that an agent of this kind can have."""
    for policy, recipe in POLICIES.items():
        if recipe.knows_truth:
            continue
        try:
            recipe(KINDS[kind][0])
        except (ValueError, AttributeError):
            continue
        yield policy


class Shared:
    """An agent that several threads use, and its journal."""

    def __init__(self, kind, policy, folder):
        self.prior, self.arms = KINDS[kind]
        self.kind, self.policy, self.folder = kind, policy, folder
        self.events, self.errors, self.calls = [], [], 0
        self.agent = Agent(
            self.prior, policy, arms=self.arms, seed=0, journal=self.events.append, draws=4
        )
        self.agent.decide_many([f"t{i}" for i in range(4)])

    def use(self, threads, goes_on):
        """Let so many threads call the agent; each goes on as `goes_on` says of its turns."""
        start = threading.Barrier(threads)

        def work(number):
            try:
                rng = np.random.default_rng(number)
                start.wait()
                turn = 0
                while not self.errors and goes_on(turn):
                    self._call(rng, number)
                    turn += 1
                self.calls += turn  # by the lock of no one, but only reported
            except BaseException as error:
                self.errors.append(error)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if self.errors:
            raise self.errors[0]

    def _call(self, rng, number):
        """One call of any kind."""
        agent, kind = self.agent, int(rng.integers(16))
        tasks = [f"t{i}" for i in rng.integers(12, size=3)]
        if kind < 3:
            agent.decide(tasks[0])
        elif kind < 5:
            agent.decide_many([*tasks, f"of {number}"])
        elif kind < 9:
            waiting = agent.pending[-30:]
            if waiting:
                with suppress(RewardConflict, UnknownDecision):  # another thread was faster
                    agent.reward(waiting[rng.integers(len(waiting))].id, self._values(rng)[0])
        elif kind == 9:
            mine = agent.decide_many(tasks)
            with suppress(RewardConflict):
                agent.reward_many([made.id for made in mine], self._values(rng, 3))
        elif kind == 10:
            features = rng.integers(3, size=3) if agent.prior.is_armed else ARMS
            agent.learn(tasks, features, self._values(rng, 3))
        elif kind == 11:
            with agent._lock:
                done = list(agent._state.ledger.settled)[-20:]
            if done:
                with suppress(UnknownDecision):
                    agent.correct(done[rng.integers(len(done))], self._values(rng)[0])
        elif kind == 12:
            agent.expire(float(rng.exponential(0.05)), default=as_reward(self.prior, 0.2))
        elif kind == 13 and rng.random() < 0.3:
            with agent._lock:  # no other may meet a task that shares the node meanwhile
                if f"of {number}" in agent.tasks and agent_can_forget(agent):
                    agent.forget(f"of {number}")
        elif kind == 14 and rng.random() < 0.3:
            self._save(number)
        else:
            assert len(agent.table()["task"]) % agent.prior.dim == 0
            assert repr(agent).startswith("Agent(")

    def _values(self, rng, number=1):
        """Rewards that the model can have."""
        return [as_reward(self.prior, value) for value in rng.normal(size=number)]

    def _save(self, number):
        """A file holds one moment: all that it says agrees."""
        path = self.folder / f"agent {number}"
        self.agent.save(path)
        loaded = Agent.load(path)
        assert loaded._state.sums.count() == loaded.belief.num_rewards.sum()
        again = Agent.replay(
            self.events[: loaded._state.num_events], self.prior, self.policy, arms=self.arms
        )
        assert state(again)[:-1] == state(loaded)[:-1]

    def check(self):
        """The journal in its order gives the same bytes; in any other, the same posterior."""
        agent = self.agent
        again = Agent.replay(self.events, self.prior, self.policy, arms=self.arms)
        assert state(again)[:-1] == state(agent)[:-1]
        if self.kind.startswith("unknown") or self.policy == "AdaptiveHierTS":
            return  # which widths were fitted depends on when rewards came
        if not self.agent.belief.IS_GAUSSIAN:
            return  # an approximation, which depends a little on the order
        rows = np.random.default_rng(0).permutation(np.array(self._rows(), object))
        other = Agent(self.prior, self.policy, arms=self.arms)
        for part in np.array_split(rows, 7):
            if len(part):
                tasks, features, rewards = zip(*part, strict=True)
                other.learn(tasks, features, rewards)
        for task in agent.tasks:
            if task in other.tasks:
                one, two = (each.belief.task(each.node(task)) for each in (agent, other))
                np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(one.cov, two.cov, rtol=1e-9, atol=1e-9)
        evidence = (each.belief.log_evidence() for each in (agent, other))
        np.testing.assert_allclose(*evidence, rtol=1e-9, atol=1e-9)

    def _rows(self):
        """What the journal tells of tasks, features and rewards, each row once, in the end."""
        made, rewards, rows = {}, {}, []
        for event in self.events:
            match event["kind"]:
                case "decide":
                    made |= {one["id"]: one for one in event["decisions"]}
                case "reward":
                    rewards |= dict(zip(event["ids"], event["values"], strict=True))
                case "correct":
                    rewards[event["id"]] = event["value"]
                case "expire":
                    rewards |= dict.fromkeys(event["ids"], event["default"])
                case "learn":
                    told = event["arms"] or event["features"]
                    rows += zip(event["tasks"], told, event["rewards"], strict=True)
                case "forget":
                    gone = event["task"]
                    rows = [row for row in rows if row[0] != gone]
                    made = {id: one for id, one in made.items() if one["task"] != gone}
                    rewards = {id: value for id, value in rewards.items() if id in made}
        played = "arm" if self.agent.prior.is_armed else "features"
        return rows + [(made[id]["task"], made[id][played], y) for id, y in rewards.items()]


def turns(number):
    """Go on for so many turns."""
    return lambda turn: turn < number
