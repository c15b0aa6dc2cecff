"""Workers decide by the newest generation; the rewards of the acting task always count."""

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace
from support.shared_stores import FEATURES, PRIORS, SETTINGS, act, books, reference, same_posteriors

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.api_problem import PolicyGone, Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_policy import GROWTH
from hierbandits.service.wire import DecisionRequest


@pytest.mark.parametrize("kind", PRIORS)
def test_of_acting_tasks_all_is_known_though_nothing_is_folded_since(store_url, kind):
    prior, rng = PRIORS[kind], np.random.default_rng(0)
    with books(store_url, 2) as both:
        both[0].put("shop", SETTINGS[kind])
        lives = [book.turns("shop").live for book in both]
        folded = act(lives[0], rng, rounds=4)
        both[0].folder(lives[0]).fold()
        fresh = act(lives[1], rng, rounds=3)
        tasks = sorted({task for task, *_ in folded + fresh})
        for some in (tasks[:1], tasks[1:3]):
            own = [one for one in fresh if one[0] in some]
            belief, places = reference(prior, folded + own)
            agent, met = lives[0].agent_with(some)
            assert met == some
            same_posteriors(agent, some, belief, places)
        both[0].folder(lives[0]).fold()
        belief, places = reference(prior, folded + fresh)
        same_posteriors(lives[1].agent_with(tasks)[0], tasks, belief, places)


def test_decisions_follow_the_same_law_as_those_of_one_agent(store_url):
    rng = np.random.default_rng(3)
    settings = PolicySettings(arms=FEATURES, prior=SETTINGS["linear"].prior, rule="HierTS", draws=0)
    with books(store_url) as (book,):
        book.put("shop", settings)
        live = book.turns("shop").live
        events = act(live, rng, rounds=6)
        book.folder(live).fold()
        made = live.decide([DecisionRequest("t0")] + [DecisionRequest("t1")] * 2)
        assert made[1].arm == made[2].arm  # a round has one draw
        counts = Counter(live.decide([DecisionRequest("t1")])[0].arm for _ in range(400))
    belief, places = reference(PRIORS["linear"], events)
    theta = np.random.default_rng(4).multivariate_normal(
        belief.task(places["t1"]).mean, belief.task(places["t1"]).cov, 100_000
    )
    best = np.argmax(theta @ np.array(list(FEATURES.values())).T, axis=1)
    for place, arm in enumerate(FEATURES):
        share = (best == place).mean()
        assert abs(counts[arm] / 400 - share) < 4 * np.sqrt(share * (1 - share) / 400) + 0.01


def test_requests_are_answered_as_by_a_policy_of_one_process(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        made = live.decide(
            [
                DecisionRequest("t", arms=["a", "b"]),
                DecisionRequest("t", arms=["none"]),
                DecisionRequest("t", id="x"),
                DecisionRequest("t", id="x"),
                DecisionRequest("t", id=""),
                DecisionRequest("t", best=True),
                DecisionRequest("t", id=live.view.ids.make(1, 2)),
                DecisionRequest("t", played="a"),
            ]
        )
        problems = [one.status if isinstance(one, Problem) else None for one in made]
        assert problems == [None, 400, None, None, 400, None, 400, 400]
        assert made[0].arm in ("a", "b")
        assert 0 < made[0].propensity <= 1
        assert made[0].gap is not None
        assert made[3].duplicate
        assert live.view.decision(made[5].id)["best"] is True
        (told,) = live.reward([(made[0].id, 1e61)])
        assert told.status == 400
        assert live.correct(made[0].id, float("nan")).status == 400


def test_held_out_tasks_have_the_control_arm(store_url):
    settings = SETTINGS["armed"]
    held = replace(settings, control_share=0.5, control_arm="c")
    with books(store_url) as (book,):
        book.put("shop", held)
        made = book.turns("shop").live.decide([DecisionRequest(f"t{i}") for i in range(40)])
    groups = Counter(one.group for one in made)
    assert 8 < groups["control"] < 32
    assert {one.arm for one in made if one.group == "control"} == {"c"}


def test_a_new_version_is_seen_by_all_workers_and_keeps_what_was_learned(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        live, other = one.turns("shop").live, two.turns("shop").live
        events = act(live, np.random.default_rng(0), rounds=4)
        one.folder(live).fold()
        narrow = hb.GaussianHierarchy.armed(
            3, hyper_mean=0.1, hyper_std=0.5, task_std=0.2, noise_std=0.9
        )
        changed = replace(SETTINGS["armed"], prior=model_to_dict(narrow))
        assert one.put("shop", changed) == (2, False)
        assert one.put("shop", changed) == (2, False)
        (made,) = other.decide([DecisionRequest("t0")])
        assert made.version == 2
        belief, places = reference(narrow, events)
        same_posteriors(other.agent_with(["t0"])[0], ["t0"], belief, places)
        assert other.settings == changed


def test_a_policy_that_is_deleted_decides_no_more(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        live = two.turns("shop").live
        one.delete("shop")
        with pytest.raises(PolicyGone) as raised:
            live.decide([DecisionRequest("t"), DecisionRequest("u")])
        assert raised.value.status == 404
        assert two.links.read("SELECT * FROM shared_decisions") == []


def test_a_worker_knows_when_rewards_have_grown(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        assert not live.has_grown
        act(live, np.random.default_rng(0), rounds=1)
        assert live.has_grown
        live.folded(1000)
        assert not live.has_grown
        act(live, np.random.default_rng(0), rounds=1)
        assert not live.has_grown
        live.folded(int(3 / GROWTH))
        act(live, np.random.default_rng(0), rounds=1)
        assert live.has_grown
