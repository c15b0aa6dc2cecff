"""Clicks and counts of an imported policy: sites that nothing moves any more, and they add up."""

import numpy as np
import pytest
from support.click_reference import settled
from support.open_clicks import OpenClicks, farthest
from support.shared_archives import exported
from support.shared_stores import FAMILIES, OF_FAMILIES, SETTINGS, UNKNOWN, act, books

from hierbandits.service import shared_past
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_import import import_shared
from hierbandits.service.shared_past import SharedPast


@pytest.mark.parametrize("kind", ["clicks", "clicks in common", "clicks by features"])
def test_clicks_are_matched_until_they_are_settled(store_url, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_past, "_AT_ONCE", 2)  # tasks: the first know nothing of the last
    model, tasks = FAMILIES[kind], [f"t{i}" for i in range(6)]
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES[kind])
        live = book.turns("shop").live
        events = act(live, np.random.default_rng(5), rounds=30)
        import_shared(book.links, "copy", exported(live, book.links, tmp_path / "archive"))
        copy = book.turns("copy").live
        table = np.eye(3) if model.is_armed else np.unique([row for _, row, _ in events], axis=0)
        counts, clicks = np.zeros((2, len(tasks), len(table)))
        for task, features, value in events:
            row = features if model.is_armed else int(np.all(table == features, axis=1).argmax())
            counts[tasks.index(task), row] += 1
            clicks[tasks.index(task), row] += value
        means, covs = settled(model.hierarchy, table, counts, clicks, in_sums=model.is_armed)
        agent, met = copy.agent_with(tasks)
        assert met == tasks
        for task, mean, cov in zip(tasks, means, covs, strict=True):
            known, stds = agent.belief.task(agent.node(task)), np.sqrt(np.diag(cov))
            assert np.abs((known.mean - mean) / stds).max() < 0.01
            assert np.abs(known.cov - cov).max() < 0.01 * stds.max() ** 2
        sound(store_url)


@pytest.mark.parametrize("kind", UNKNOWN)
def test_widths_are_looked_at_and_sites_settle_under_them(store_url, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(shared_past, "_AT_ONCE", 3)
    with books(store_url) as (book,):
        play = OpenClicks(kind, [book])
        play.go_on(20, folds=False)
        file = exported(play.lives[0], book.links, tmp_path / "archive")
        import_shared(book.links, "copy", file)
        play.lives[0] = book.turns("copy").live
        assert (play.generation.rewards, play.generation.due) == (80, 120)
        alone = play.new_agent()
        play.tell(alone, play.events)  # at once: it looks at as many
        hierarchy = alone.belief.hierarchy()
        np.testing.assert_allclose(play.generation.hierarchy.hyper_mean, hierarchy.hyper_mean)
        for one, two in zip(play.generation.hierarchy.covs, hierarchy.covs, strict=True):
            np.testing.assert_allclose(one, two, rtol=0.02, atol=0.002)
        assert max(farthest(play.known(), play.settled())) < 0.01
        sound(store_url)
        play.go_on(12)
        sound(store_url)


def test_of_few_rewards_no_widths_are_fitted(store_url, tmp_path):
    with books(store_url) as (book,):
        play = OpenClicks("clicks", [book])
        play.go_on(4, folds=False)
        before = play.generation
        file = exported(play.lives[0], book.links, tmp_path / "archive")
        import_shared(book.links, "copy", file)
        play.lives[0] = book.turns("copy").live
        assert (play.generation.rewards, play.generation.due) == (16, 20)
        assert play.generation.hierarchy.to_dict() == before.hierarchy.to_dict()
        assert max(farthest(play.known(), play.settled())) < 0.01


@pytest.mark.parametrize("kind", OF_FAMILIES)
def test_rewards_of_before_are_corrected_and_others_come(store_url, kind, tmp_path):
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES[kind])
        live = book.turns("shop").live
        act(live, np.random.default_rng(6), rounds=4)
        import_shared(book.links, "copy", exported(live, book.links, tmp_path / "archive"))
        copy = book.turns("copy").live
        given = {one.parts["id"]: one.reward for one in copy.view.logged()}
        for id, value in list(given.items())[:5]:
            assert copy.correct(id, 1.0 - min(value, 1.0)).status == "corrected"
        act(copy, np.random.default_rng(7), rounds=2)
        sound(store_url)
        book.folder(copy).fold()
        sound(store_url)


def sound(url):
    assert [fault for health in check_shared(url) for fault in health.faults] == []


def test_no_reward_is_compared_with_all_decisions_though_nobody_has_counted_the_rows(
    store_url, tmp_path, monkeypatch
):
    plans, given = [], SharedPast._given

    def explained(self, keys):
        sql = f"EXPLAIN DECLARE planned CURSOR FOR {shared_past._GIVEN}"
        plans.append(str(self._db.execute(sql, (self._policy, list(keys))).fetchall()))
        yield from given(self, keys)

    monkeypatch.setattr(SharedPast, "_given", explained)
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        act(live, np.random.default_rng(8), rounds=6, tasks=300, size=500)
        import_shared(book.links, "copy", exported(live, book.links, tmp_path / "archive"))
    assert plans
    assert not any("Join Filter" in plan for plan in plans)
