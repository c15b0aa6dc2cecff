"""What each request may play."""

import pytest
from support.service_lives import FEATURES, Core

from hierbandits.service.api_problem import Problem
from hierbandits.service.decision_plan import DecisionPlan
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.wire import DecisionRequest


@pytest.fixture
def planned(tmp_path):
    def planned(requests, **parts):
        settings = PolicySettings(**{"arms": ["a", "b"], "draws": 5} | parts)
        core = Core(tmp_path / "a.db", settings)
        plan = DecisionPlan(core.record, settings, core.storage, RolloutState())
        try:
            return plan.of(requests, core.live.agent)
        finally:
            core.storage.close()

    return planned


def test_a_plain_policy_leaves_requests_as_they_are(planned):
    plan = planned([DecisionRequest("u"), DecisionRequest("v", ["a"])])
    assert plan.arms == [None, ["a"]]
    assert plan.groups == ["policy"] * 2
    assert plan.would == [None] * 2


def test_a_share_of_tasks_is_held_out(planned):
    requests = [DecisionRequest(f"user {i}") for i in range(2000)]
    plan = planned(requests, control_share=0.2, control_arm="b")
    held = plan.groups.count("control")
    assert abs(held - 400) < 6 * (2000 * 0.2 * 0.8) ** 0.5
    assert [arms == ["b"] for arms in plan.arms] == [g == "control" for g in plan.groups]


def test_a_path_of_one_name_is_in_the_group_of_that_name(planned):
    requests = [DecisionRequest(task) for i in range(200) for task in (f"u{i}", [f"u{i}"])]
    groups = planned(requests, control_share=0.5, control_arm="b").groups
    assert groups[::2] == groups[1::2]


def test_features_of_the_one_arm_that_is_left(planned):
    request = DecisionRequest("u", FEATURES)
    plan = planned([request], arms=None, num_features=2, control_share=1.0, control_arm="c")
    assert plan.arms == [{"c": FEATURES["c"]}]


def test_a_held_out_task_needs_the_control_arm(planned):
    with pytest.raises(Problem, match="control_arm must be among"):
        planned([DecisionRequest("u", ["a"])], control_share=1.0, control_arm="b")


def test_held_out_tasks_are_held_out_in_shadow_too(planned):
    request = DecisionRequest("u", played="a")
    plan = planned([request], mode="shadow", control_share=1.0, control_arm="b")
    assert (plan.arms, plan.groups) == ([["b"]], ["control"])
