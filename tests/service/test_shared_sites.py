"""Clicks and counts in policies that workers share: sites that add up, each of them once."""

import numpy as np
import pytest
from msgspec.structs import replace
from support.shared_stores import (
    ARMED,
    ARMS,
    FAMILIES,
    OF_FAMILIES,
    MatchedReference,
    act,
    books,
    reward_at_once,
    same_posteriors,
)

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service import shared_ledger
from hierbandits.service.api_problem import Problem
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.shared_check import check_shared
from hierbandits.service.task_beliefs import population, task_belief
from hierbandits.service.wire import DecisionRequest

SITES = "SELECT id, value, site_precision, site_weighted FROM shared_rewards ORDER BY id"
LEARNED = shared_ledger._LEARNED
ROWS = "SELECT task_key, sums, revision FROM shared_tasks ORDER BY task_key"


def is_sound(url):
    (health,) = check_shared(url)
    assert health.faults == []
    return health.rewards


@pytest.mark.parametrize("kind", FAMILIES)
def test_where_all_is_folded_at_once_workers_know_what_one_belief_does(store_url, kind):
    model, rng = FAMILIES[kind], np.random.default_rng(0)
    with books(store_url, 2) as both:
        both[0].put("shop", OF_FAMILIES[kind])
        lives = [book.turns("shop").live for book in both]
        events, size = [], 4 if model.is_armed else 1  # four rewards are some of one task
        for number in range(40 // size):
            live = lives[number % 2]
            events += act(live, rng, rounds=1, size=size)
            both[number % 2].folder(live).fold()
        known = MatchedReference.after(model, events)
        agent, _ = lives[0].agent_with(list(known.places))
        same_posteriors(agent, known.places, known.belief, known.places)
        one, two = agent.belief.hyper(), known.belief.hyper()
        np.testing.assert_allclose(one.mean, two.mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(one.cov, two.cov, rtol=0, atol=1e-9)
    assert is_sound(store_url) == 40


@pytest.mark.parametrize("kind", ["clicks", "clicks by features"])
def test_a_task_knows_its_own_rewards_and_answers_as_in_one_process(store_url, kind):
    model, rng = FAMILIES[kind], np.random.default_rng(1)
    with books(store_url, 2) as (one, two):
        one.put("shop", OF_FAMILIES[kind])
        live, other = one.turns("shop").live, two.turns("shop").live
        events = act(live, rng, rounds=10) + act(other, rng, rounds=10)  # nothing is folded
        (made,) = live.decide([DecisionRequest("t1")])
        assert 0 <= made.gap <= 1
        one.folder(live).fold()
        agent, _ = other.agent_with(["t1"])
        shown, people = task_belief(agent, "t1"), population(agent)
    alone = hb.Agent(model, arms=ARMS if model.is_armed else None, seed=0)
    for task, features, value in events:
        alone.learn([task], [features], [value])
    expected = task_belief(alone, "t1")
    for row, known in zip(shown["rows"], expected["rows"], strict=True):
        assert row.keys() == known.keys()
        assert row["own_mean"] == known["own_mean"]
        assert row["rewards"] == known["rewards"]
        assert abs(row["mean"] - known["mean"]) < 0.1 * (known["high"] - known["low"])
    for row, known in zip(people["rows"], population(alone)["rows"], strict=True):
        assert abs(row["mean"] - known["mean"]) < 0.1 * (known["high"] - known["low"])
    if model.is_armed:
        assert all(0 < row["low"] < row["high"] < 1 for row in shown["rows"])


def test_two_workers_reward_the_same_decisions_at_once_and_each_counts_once(store_url):
    with books(store_url, 2) as both:
        both[0].put("shop", OF_FAMILIES["clicks"])
        lives = [book.turns("shop").live for book in both]
        made = lives[0].decide([DecisionRequest(f"t{i % 5}") for i in range(40)])
        told = reward_at_once(lives, made, 10)
        assert sorted(one.status for one in told) == ["duplicate"] * 40 + ["learned"] * 40
        both[1].folder(lives[1]).fold()
    assert is_sound(store_url) == 40


@pytest.mark.parametrize("kind", ["clicks", "clicks by features"])
def test_a_correction_takes_the_old_site_out(store_url, kind):
    rng = np.random.default_rng(2)
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES[kind])
        live = book.turns("shop").live
        arms = list(live.settings.arms)
        asked = [(0, 0), (1, 0), (0, 1), (0, 2), (2, 1)]
        made = live.decide([DecisionRequest(f"t{i}", arms=[arms[j]]) for i, j in asked])
        events = []
        for one in made:
            value = float(rng.integers(2))
            live.reward([(one.id, value)])
            book.folder(live).fold()
            events.append([one.task, live.view.decision(one.id)["features"], value])
        known, was = MatchedReference.after(FAMILIES[kind], events), events[2][2]
        assert live.correct(made[2].id, 1.0 - was).status == "corrected"
        assert live.correct(made[2].id, 1.0 - was).status == "duplicate"
        known.correct("t0", 1, 1.0 - 2.0 * was)
        same_posteriors(live.agent_with(["t0"])[0], ["t0"], known.belief, known.places)
        book.folder(live).fold()
        assert is_sound(store_url) == 5
        before = live.agent_with(["t0"])[0].belief.hyper()
        for value in (was, 1.0 - was):
            live.correct(made[2].id, value)
        book.folder(live).fold()
        after = live.agent_with(["t0"])[0].belief.hyper()
        np.testing.assert_allclose(after.mean, before.mean, rtol=0, atol=1e-9)
    assert is_sound(store_url) == 5


def test_what_a_family_cannot_have_is_refused_by_name_and_changes_nothing(store_url):
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES["clicks"])
        book.put("calls", OF_FAMILIES["counts"])
        for name, wrong in (("shop", 2.0), ("shop", 0.5), ("calls", -1.0), ("calls", 1.5)):
            live = book.turns(name).live
            one, two = live.decide([DecisionRequest("t"), DecisionRequest("t")])
            live.reward([(one.id, 1.0)])
            before = [book.links.read(sql) for sql in (SITES, ROWS)]
            (told,) = live.reward([(two.id, wrong)])
            assert told.status == 400
            assert told.detail.startswith("value must be")
            assert live.correct(one.id, wrong).status == 400
            assert [book.links.read(sql) for sql in (SITES, ROWS)] == before
            sound, refused = live.reward([(two.id, 0.0), (one.id, wrong)])
            assert (sound.status, refused.status) == ("learned", 400)


def test_a_task_that_is_deleted_leaves_the_sites_of_the_others(store_url):
    rng = np.random.default_rng(3)
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES["clicks"])
        live = book.turns("shop").live
        events = act(live, rng, rounds=6)
        book.folder(live).fold()
        task = events[0][0]
        number = sum(one[0] == task for one in events)
        assert book.folder(live).forget(task_key(f'"{task}"')) == number
        assert is_sound(store_url) == len(events) - number
        live.refresh()
        assert live.generation.rewards == len(events) - number
        assert live.agent_with([task])[1] == []


def test_another_prior_keeps_the_sites_and_another_family_is_refused(store_url):
    wide = hb.GaussianHierarchy.armed(
        3, hyper_mean=-1.0, hyper_std=2.0, task_std=0.7, noise_std=1.0
    )
    with books(store_url, 2) as (one, two):
        one.put("shop", OF_FAMILIES["clicks"])
        live, other = one.turns("shop").live, two.turns("shop").live
        act(live, np.random.default_rng(4), rounds=5)
        before = one.links.read(SITES)
        clicks = model_to_dict(hb.GeneralizedHierarchy(wide, "bernoulli"))
        assert one.put("shop", replace(OF_FAMILIES["clicks"], prior=clicks)) == (2, False)
        act(other, np.random.default_rng(5), rounds=1)
        assert [row for row in one.links.read(SITES) if row in before] == before
        assert other.version == 2
        for prior in (model_to_dict(FAMILIES["counts"]), model_to_dict(ARMED)):
            with pytest.raises(Problem, match="prior must be of the same family") as raised:
                one.put("shop", replace(OF_FAMILIES["clicks"], prior=prior))
            assert raised.value.status == 409
        one.folder(live).fold()
    assert is_sound(store_url) == 24


def test_the_newest_rewards_of_features_are_matched_again_when_they_have_doubled(
    store_url, monkeypatch
):
    monkeypatch.setattr(shared_ledger, "_LEARNED", LEARNED.replace("LIMIT 1000", "LIMIT 3"))
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES["clicks by features"])
        live = book.turns("shop").live
        changed = []
        for _ in range(8):
            (made,) = live.decide([DecisionRequest("t")])
            before = book.links.read(SITES)
            live.reward([(made.id, 1.0)])
            changed.append(len(set(before) - set(book.links.read(SITES))))
        assert changed == [0, 1, 0, 2, 0, 0, 0, 2]  # besides the new one
        made = live.decide([DecisionRequest("u") for _ in range(3)])
        live.reward([(one.id, 1.0) for one in made])  # from none to three at once
        book.folder(live).fold()
    assert is_sound(store_url) == 11
