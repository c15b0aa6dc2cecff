"""One lock for each agent: threads take turns, and a forked child is free."""

import threading

import numpy as np
from support.agents import ARMED, ARMS, LINEAR, state
from support.processes import in_child

from hierbandits import Agent
from hierbandits.agent.agent_lock import FORK_GUARD


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
