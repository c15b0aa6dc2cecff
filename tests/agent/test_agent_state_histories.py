"""Random histories: whatever happens, in any order, an agent knows what remains of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agent_lives import PRIORS, check_knows, new_agent, task_of
from support.agents import Clock, state

from hierbandits import Agent, Decision

KINDS = ["decide", "decide", "reward", "reward", "learn", "correct", "expire", "forget", "arms"]


class Story:
    """An agent and what it should know: id to (decision, reward)."""

    def __init__(self, form, policy, seed):
        self.form, self.rng, self.events = form, np.random.default_rng(seed), []
        self.agent = new_agent(form, policy, journal=self.events.append, remember=None, draws=None)
        self.known, self.steps = {}, 0

    def tell(self, kind):
        self.steps += 1
        self.agent._books.clock.now += 1.0
        getattr(self, f"tell_{kind}")()

    def tell_decide(self):
        tasks = [task_of(self.form, int(n)) for n in self.rng.integers(4, size=2)]
        ids = [f"{self.steps}-{place}" for place in range(2)]
        self.agent.decide_many(tasks, ids=ids, best=self.rng.random() < 0.2)

    def tell_reward(self):
        ledger = self.agent._state.ledger
        waiting = [*ledger.pending.values()] + [e for e in ledger.settled.values() if e.provisional]
        chosen = [entry.decision for entry in waiting if self.rng.random() < 0.5]
        values = self.rng.normal(size=len(chosen)).tolist()
        assert self.agent.reward_many([made.id for made in chosen], values) == [True] * len(chosen)
        self.known |= {d.id: (d, value) for d, value in zip(chosen, values, strict=True)}

    def tell_learn(self):
        task, value = task_of(self.form, int(self.rng.integers(4))), float(self.rng.normal())
        dim, armed = self.agent.prior.dim, self.agent.prior.is_armed
        features = int(self.rng.integers(dim)) if armed else tuple(self.rng.normal(size=dim))
        arm = self.agent._state.catalogue.names[features] if armed else features
        self.agent.learn([task], [arm], [value])
        made = Decision(f"{self.steps}", task, 0, features, None, 0.0, ())
        self.known[made.id] = made, value

    def tell_correct(self):
        held = [id for id in self.known if id in self.agent._state.ledger.settled]
        if held:
            id = held[int(self.rng.integers(len(held)))]
            value = float(self.rng.normal())
            assert self.agent.correct(id, value) is True
            self.known[id] = self.known[id][0], value

    def tell_expire(self):
        made = {decision.id: decision for decision in self.agent.pending}
        if self.rng.random() < 0.3:
            self.agent.expire(5.0)
        else:
            ids = self.agent.expire(2.0, default=0.4)
            self.known |= {id: (made[id], 0.4) for id in ids}

    def tell_forget(self):
        if self.agent.tasks:
            task = self.agent.tasks[int(self.rng.integers(len(self.agent.tasks)))]
            self.agent.forget(task)
            self.known = {id: part for id, part in self.known.items() if part[0].task != task}

    def tell_arms(self):
        if self.agent.prior.is_armed:
            if self.agent.prior.dim < 6:
                self.agent.add_arm(f"new{self.steps}", task_std=float(self.rng.uniform(0.2, 1)))
            if len(self.agent._state.catalogue.own.names) > 1:
                self.agent.retire_arm(self.agent._state.catalogue.own.names[0])


@pytest.mark.parametrize("form", list(PRIORS))
@pytest.mark.parametrize("policy", ["HierTS", "HierTS-forced", "PooledTS", "AdaptiveHierTS"])
@settings(max_examples=12, deadline=None)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=5, max_size=40), seed=st.integers(0, 999))
def test_an_agent_knows_what_remains_of_any_history(form, policy, kinds, seed):
    story = Story(form, policy, seed)
    for kind in kinds:
        story.tell(kind)
    check_knows(story.agent, story.known)
    arms = ["a", "b", "c"][: PRIORS[form].dim]
    again = Agent.replay(
        story.events, PRIORS[form], policy, arms=arms if PRIORS[form].is_armed else None,
        clock=Clock(), remember=None,
    )  # fmt: skip
    assert state(again)[:-1] == state(story.agent)[:-1]
