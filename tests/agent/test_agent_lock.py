"""One lock for each agent: threads take turns, and a forked child is free."""

import contextlib
import os
import sys
import threading

import numpy as np
import pytest
from support.agents import ARMED, ARMS, LINEAR, Clock, state
from support.processes import in_child

from hierbandits import Agent, GaussianHierarchy
from hierbandits.agent.agent_lock import FORK_GUARD, ForkGuard, depth


def test_threads_that_share_an_agent_lose_nothing():
    agent = Agent(LINEAR, arms=ARMS, seed=0)
    agent.decide("warm")
    threads, each, errors = 6, 150, []
    start = threading.Barrier(threads)

    def work(number):
        try:
            start.wait()
            for i in range(each):
                made = agent.decide_many([f"t{i % 7}", number])
                agent.reward_many([one.id for one in made], [1.0, float(i)])
                agent.learn([f"t{i % 3}"], [[1.0, 0.5]], [0.5])
                agent.table() if i % 50 == 0 else agent.summary(max_rows=2)
                if i % 60 == 59:
                    agent.forget(number)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    totals = agent._state.totals()
    by_name = dict(zip(agent.tasks, totals.n.tolist(), strict=True))
    shared = sum(count for name, count in by_name.items() if str(name).startswith("t"))
    assert shared == threads * each * 2
    assert all(by_name[number] == each - 2 * 60 for number in range(threads))
    assert agent.belief.num_rewards.sum() == totals.n.sum()
    again = Agent(LINEAR, seed=0)
    again.learn_past(agent.tasks, totals)
    for task in agent.tasks:
        one, other = (a.belief.task(a.node(task)) for a in (agent, again))
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-9)


def test_a_child_forked_while_threads_work_has_a_whole_agent_of_its_own():
    agent = Agent(ARMED, seed=0)
    agent.decide("t")
    stop = threading.Event()

    def work():
        while not stop.is_set():
            agent.reward_many([made.id for made in agent.decide_many(["t", "s"])], [1.0, 2.0])

    def whole():
        agent.decide("t")  # the lock is free, though its holder's thread is gone
        return int(agent._state.totals().n.sum() - agent.belief.num_rewards.sum())

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert [in_child(whole) for _ in range(20)] == ["0"] * 20
    finally:
        stop.set()
        worker.join()


def test_a_fork_inside_a_call_leaves_the_lock_as_it_was():
    events = []

    def journal(event):
        events.append(in_child(lambda: agent.tasks))

    agent = Agent(ARMED, seed=0, journal=journal)
    agent.decide("t")
    assert events == ["['t']"]
    before = state(agent)
    assert not FORK_GUARD._taken
    free = threading.Thread(target=lambda: events.append(agent.tasks))
    free.start()
    free.join(10)
    assert events[-1] == ["t"]
    assert state(agent) == before


def test_a_fork_waits_for_agents_that_call_each_other():
    """One thread holds the lock of one agent and wants that of another, in both directions."""
    first, second = (Agent(ARMED, seed=0) for _ in range(2))
    left = Agent(ARMED, seed=0, journal=lambda _: second.decide("t"))
    right = Agent(ARMED, seed=0, journal=lambda _: first.decide("t"))
    stop, errors = threading.Event(), []

    def work(agent):
        try:
            while not stop.is_set():
                agent.decide("t")
        except BaseException as error:
            errors.append(error)

    def all_work():
        return [agent.decide("t").task for agent in (first, second, left, right)]

    workers = [threading.Thread(target=work, args=(agent,)) for agent in (left, right, left, right)]
    for worker in workers:
        worker.start()
    try:
        assert [in_child(all_work) for _ in range(10)] == ["['t', 't', 't', 't']"] * 10
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert errors == []


def test_no_agent_is_added_between_a_forks_look_at_them_and_the_fork():
    made = threading.Thread(target=lambda: Agent(ARMED, seed=0))
    FORK_GUARD._take()
    try:
        made.start()
        made.join(0.3)
        assert made.is_alive()
    finally:
        FORK_GUARD._release()
    made.join(60)
    assert not made.is_alive()


def test_agents_may_be_made_while_the_process_forks():
    stop, errors = threading.Event(), []
    kept = [Agent(ARMED, seed=0) for _ in range(300)]

    def work():
        try:
            while not stop.is_set():
                kept.append(Agent(ARMED, seed=0))
                del kept[0]
        except BaseException as error:
            errors.append(error)

    def make():
        return Agent(ARMED, seed=0).decide("t").task

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        assert [in_child(make) for _ in range(30)] == ["t"] * 30
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert errors == []


def test_a_fork_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(FORK_GUARD, "patience", 0.2)
    inside, go_on = threading.Event(), threading.Event()

    def journal(event):
        inside.set()
        go_on.wait(60)

    slow, other = Agent(ARMED, seed=0, journal=journal), Agent(ARMED, seed=0)
    worker = threading.Thread(target=lambda: slow.decide("t"))
    worker.start()
    inside.wait(60)

    def refused():
        other.decide("t")
        try:
            slow.decide("t")
        except RuntimeError as error:
            return error

    try:
        assert "its copy in this child is unusable" in in_child(refused)
    finally:
        go_on.set()
        worker.join()
    assert slow.tasks == ["t"]  # the parent's is whole
    assert in_child(lambda: slow.tasks) == "['t']"


@pytest.mark.parametrize("single", [True, False])
def test_children_choose_with_random_numbers_of_their_own(single):
    """Also those that were drawn ahead."""
    agent = Agent(GaussianHierarchy.armed(50, hyper_std=1, task_std=1, noise_std=1), "TS", seed=0)
    agent.decide("t")

    def choices():
        if single:
            return [agent.decide("t").arm for _ in range(10)]
        return [made.arm for made in agent.decide_many(["t", "s"] * 5)]

    children = [in_child(choices) for _ in range(3)]
    nested = in_child(lambda: in_child(choices))
    before = state(agent)
    assert len({*children, nested, str(choices())}) == 5
    assert state(agent) != before  # the parent goes on with its own


def test_a_fork_in_a_call_changes_nothing_of_it():
    children = []

    def journal(event):
        if not children:
            children.append(in_child(lambda: agent.tasks))

    agent, twin = (
        Agent(ARMED, seed=0, journal=write, clock=Clock()) for write in (journal, lambda _: None)
    )
    agent.decide("t", id="d")
    twin.decide("t", id="d")
    assert children == ["['t']"]
    assert state(agent) == state(twin)


def test_a_fork_after_an_interrupt_gives_the_child_a_whole_agent():
    agent = Agent(ARMED, seed=0)
    agent.decide("t", id="d")
    agent.reward("d", 1.0)
    agent.decide("t", id="e")
    entry = agent._state.ledger.pending["e"]
    own = agent._books.held
    own.unfinished = entry, 2.0, 1000.0
    own.belief._raw_observe_one(entry.member.node, entry.row, 2.0)  # and here it was interrupted

    def whole():
        return agent._books.held.unfinished, agent.reward("e", 2.0), agent._state.sums.count()

    assert in_child(whole) == str((None, False, 2.0))
    assert agent.reward("e", 2.0) is False


def test_an_error_while_a_child_begins_leaves_its_locks_free():
    agent, other = Agent(ARMED, seed=0), Agent(ARMED, seed=0)

    def fail():
        raise KeyboardInterrupt

    def free():
        freed = []
        threads = [
            threading.Thread(target=lambda each=each: freed.append(each.tasks))
            for each in (agent, other)
        ]
        for thread in threads:
            thread.daemon = True
            thread.start()
            thread.join(10)
        return freed

    agent._begin_child = other._begin_child = fail
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        assert in_child(free) == "[[], []]"


def test_the_depth_of_a_lock_is_that_of_the_calls_that_hold_it():
    lock = threading.RLock()
    depths = [depth(lock)]
    with lock:
        depths.append(depth(lock))
        with lock:
            depths.append(depth(lock))
    assert [*depths, depth(lock)] == [0, 1, 2, 0]


def test_an_interrupt_of_a_fork_that_waits_leaves_no_lock_behind(monkeypatch):
    agent, other = Agent(ARMED, seed=0), Agent(ARMED, seed=0)
    real = ForkGuard._try_all

    def interrupted(guard, first, taken, wait):
        real(guard, first, taken, wait)
        assert len(taken) > 2
        raise KeyboardInterrupt

    monkeypatch.setattr(ForkGuard, "_try_all", interrupted)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    def refused():
        try:
            agent.decide("t")
        except RuntimeError as error:
            return error

    assert "its copy in this child is unusable" in in_child(refused)
    monkeypatch.undo()
    assert depth(agent._lock) == depth(other._lock) == depth(FORK_GUARD._own) == 0
    assert FORK_GUARD._busy == []
    assert in_child(lambda: agent.decide("t").task) == "t"
