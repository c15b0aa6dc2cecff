"""Policies in files become ones that workers share, from wherever they come: the same beliefs."""

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from support.service_lives import KINDS, Core, live_on
from support.shared_archives import archive_of, exported, rows_of
from support.shared_stores import (
    ADD,
    PRIORS,
    RETIRE,
    SETTINGS,
    act,
    books,
    reference,
    same_posteriors,
)

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service import shared_import
from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_import import import_shared
from hierbandits.service.shared_past import SharedPast
from hierbandits.service.task_erasure import TaskErasure
from hierbandits.service.wire import DecisionRequest


def same_as(live, agent):
    """Whether a shared policy knows of all tasks what an agent does, and has no fault."""
    known, met = live.agent_with(agent.tasks)
    assert len(met) == agent.num_tasks
    nodes = {task: agent.node(task) for task in agent.tasks}
    same_posteriors(known, agent.tasks, agent.belief, nodes)


def live_decisions(core):
    """How many decisions its ledger has."""
    return sum(one is not None for event in core.events() for one in event.get("decisions", ()))


def sound(url):
    assert [fault for health in check_shared(url) for fault in health.faults] == []


@pytest.mark.parametrize("kind", PRIORS)
def test_a_shared_policy_goes_into_another_store_with_all_it_knows(
    store_url, kind, tmp_path, monkeypatch
):
    monkeypatch.setattr(shared_import, "_AT_ONCE", 7)
    with books(store_url) as (book,):
        book.put("shop", SETTINGS[kind])
        live = book.turns("shop").live
        events = act(live, np.random.default_rng(3), rounds=10)
        asked = [DecisionRequest("t0", id="mine"), DecisionRequest("new"), DecisionRequest("best")]
        asked[2].best = True
        waiting = [one.id for one in live.decide(asked)]
        archive = exported(live, book.links, tmp_path / "archive")
        assert import_shared(book.links, "copy", archive) == 1
        copy = book.turns("copy").live
        ids = [*waiting, *live.view.made([])]
        assert copy.view.made(ids) == live.view.made(ids)
        assert copy.generation.rewards == len(events)
        for one in (live, copy):
            assert one.reward([(waiting[1], 1.5)])[0].status == "learned"
            assert one.reward([(waiting[1], 1.5)])[0].status == "duplicate"
            assert one.correct(waiting[1], 2.0).status == "corrected"
        events.append(("new", live.view.decision(waiting[1])["features"], 2.0))
        belief, places = reference(PRIORS[kind], events)
        agent, met = copy.agent_with([*places, "best"])
        assert len(met) == len(places) + 1
        same_posteriors(agent, list(places), belief, places)
        sound(store_url)


def test_versions_and_changes_of_arms_come_along(store_url, tmp_path):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        act(live, np.random.default_rng(0), rounds=3)
        book.change_arms(live, ADD)
        live.decide([DecisionRequest("t1", arms=["d"], id="of d")])
        live.reward([("of d", 3.0)])
        book.put("shop", replace(SETTINGS["armed"], floor=0.3))
        book.change_arms(live, RETIRE)
        act(live, np.random.default_rng(1), rounds=3)
        archive = exported(live, book.links, tmp_path / "archive")
        assert import_shared(book.links, "copy", archive) == 4
        copy = book.turns("copy").live
        sql = "SELECT number, settings, created FROM shared_versions WHERE policy = %s ORDER BY 1"
        both = [book.links.read(sql, (one.record.id,)) for one in (live, copy)]
        assert both[0] == both[1]
        tasks = [f"t{i}" for i in range(6)]
        (one, met), (two, _) = live.agent_with(tasks), copy.agent_with(tasks)
        same_posteriors(one, met, two.belief, {task: two.node(task) for task in met})
        assert copy.decide([DecisionRequest("t1", arms=["d"])])[0].version == 4
        with pytest.raises(ValueError, match="'a'"):
            two.decide("t1", ["a"])
        sound(store_url)


def test_the_life_of_one_process_goes_on_in_workers(store_url, tmp_path):
    core = Core(tmp_path / "ledger.db", KINDS["linear"])
    waiting, settled = live_on(core, np.random.default_rng(4), steps=80)
    core.become(replace(KINDS["linear"], floor=0.1))
    late = settled[0]
    core.live.agent.expire(0.0)  # it gives up all that is settled, and what waits
    core.live._settled([], {})
    core.live.correct(late, 5.0)
    assert core.reward(waiting[0], 0.25).status == "learned"  # of a decision that it gave up
    until = core.live.forget("user 1")
    core.store()
    core.storage.rewrite(core.record.id, TaskErasure("user 1", until))
    again = core.decide("user 1")
    core.reward(again.id, 2.0)
    known = core.recomputed()
    with books(store_url) as (book,):
        assert import_shared(book.links, "shop", archive_of(core)) == 2
        live = book.turns("shop").live
        same_as(live, known)
        assert live.record.salt == core.record.salt
        found = live.view.made([late, *waiting, *settled, again.id])
        for id, parts in found.items():
            assert parts | {"best": 0} == core.live.view.decision(id) | {"best": 0}, id
        assert (found[again.id]["reward"], len(found)) == (2.0, live_decisions(core))
        sound(store_url)


def test_places_of_arms_are_those_of_the_newest_version(store_url, tmp_path):
    settings = SETTINGS["armed"]
    core = Core(tmp_path / "ledger.db", settings)
    for i, arm in enumerate("abcab"):
        core.reward(core.decide(f"t{i % 2}", arms=[arm]).id, float(i))
    core.live.add_arm("d", "ann", hyper_mean=0.4, hyper_std=0.8, task_std=0.5)
    core.reward(core.decide("t0", arms=["d"]).id, 4.0)
    core.store()
    core.become(replace(settings, arms=["c", "a", "b"]))
    core.live.retire_arm("a", "ann")
    core.reward(core.decide("t1", arms=["c"]).id, -1.0)
    with books(store_url) as (book,):
        import_shared(book.links, "shop", archive_of(core))
        live = book.turns("shop").live
        assert live.made.changes == [ADD, replace(RETIRE, name="a")]
        same_as(live, core.recomputed())
        sound(store_url)


def test_widths_are_fitted_to_the_sums_where_they_are_unknown(store_url, tmp_path):
    core = Core(tmp_path / "ledger.db", KINDS["unknown"])
    rng = np.random.default_rng(2)
    for _ in range(60):
        core.reward(core.decide(f"t{rng.integers(4)}").id, float(rng.normal(1.0)))
    agent = core.recomputed()
    with books(store_url) as (book,):
        import_shared(book.links, "shop", archive_of(core))
        live = book.turns("shop").live
        known, met = live.agent_with(agent.tasks)
        sums, others = known._state.totals(), agent._state.totals()
        for name, values in others.state().items():
            np.testing.assert_allclose(sums.state()[name], values, rtol=0, atol=1e-9)
        widths = live.generation.hierarchy.task_cov
        assert np.all(np.diag(np.atleast_2d(widths)) > 0)
        assert live.generation.due > 60
        assert len(met) == 4
        sound(store_url)


def test_clicks_without_a_prior_come_from_one_process_and_go_back(store_url, tmp_path):
    core = Core(tmp_path / "ledger.db", KINDS["unknown-bernoulli"])
    rng = np.random.default_rng(4)
    for _ in range(60):
        core.reward(core.decide(f"t{rng.integers(4)}").id, float(rng.random() < 0.4))
    agent = core.recomputed()
    with books(store_url) as (book,):
        import_shared(book.links, "shop", archive_of(core))
        live = book.turns("shop").live
        act(live, rng, rounds=5, tasks=4)
        book.folder(live).fold()
        known, met = live.agent_with(agent.tasks)
        assert len(met) == 4
        assert (live.generation.rewards, live.generation.due) == (80, 90)
        back = exported(live, book.links, tmp_path / "archive").checked_agent()
        assert back.belief.num_rewards.sum() == 80
        assert back.prior.to_dict() == agent.prior.to_dict()
        sums, others = known._state.totals(), back._state.totals()
        for name, values in others.state().items():
            np.testing.assert_allclose(sums.state()[name], values, rtol=0, atol=1e-9)
        sound(store_url)


def test_hostile_decisions_are_refused_and_numbers_may_be_whole(store_url, tmp_path):
    core = Core(tmp_path / "ledger.db", SETTINGS["armed"])
    parts = {"task": "t", "arm": "a", "features": 7, "propensity": 1, "time": 5, "offered": ["a"]}
    decide = {"kind": "decide", "time": 5, "best": False, "policy_version": 1}

    def archive(*ids, **more):
        made = [parts | {"id": id} for id in ids]
        event = decide | {"decisions": [*made, None]} | more
        reward = {"kind": "reward", "time": 6, "ids": [ids[0]], "values": [2]}
        return archive_of(core, *map(msgspec.json.encode, (event, reward)))

    with books(store_url) as (book,):
        before = rows_of(book.links)
        for wrong, words in (
            (archive("x" * 201), "id must be at most 200 characters"),
            (archive("x", policy_version=2), "policy_version must be in 1 to 1, got 2"),
            (archive("x", "x"), "does not fit this agent"),
        ):
            with pytest.raises(ValueError, match=words):
                import_shared(book.links, "shop", wrong)
        assert rows_of(book.links) == before
        import_shared(book.links, "shop", archive("x", "y"))
        live = book.turns("shop").live
        assert live.view.decision("x")["features"] == 0  # where the arm is, whatever is said
        assert live.reward([("y", 1.0)])[0].status == "learned"
        sound(store_url)


def test_what_has_no_generation_is_refused(store_url, tmp_path):
    singular = hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_std=[0.0, 0.3], noise_std=1.0)
    settings = PolicySettings(arms=["a", "b"], prior=model_to_dict(singular))
    core = Core(tmp_path / "ledger.db", settings)
    core.reward(core.decide("t").id, 1.0)
    with books(store_url) as (book,):
        before = rows_of(book.links)
        with pytest.raises(ValueError, match="task_cov"):
            import_shared(book.links, "shop", archive_of(core))
        assert rows_of(book.links) == before


def test_an_import_that_fails_leaves_nothing(store_url, tmp_path, monkeypatch):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        act(live, np.random.default_rng(3), rounds=2)
        archive = exported(live, book.links, tmp_path / "archive")
        before = rows_of(book.links)
        with pytest.raises(Problem, match="must be new"):
            import_shared(book.links, "shop", archive)
        whole = SharedPast.learn

        def die(self):
            whole(self)
            raise KeyboardInterrupt

        monkeypatch.setattr(SharedPast, "learn", die)
        with pytest.raises(KeyboardInterrupt):
            import_shared(book.links, "copy", archive)
        assert rows_of(book.links) == before
        monkeypatch.setattr(SharedPast, "learn", whole)
        import_shared(book.links, "copy", archive)
        assert rows_of(book.links) != before
