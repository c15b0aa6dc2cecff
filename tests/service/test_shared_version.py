"""Arms of shared policies that come and go: every worker's sums, ids and beliefs stay right."""

import threading

import numpy as np
import pytest
from msgspec.structs import replace
from support.held_moments import HeldMoments
from support.open_clicks import OpenClicks, farthest
from support.shared_stores import (
    ADD,
    ARMED,
    ARMS,
    FAMILIES,
    OF_FAMILIES,
    PRIORS,
    RETIRE,
    SETTINGS,
    MatchedReference,
    act,
    books,
    reference,
    same_posteriors,
)

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.wire import DecisionRequest


def only(live, arm, task="t0", id=None):
    (made,) = live.decide([DecisionRequest(task, arms=[arm], id=id)])
    return made


def sound(store_url):
    (health,) = check_shared(store_url)
    assert health.faults == []
    assert health.difference <= 1e-9


def test_versions_come_back_as_they_were_and_without_changes_are_plain_settings():
    plain = SharedVersion(SETTINGS["armed"])
    assert plain.to_json() == SETTINGS["armed"].to_json()
    changed = plain.with_change(ADD).with_change(RETIRE)
    for version in (plain, changed):
        assert SharedVersion.from_json(version.to_json()) == version
    assert changed.arms() == ("a", "b", "c", "d")
    assert changed.model().dim == 4
    with pytest.raises(ValueError, match="unknown field"):  # an older program does not misread it
        PolicySettings.from_json(changed.to_json())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (ArmChange("add_arm", "b"), "name must be of a new arm, got 'b'"),
        (ArmChange("add_arm", "d", hyper_std=-1.0), "hyper_std"),
        (ArmChange("add_arm", "d", task_std=0.0), "task_cov"),
        (ArmChange("retire_arm", "x"), "name must be of an arm that is offered"),
        (ArmChange("retire_arm", "c"), "name must not be that of control_arm, got 'c'"),
    ],
)
def test_wrong_changes_are_refused_by_name_and_change_nothing(store_url, change, words):
    with books(store_url) as (book,):
        book.put("shop", replace(SETTINGS["armed"], control_arm="c"))
        live = book.turns("shop").live
        with pytest.raises(Problem, match=words):
            book.change_arms(live, change)
        live.refresh()
        assert live.version == 1
        assert only(live, "a").version == 1


def test_a_retired_arm_cannot_be_the_control_arm_of_a_new_version(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        book.change_arms(live, RETIRE)
        with pytest.raises(Problem, match="control_arm must be an arm that is offered, got 'a'"):
            book.put("shop", replace(SETTINGS["armed"], control_arm="a"))
        live.refresh()
        assert live.version == 2


def test_arms_that_have_features_are_not_added_by_name(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["linear"])
        live = book.turns("shop").live
        for change in (ADD, replace(RETIRE, name="p")):
            with pytest.raises(Problem, match="where arms have features"):
                book.change_arms(live, change)
        more = replace(live.settings, arms=live.settings.arms | {"s": [0.1, 0.2]})
        assert book.put("shop", more) == (2, False)
        assert only(live, "s").arm == "s"


@pytest.mark.parametrize("kind", ["armed", "common"])
def test_beliefs_are_those_of_all_rewards_after_arms_came_and_went(store_url, kind):
    rng, prior = np.random.default_rng(3), PRIORS[kind]
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS[kind])
        lives = [book.turns("shop").live for book in (one, two)]
        events = act(lives[0], rng, rounds=4) + act(lives[1], rng, rounds=2)
        two.folder(lives[1]).fold()
        events += act(lives[0], rng, rounds=2)
        one.change_arms(lives[0], ADD)
        made = only(lives[0], "d")
        (told,) = lives[1].reward([(made.id, 3.0)])  # it has not heard of the arm
        assert told.status == "learned"
        assert lives[1].correct(made.id, 2.0).status == "corrected"
        events.append(("t0", 3, 2.0))
        sound(store_url)
        late = only(lives[1], "a", "t1")
        two.change_arms(lives[1], RETIRE)
        events += act(lives[0], rng, rounds=5) + act(lives[1], rng, rounds=5)
        (told,) = lives[0].reward([(late.id, 1.5)])
        assert told.status == "learned"
        events.append(("t1", 0, 1.5))
        (refused,) = lives[0].decide([DecisionRequest("t", arms=["a"])])
        assert "arms must not be retired, got 'a'" in refused.detail
        one.folder(lives[0]).fold()
        sound(store_url)
        wide = prior.with_arm("d", 0.4, 0.8, 0.5)
        belief, places = reference(wide, events)
        tasks = sorted(places)
        for live in lives:
            agent, met = live.agent_with(tasks)
            assert met == tasks
            same_posteriors(agent, tasks, belief, places)
            assert agent.offers == ("b", "c", "d")


def test_a_worker_that_has_not_heard_of_a_change_decides_and_stays_valid(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        live, other = one.turns("shop").live, two.turns("shop").live
        act(live, np.random.default_rng(0), rounds=3)
        moments, replies = HeldMoments(store_url), []
        slow = threading.Thread(target=lambda: replies.append(only(other, "a", id="mine")))
        with moments.hold("a decision is written") as first:  # it has read, and is about to commit
            slow.start()
            first()
            one.change_arms(live, ADD)
            one.change_arms(live, RETIRE)
        slow.join()
        (made,) = replies
        assert made.version == 1
        again = only(live, "a", id="mine")
        assert (again.arm, again.version, again.duplicate) == ("a", 1, True)
        assert live.reward([("mine", 1.0)])[0].status == "learned"
        assert other.reward([("mine", 1.0)])[0].status == "duplicate"
        assert other.decide([DecisionRequest("t0")])[0].version == 3
        sound(store_url)


def test_unknown_widths_are_fitted_with_the_new_arm(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", PolicySettings(arms=ARMS, draws=5))
        live, other = one.turns("shop").live, two.turns("shop").live
        act(live, np.random.default_rng(0), rounds=10)
        one.folder(live).fold()
        with pytest.raises(Problem, match="hyper_std must not be given where widths are unknown"):
            one.change_arms(live, ADD)
        one.change_arms(live, ArmChange("add_arm", 7))
        act(other, np.random.default_rng(1), rounds=10)
        two.folder(other).fold()
        live.refresh()
        assert live.generation.hierarchy.dim == 4
        assert live.generation.due is not None
        widths = live.generation.hierarchy.to_dict()
        one.change_arms(live, RETIRE)
        assert live.generation.hierarchy.to_dict() == widths  # nothing was learned
        sound(store_url)


def test_widths_of_clicks_are_looked_at_anew_with_a_new_arm(store_url):
    """As by an agent in one process, which learns its sums again then."""
    with books(store_url, 2) as both:
        play = OpenClicks("clicks", both)
        play.go_on(10)
        for change in (ArmChange("add_arm", "d"), RETIRE):
            both[0].change_arms(play.lives[0], change)
            change.happen(play.agent)
            assert (play.generation.rewards, play.generation.due) == (40, 60)
            hierarchy, alone = play.generation.hierarchy, play.agent.belief.hierarchy()
            np.testing.assert_allclose(hierarchy.hyper_mean, alone.hyper_mean, rtol=0, atol=1e-9)
            for one, two in zip(hierarchy.covs, alone.covs, strict=True):
                np.testing.assert_allclose(one, two, rtol=0.02, atol=0.002)
            assert max(farthest(play.known(), play.known_to(play.agent))) < 0.02
            sound(store_url)
        play.offer("b", "c", "d")
        play.go_on(6)
        assert play.generation.rewards == 64
        assert play.generation.hierarchy.dim == 4
        sound(store_url)
        assert max(farthest(play.known(), play.settled())) < 0.05


@pytest.mark.parametrize("kind", ["clicks", "clicks in common"])
def test_clicks_of_new_arms_are_matched(store_url, kind):
    """The sites of an arm match its sum, given all others: before and after there is a new arm."""
    rng = np.random.default_rng(0)
    with books(store_url, 2) as both:
        both[0].put("shop", OF_FAMILIES[kind])
        lives, events = [book.turns("shop").live for book in both], []

        def learn(rounds):
            for number in range(rounds):
                events.extend(act(lives[number % 2], rng, rounds=1, tasks=3))
                both[number % 2].folder(lives[number % 2]).fold()

        learn(3)
        both[0].change_arms(lives[0], ADD)
        for task, value in (("t0", 1.0), ("t1", 0.0), ("t0", 1.0)):
            made = only(lives[0], "d", task)
            (told,) = lives[1].reward([(made.id, value)])  # at first it has not heard of the arm
            assert told.status == "learned"
            both[0].folder(lives[0]).fold()
            events.append((task, 3, value))
        learn(3)
        sound(store_url)
        known = MatchedReference.after(FAMILIES[kind].with_arm("d", 0.4, 0.8, 0.5), events)
        agent, _ = lives[0].agent_with(list(known.places))
        same_posteriors(agent, known.places, known.belief, known.places)


def test_a_new_version_keeps_the_arms(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        book.change_arms(live, ADD)
        book.change_arms(live, RETIRE)
        assert book.put("shop", replace(live.settings, floor=0.5)) == (4, False)
        live.refresh()
        assert live.agent_with([])[0].offers == ("b", "c", "d")
        assert [one.number for one in book.versions("shop")] == [1, 2, 3, 4]
        wide = replace(live.settings, arms=[*ARMS, "d"], prior=None)
        with pytest.raises(Problem, match="must be of a new arm"):
            book.put("shop", wide)
        with pytest.raises(Problem, match="hyper_std must not be given"):
            book.put("shop", PolicySettings(arms=ARMS))
        assert live.made.settings.floor == 0.5


def test_arms_come_and_go_while_workers_decide_and_fold(store_url):
    with books(store_url, 3) as (one, two, three):
        one.put("shop", SETTINGS["armed"])
        lives = [book.turns("shop").live for book in (one, two, three)]
        events, errors = [], []

        def work(book, live, seed):
            rng = np.random.default_rng(seed)
            try:
                for _ in range(12):
                    events.extend(act(live, rng, rounds=2))
                    book.folder(live).fold()
            except BaseException as error:
                errors.append(error)

        threads = [
            threading.Thread(target=work, args=(book, live, seed))
            for seed, (book, live) in enumerate(zip((one, two), lives[:2], strict=True))
        ]
        for thread in threads:
            thread.start()
        wide = ARMED
        for name in ("d", "e", "f"):
            three.change_arms(lives[2], replace(ADD, name=name))
            wide = wide.with_arm(name, 0.4, 0.8, 0.5)
            three.change_arms(
                lives[2], ArmChange("retire_arm", {"d": "a", "e": "b"}.get(name, "d"))
            )
        for thread in threads:
            thread.join()
        assert errors == []
        three.folder(lives[2]).fold()
        sound(store_url)
        belief, places = reference(wide, events)
        agent, _ = lives[2].agent_with(sorted(places))
        same_posteriors(agent, sorted(places), belief, places)
        assert agent.offers == ("c", "e", "f")
