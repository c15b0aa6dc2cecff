import pytest

from hierbandits import Agent
from hierbandits.service.choice_words import why, why_by_row
from hierbandits.service.policy_settings import PolicySettings

SETTINGS = PolicySettings(arms=["red", "blue"], control_share=0.1, control_arm="red")


def parts(arm="red", **more):
    return {"arm": arm} | more


def told(rule, **options):
    """What a rule tells of a task, and the arm that it plays."""
    agent = Agent(arms=["red", "blue"], policy=rule, seed=1, **{"draws": 20} | options)
    for arm, value in (("red", 1.0), ("blue", 0.0)) * 3:
        agent.learn(["t"], [arm], [value])
    ((names, account),) = agent.account_many(["t"])
    place = account.numbers.tolist().index(account.chosen)
    return names[place], (names, account)


def test_groups_are_said_as_such():
    assert "10 % of all tasks" in why(parts(group="control"), SETTINGS, None)[0]
    assert "“red”" in why(parts(group="sticky"), SETTINGS, None)[0]
    assert "“blue”" in why(parts(group="shadow", would="blue"), SETTINGS, None)[0]
    assert why(parts(), SETTINGS, None) == []


def row(**more):
    known = {"offered": ["red", "blue"], "propensity": 0.25, "best": False, "gap": 0.125}
    return parts(**known, expected=0.5, expected_std=0.25) | more


def test_a_row_tells_what_was_chosen_how_probably_and_what_was_expected():
    first, expected, rest = why_by_row(row(), SETTINGS)
    assert first == "The policy chose “red”, one of 2 arms that it could play. Its chance was 25 %."
    assert expected == (
        "It expected a mean reward of 0.5 of it, known to within 0.25 (a standard deviation), "
        "and 0.12 more of another arm."
    )
    assert "cannot be made once more" in rest
    assert "no more of any other" in why_by_row(row(gap=0.0), SETTINGS)[1]
    alone = why_by_row(row(offered=["red"], propensity=None, expected=None), SETTINGS)
    assert alone == ["The policy chose “red”, the only arm that it could play.", rest]
    assert "without exploring" in why_by_row(row(best=True), SETTINGS)[0]
    assert "10 % of all tasks" in why_by_row(row(group="control"), SETTINGS)[0]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("HierTS", "drew 20 times"),
        ("HierUCB", "highest bound"),
        ("HierGreedy", "highest expected reward"),
        ("HierIDS", "The policy"),
    ],
)
def test_a_rule_says_what_it_weighed(rule, words):
    arm, account = told(rule, floor=0.0)
    said = " ".join(why(parts(arm), SETTINGS, account))
    assert words in said
    assert f"“{arm}”" in said


def test_chance_is_said_as_such():
    arm, account = told("HierTS", floor=1.0)
    assert "at random" in why(parts(arm), SETTINGS, account)[0]
    arm, account = told("HierTS", draws=0)
    assert "drew once" in why(parts(arm), SETTINGS, account)[0]
