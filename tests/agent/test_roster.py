"""The roster: tasks by their names, and groups by their paths."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP
from support.states import belief_state

from hierbandits import POLICIES, Agent, Belief
from hierbandits.agent.roster import Roster


def test_names_keep_their_type_and_paths_make_groups():
    agent = Agent(ARMED, seed=0)
    agent.decide_many([1, "1", np.int64(1)])
    assert agent.tasks == [1, "1"]
    deep = Agent(DEEP, seed=0)
    deep.decide_many([("n", 1), ("n", 2), ("s", 1)], ARMS)
    assert deep.tasks == [("n", 1), ("n", 2), ("s", 1)]
    parent = deep.belief.state()[1]["parent"]
    north, north_too, south = (parent[deep.node(task)] for task in deep.tasks)
    assert north == north_too != south
    for flat in ("TS", "PooledTS", "LinUCB"):
        agent = Agent(DEEP, flat, seed=0)
        agent.decide_many([("n", 1), ("s", 1)], ARMS)
        assert agent.tasks == [("n", 1), ("s", 1)]
    with pytest.raises(ValueError, match="task must be one that the agent has met"):
        agent.node(("n", 7))


def test_a_task_keeps_its_node_and_a_group_is_no_task():
    belief = Belief(DEEP)
    roster = Roster(belief, 2)
    members = [roster.meet(path) for path in (("n", 1), ("n", 2), ("s", 1), ("n", 1))]
    assert members[0] is members[3]
    assert [member.task for member in roster] == [("n", 1), ("n", 2), ("s", 1)]
    assert belief.num_nodes == 1 + 2 + 3  # root, groups and tasks
    belief._raw_check_leaves(np.array([member.node for member in members]))


def test_a_saved_roster_finds_the_same_tasks():
    belief = Belief(DEEP)
    roster = Roster(belief, 2)
    roster.meet(("n", 1)).decisions = 3
    member = roster.meet(("s", "1"))
    member.decisions, member.best = 4, 2
    again = Roster.from_state(belief, 2, roster.state())
    assert again.state() == roster.state()
    assert again.find(("n", np.int64(1))).decisions == 3
    assert again.meet(("s", "1")).best == 2
    assert [member.row for member in again] == [0, 1]
    assert belief.num_nodes == 5
    state = roster.state()
    state["tasks"][0][1] = 5
    with pytest.raises(ValueError, match=r"tasks must be in \[0, 5\), got 5"):
        Roster.from_state(belief, 2, state)


@pytest.mark.parametrize("policy", ["HierTS", "AdaptiveHierTS", "PooledTS"])
def test_meetings_are_undone(policy):
    belief = POLICIES[policy](DEEP).belief
    roster = Roster(belief, 2)
    roster.meet(("n", 1))
    before, size = belief_state(belief), belief.num_nodes
    for path in (("n", 2), ("s", 1), ("n", 1), ("s", 2)):
        roster.meet(path)
    roster.unmeet(1, size)
    assert belief_state(belief) == before
    assert [member.task for member in roster] == [("n", 1)]
    assert roster.meet(("s", 1)).row == 1
    assert roster.state()["tasks"][1][0] == ["s", 1]


def test_a_dropped_task_leaves_no_gap():
    roster = Roster(Belief(DEEP), 2)
    for path in (("n", 1), ("s", 1), ("n", 2)):
        roster.meet(path)
    belief = Belief(DEEP)
    left, nodes = roster.without(("s", 1)).moved_to(belief)
    assert belief.num_nodes == 1 + 1 + 2  # root, group n and its tasks
    assert [member.task for member in left] == [("n", 1), ("n", 2)]
    assert [member.row for member in roster] == [0, 1, 2]  # nothing has changed yet
    belief._raw_check_leaves(nodes)
    assert left.meet(("n", 3)).node == 4
    assert belief.num_nodes == 5  # its group is known


def test_tasks_are_added_after_those_that_are_known():
    roster = Roster(Belief(DEEP), 2)
    for path in (("n", 1), ("s", 1)):
        roster.meet(path)
    more = roster.with_tasks([("n", 2), ("s", 1), ("n", 2)])
    assert [member.task for member in more] == [("n", 1), ("s", 1), ("n", 2)]
    assert more.rows_of([("n", 2), ("n", 1)]).tolist() == [2, 0]
    assert len(roster) == 2
