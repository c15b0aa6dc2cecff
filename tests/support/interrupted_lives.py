"""Lives of agents whose calls are interrupted at any place, beside twins who are left in peace."""

from functools import partial

import numpy as np

from hierbandits import Agent
from hierbandits.agent.agent_lock import depth
from support.agent_lives import (
    EVERY_PRIOR,
    agent_can_forget,
    as_reward,
    check_knows,
    first_arms,
    new_agent,
    task_of,
)
from support.agents import state
from support.interrupts import alarmed, interrupted

ERRORS = (KeyboardInterrupt, MemoryError)


class Life:
    """Random calls of an agent, each as a function of the agent: a twin can do the same."""

    def __init__(self, form, rng):
        self.form, self.rng = form, rng
        self.made = 0
        self.arms = ["a", "b", "c"][: EVERY_PRIOR[form].dim]

    def call(self, agent):
        """The next call, which the agent can take; no call changes nothing."""
        kinds = [self.decide, self.decide, self.reward, self.reward, self.reward, self.round]
        kinds += [self.best, self.rewards, self.rewards, self.correct, self.learn, self.expire]
        kinds += [self.default, self.replaced, self.gross]
        if self.rng.random() < 0.3:
            kinds += [self.forget, self.past]
            kinds += [self.add_arm, self.retire] if agent.prior.is_armed else []
        while True:
            kind = kinds[self.rng.integers(len(kinds))]
            action = kind(agent)
            if action is not None:
                return action

    def value(self):
        return as_reward(EVERY_PRIOR[self.form], self.rng.normal())

    def task(self):
        return task_of(self.form, int(self.rng.integers(12)))

    def ids(self, number):
        self.made += number
        return [f"d{self.made - i}" for i in range(number)]

    def decide(self, agent):
        (id,), task = self.ids(1), self.task()
        return lambda agent: agent.decide(task, id=id)

    def round(self, agent):
        tasks = [self.task() for _ in range(self.rng.integers(1, 5))]
        ids = self.ids(len(tasks))
        return lambda agent: agent.decide_many(tasks, ids=ids)

    def best(self, agent):
        (id,), task = self.ids(1), self.task()
        return lambda agent: agent.decide(task, id=id, best=True)

    def reward(self, agent):
        if agent.pending:
            id = agent.pending[self.rng.integers(len(agent.pending))].id
            value = self.value()
            return lambda agent: agent.reward(id, value)
        return None

    def rewards(self, agent):
        waiting = [made.id for made in agent.pending] + self.defaults(agent)
        if waiting:
            ids = self.rng.permutation(waiting)[:6].tolist()
            values = [self.value() for _ in ids]
            return lambda agent: agent.reward_many(ids, values)
        return None

    def defaults(self, agent):
        return [entry.id for entry in agent._state.ledger.settled.values() if entry.provisional]

    def replaced(self, agent):
        given = self.defaults(agent)
        if given:
            value = self.value()
            return lambda agent: agent.reward(given[0], value)
        return None

    def correct(self, agent, value=None):
        settled = list(agent._state.ledger.settled)
        if settled:
            id = settled[self.rng.integers(len(settled))]
            other = self.value() if value is None else value
            return lambda agent: agent.correct(id, other)
        return None

    def gross(self, agent):
        """An error in a reward, or what puts it right: then the belief starts over."""
        if not agent.belief.IS_GAUSSIAN:
            return None
        wrong = [e for e in agent._state.ledger.settled.values() if abs(e.reward) > 1e4]
        if not wrong:
            return self.correct(agent, 1e5) if self.rng.random() < 0.3 else None
        return lambda agent: agent.correct(wrong[0].id, 0.5)

    def learn(self, agent):
        tasks = [self.task() for _ in range(self.rng.integers(1, 4))]
        size, rewards = len(tasks), [self.value() for _ in tasks]
        features = self.rng.normal(size=(size, agent.prior.dim))
        if agent.prior.is_armed:
            features = self.rng.integers(agent.prior.dim, size=size)
            names = agent._state.catalogue.names
            features = [names[place] for place in features]
        return lambda agent: agent.learn(tasks, features, rewards)

    def past(self, agent):
        adds_up = agent.belief.IS_GAUSSIAN or agent.prior.is_armed
        new = not agent.belief.num_rewards.any() and agent.prior.dim == EVERY_PRIOR[self.form].dim
        if new and adds_up:
            tasks = [task_of(self.form, number) for number in (1, 2, 14)]
            twin = new_agent(self.form, "HierTS")
            twin.learn(tasks, twin._state.belief.checked_features(
                np.arange(3) % 2 if agent.prior.is_armed else np.eye(3)[:, : agent.prior.dim], 3
            ), [1.0, as_reward(agent.prior, 0.5), 0.0])  # fmt: skip
            sums = twin._state.totals()
            return lambda agent: agent.learn_past(tasks, sums)
        return None

    def expire(self, agent, default=None):
        clock = agent._books.clock
        clock.now += float(self.rng.integers(1, 5)) * (1 if self.rng.random() < 0.8 else -1)
        age = float(self.rng.integers(1, 6))
        return lambda agent: agent.expire(age, default=default)

    def default(self, agent):
        return self.expire(agent, as_reward(agent.prior, 0.3))

    def forget(self, agent):
        if agent.tasks and agent_can_forget(agent):
            task = agent.tasks[self.rng.integers(len(agent.tasks))]
            return lambda agent: agent.forget(task)
        return None

    def add_arm(self, agent):
        if len(self.arms) < 5:
            self.arms.append(f"arm{len(self.arms)}")
            name = self.arms[-1]
            return lambda agent: agent.add_arm(name, hyper_mean=0.1)
        return None

    def retire(self, agent):
        offered = agent._state.catalogue.own.names
        if len(offered) > 2:
            name = offered[self.rng.integers(len(offered))]
            return lambda agent: agent.retire_arm(name)
        return None


def a_place(rng):
    """Where to interrupt a call, mostly early, and perhaps what cleans up after it."""
    first = int(rng.integers(10 ** rng.uniform(0.3, 3.2)))
    return (first, int(rng.integers(40))) if rng.random() < 0.4 else (first,)


def by_error(rng, action):
    """Interrupt an action by an error at any place; returns whether it was interrupted."""
    return interrupted(action, ERRORS[rng.integers(len(ERRORS))], *a_place(rng))


def by_signal(rng, action):
    """Interrupt an action by a real signal after some microseconds."""
    return alarmed(action, 10 ** rng.uniform(-5.3, -3))


def in_peace(_, action):
    """Interrupt nothing.

    Before a kernel is first called it is compiled or loaded, and numba does not survive interrupts
    of that: a life in peace comes before others of its kind.
    """
    action()
    return False


def interrupted_life(form, policy, seed, events, *, journal, interrupt=by_error):
    """Let an agent and its twin lead one life, in which every call of the agent is interrupted.

    After each the agent is as before the call or as after it; then it is as its twin, bit for
    bit.  Returns how many calls were interrupted.
    """
    rng, written, number = np.random.default_rng(seed), [], 0
    agent, twin = (
        new_agent(form, policy, seed=1, journal=write if journal else None)
        for write in (written.append, lambda _: None)
    )
    twin._books.clock = clock = agent._books.clock
    life, before = Life(form, rng), state(twin)
    for _ in range(events):
        call = life.call(agent)
        was_interrupted = interrupt(rng, partial(call, agent))
        number += was_interrupted
        if was_interrupted and rng.random() < 0.3:  # what was left to do is interrupted again
            number += interrupt(rng, lambda: agent.tasks)
        assert depth(agent._lock) == 0
        now = state(agent)
        assert agent._state.sums.count() == agent.belief.num_rewards.sum()
        assert not journal or len(written) == agent._state.num_events
        call(twin)
        after = state(twin)
        assert now == after or (was_interrupted and now == before), (form, policy, call)
        if now != after:
            call(agent)
            assert state(agent) == after, (form, policy, call)
        before = after
    if journal:
        again = Agent.replay(written, EVERY_PRIOR[form], policy, arms=first_arms(form), clock=clock)
        assert state(again)[:-1] == state(agent)[:-1]
    return number


def interrupted_looks(form, seed, events, interrupt=by_error):
    """An agent that learns its widths, and whose calls are interrupted; returns how many were.

    What it knows stays the exact posterior under its widths, given all that it was told.
    """
    rng = np.random.default_rng(seed)
    agent, number, history = new_agent(form, "AdaptiveHierTS", seed=1), 0, {}
    for event in range(events):
        id, task, value = f"d{event}", task_of(form, int(rng.integers(8))), float(rng.normal())
        number += interrupt(rng, partial(agent.decide, task, id=id))
        if all(made.id != id for made in agent.pending):
            agent.decide(task, id=id)
        history[id] = agent.pending[-1], value
        many = partial(agent.reward_many, [id], [value])
        number += interrupt(rng, partial(agent.reward, id, value) if event % 3 else many)
        agent.reward(id, value)
        if event % 7 == 6:
            old, other = f"d{int(rng.integers(event))}", float(rng.normal())
            number += interrupt(rng, partial(agent.correct, old, other))
            agent.correct(old, other)
            history[old] = history[old][0], other
        assert agent._state.sums.count() == event + 1 == agent.belief.num_rewards.sum()
        if event % 50 == 49:
            check_knows(agent, history)
    made = agent.decide(task_of(form, 0), id="last")
    agent.reward("last", 0.5)  # in peace: a look that was interrupted begins anew
    history["last"] = made, 0.5
    agent.belief.state()  # ends it
    assert agent.belief.due[0] > events + 1
    check_knows(agent, history)
    return number
