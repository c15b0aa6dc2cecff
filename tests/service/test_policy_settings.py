"""What a policy may be told to be."""

import json

import msgspec
import pytest
from support.context_worlds import context_log
from support.service_lives import KINDS, Core, known

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings

ARMS = ["a", "b"]

ERRORS = Guardrail(name="errors", at_most=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_settings_come_back_from_json(kind):
    settings = KINDS[kind]
    settings.check()
    again = PolicySettings.from_json(settings.to_json())
    assert again == settings
    assert again.make_agent(lambda event: None, 0).prior.to_dict() == (
        settings.make_agent(lambda event: None, 0).prior.to_dict()
    )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"floor": 1.5}, r"floor must be in \[0, 1\], got 1.5"),
        ({"control_share": -0.1}, "control_share must be in"),
        ({"control_share": 0.1}, "control_arm must be given with control_share"),
        ({"guardrails": [ERRORS]}, "control_arm must be given with guardrails"),
        ({"guardrails": [ERRORS] * 2, "control_arm": "a"}, "guardrails must have different names"),
        ({"guardrails": [ERRORS] * 21, "control_arm": "a"}, "guardrails must be at most 20"),
        ({"guardrails": [Guardrail(name="x")], "control_arm": "a"}, "one of at_most and at_least"),
        ({"ratio_check": "rewards", "draws": 0}, "draws must be positive with a ratio_check"),
        ({"control_share": 0.1, "control_arm": "z"}, "control_arm must be one of arms, got 'z'"),
        ({"reward_wait": 0.0}, "reward_wait must be positive"),
        ({"default_reward": 1.0}, "reward_wait must be given with default_reward"),
        ({"draws": -1}, "draws must be in"),
        ({"draws": 10_001}, "draws must be in"),
        ({"description": "x" * 10_001}, "description must have at most"),
        ({"rule": "Nobody"}, "Nobody"),
        ({"rewards": "nobody"}, "nobody"),
        ({"rewards": "bernoulli", "reward_wait": 1.0, "default_reward": 0.5}, "default_reward"),
        ({"encoder": {}}, "prior must be given with an encoder"),
        ({"arms": []}, "arms"),
        ({"arms": ["a", "a"]}, "arms"),
        ({"arms": {"a": [1.0], "b": [1.0, 2.0]}}, "arms"),
        ({"arms": None}, "num_features"),
        ({"prior": {"kind": "nothing"}}, "kind"),
        ({"prior": {}}, "prior must be what `hierbandits learn` writes into prior.json, or have a"),
        ({"prior": {"hyper_mean": [0.0]}}, "got an object with .'hyper_mean'"),
        ({"prior": {"covs": [[1.0]]}}, "parts must be of a hierarchy"),
        ({"remember": -1}, "remember"),
        ({"most_tasks": 0}, "tasks"),
    ],
)
def test_what_is_wrong_is_named(parts, words):
    with pytest.raises((ValueError, TypeError, LookupError), match=words):
        PolicySettings(**{"arms": ARMS} | parts).check()


@pytest.mark.parametrize(
    "text",
    ['{"arms":["a"],"floor":true}', '{"arms":["a"],"floor":"0.1"}', '{"arms":["a"],"colour":1}',
     '{"arms":["a"],"floor":NaN}', '{"arms":["a"],"mode":"dead"}', '{"arms":[1.5]}'],
)  # fmt: skip
def test_json_is_strict(text):
    with pytest.raises(msgspec.MsgspecError):
        PolicySettings.from_json(text.encode())


def test_a_start_with_an_encoder_decides_by_context(tmp_path):
    encoder = context_log(1)[2].encoder
    size = len(encoder.coordinates)
    prior = GaussianHierarchy.linear(size, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    parts = {"prior": model_to_dict(prior), "encoder": encoder.to_dict(), "draws": 5}
    settings = PolicySettings.from_json(msgspec.json.encode(parts))
    settings.check()
    core = Core(tmp_path / "a.db", settings)
    context = {"age": 30, "city": "Köln", "vip": True}
    reply = core.decide("shop", context=context)
    assert reply.gap is None
    assert reply.arm in encoder.arms
    assert core.decide("shop", ["flyer"], context=context).arm == "flyer"
    assert "context must be given" in core.decide("shop").detail
    core.reward(reply.id, 1.0)
    assert known(core.live.agent) == known(core.recomputed())
    core.storage.close()


@pytest.mark.parametrize("rewards", [None, "bernoulli"])
def test_a_prior_without_a_kind_is_known_by_its_parts(rewards):
    """As `learn` writes it into prior.json, with its arms; tests of learn read the file itself."""
    prior = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    prior = prior.with_arms(["x", "y", "z"])
    written = prior if rewards is None else GeneralizedHierarchy(prior, rewards)
    text = json.dumps(written.to_dict())
    assert "kind" not in text
    settings = PolicySettings.from_json(f'{{"prior": {text}}}'.encode())
    settings.check()
    agent = settings.make_agent(lambda event: None, 0)
    assert agent.arms == ("x", "y", "z")
    assert model_to_dict(agent.prior) == model_to_dict(written)
