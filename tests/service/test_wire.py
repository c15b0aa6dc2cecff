import msgspec
import pytest

from hierbandits.service.wire import ArmRequest, DecisionReply, DecisionRequest, RewardRequest

NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "true", '"1.5"', "null", "[1]", "{}", ""]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_reward_is_a_number_and_nothing_that_looks_like_one(text):
    with pytest.raises(msgspec.MsgspecError):
        msgspec.json.decode(f'{{"value":{text}}}', type=RewardRequest)


@pytest.mark.parametrize("text", ["0", "-1.5", "1e-300", "3"])
def test_a_reward_is_any_number(text):
    reward = msgspec.json.decode(f'{{"value":{text}}}', type=RewardRequest)
    assert reward.value == float(text)
    assert type(reward.value) is float


@pytest.mark.parametrize(
    "text",
    [
        '{"task":1.5}',
        '{"task":true}',
        '{"task":null}',
        '{"task":{"a":1}}',
        '{"task":[["a"]]}',
        '{"task":"a","arms":"x"}',
        '{"task":"a","arms":{"x":["1"]}}',
        '{"task":"a","best":1}',
        '{"task":"a","id":5}',
        '{"task":"a","tusk":"b"}',
        "{}",
    ],
)
def test_a_decision_is_asked_for_in_the_right_form(text):
    with pytest.raises(msgspec.MsgspecError):
        msgspec.json.decode(text, type=DecisionRequest)


def test_a_task_is_a_name_or_a_path():
    for text, task in [('"a"', "a"), ("7", 7), ('["country",3]', ["country", 3])]:
        assert msgspec.json.decode(f'{{"task":{text}}}', type=DecisionRequest).task == task


def test_widths_of_an_arm_are_not_given_unless_they_are():
    arm = msgspec.json.decode('{"name":"x"}', type=ArmRequest)
    assert (arm.hyper_mean, arm.hyper_std, arm.task_std) == (None, None, None)


def test_a_reply_leaves_out_what_is_usual():
    reply = DecisionReply("1.0.aa", "t", "x", 0.5, 2)
    assert msgspec.json.encode(reply) == (
        b'{"id":"1.0.aa","task":"t","arm":"x","propensity":0.5,"version":2}'
    )
