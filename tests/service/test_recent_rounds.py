from hierbandits import Agent
from hierbandits.service.recent_rounds import RecentRounds
from hierbandits.service.wire import DecisionRequest

FEATURES = {"a": [1.0, 2.0], "b": [3.0, 4.0]}  # with the names, 6 numbers


def test_rounds_that_bring_something_are_remembered():
    rounds = RecentRounds(Agent(num_features=2))
    rounds.add(1, [DecisionRequest("t", FEATURES)])
    rounds.add(2, [DecisionRequest("t"), DecisionRequest("t", ["a"])])
    rounds.add(3, [DecisionRequest("t", ["a"], context={"age": 3})])
    assert [request.arms for request in rounds.of(1)] == [FEATURES]
    assert rounds.of(2) is None  # the ledger has all of it
    assert rounds.of(3)[0].context == {"age": 3}
    assert rounds.of(4) is None


def test_the_oldest_are_forgotten_and_memory_is_bounded():
    rounds = RecentRounds(Agent(num_features=2), most_numbers=20)
    for number in range(10):
        rounds.add(number, [DecisionRequest("t", FEATURES)])
    assert [number for number in range(10) if rounds.of(number)] == [7, 8, 9]
    rounds.add(10, [DecisionRequest("t", FEATURES)] * 4)  # larger than all that there is
    assert rounds.of(10) is None
    assert rounds.of(9)


def test_what_the_ledger_has_is_not_kept_twice():
    rounds = RecentRounds(Agent(arms=["a", "b"]))
    rounds.add(1, [DecisionRequest("t", context={"age": 3})])
    assert rounds.of(1) is None
