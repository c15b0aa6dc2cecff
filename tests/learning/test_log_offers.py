"""What simulated decisions offer."""

import numpy as np
import polars as pl
import pytest

from hierbandits import learn_prior
from hierbandits.environments.events import Events
from hierbandits.learning.log_offers import ARMS, LogOffers, blocks_of
from hierbandits.learning.sentence import Claim

EVENTS = Events(np.repeat(np.arange(3), 8), np.tile(np.repeat([0, 1], 4), 3), np.tile(range(4), 6))


def offered(offers):
    """The arms of each event, (events, K, d)."""
    arms = offers.sets(7, EVENTS)
    table = np.array([arms.table[arms.rows_of(e)] for e in range(EVENTS.run.size)])
    again = offers.sets(7, EVENTS)
    np.testing.assert_array_equal(arms.table[arms.rows_of(5)], again.table[again.rows_of(5)])
    return table


def rows(size=400, tasks=20):
    """An intercept, the size of the store, the visitor's age, and one of three prices."""
    rng = np.random.default_rng(0)
    task = rng.integers(0, tasks, size)
    store, age = rng.normal(size=tasks)[task], rng.normal(size=size)
    return np.column_stack([np.ones(size), store, age, rng.integers(1, 4, size)]), task


NAMES = ("one", "store", "age", "price")


def test_who_comes_is_given_and_what_is_shown_is_chosen():
    table, task = rows()
    offers = LogOffers.of(table, task, NAMES, ["age"])
    np.testing.assert_array_equal(offers.fixed, [True, True, False, False])
    sets = offered(offers)
    assert sets.shape == (24, 3, 4)
    np.testing.assert_array_equal(sets[:, :, 3], np.tile([1, 2, 3], (24, 1)))  # all prices
    assert (np.ptp(sets[:, :, :3], axis=1) == 0).all()  # one visitor and one store
    ages = sets[:, 0, 2]
    assert len(set(ages)) > 15  # another visitor in every event
    assert set(ages) <= set(table[:, 2])
    by_task = sets[:, 0, 1].reshape(6, 4)
    assert (np.ptp(by_task, axis=1) == 0).all()  # a task keeps its store
    assert len(set(by_task[:, 0])) > 2
    for word in ("age", "price", "store", "3 different"):
        assert word in offers.words()


def test_tasks_of_the_log_keep_their_own_features():
    table, task = rows()
    sets = offered(LogOffers.of(table, task, NAMES, ["age"]).to(np.array([4, 11])))
    for place, own in enumerate((4, 11)):
        stores = sets[EVENTS.task == place, 0, 1]
        assert set(stores) == {table[task == own][0, 1]}
    unknown = LogOffers.of(table, task, NAMES, ["age"]).to(np.array([4, 99]))  # not in the sample
    assert set(offered(unknown)[EVENTS.task == 1, 0, 1]) <= set(table[:, 1])


def test_without_a_context_rows_are_offered_as_they_are():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(60, 2))
    offers = LogOffers.of(table, np.repeat(np.arange(6), 10), ("a", "b"))
    sets = offered(offers)
    assert sets.shape == (24, ARMS, 2)
    known = {tuple(row) for row in table}
    assert {tuple(row) for row in sets.reshape(-1, 2)} <= known
    assert "name them: context" in offers.words()
    few = LogOffers.of(np.eye(3)[rng.integers(0, 3, 60)], np.arange(60), ("a", "b", "c"))
    assert (offered(few).sum(2) == 1).all()
    assert offered(few).shape == (24, 3, 3)


@pytest.mark.parametrize("order", ["arm first", "feature first"])
def test_blocks_are_seen_and_all_arms_offered_to_each_visitor(order):
    rng = np.random.default_rng(2)
    arm, who = rng.integers(0, 4, 200), np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    one_hot = np.eye(4)[arm]
    pair = (one_hot, who) if order == "arm first" else (who, one_hot)
    table = np.einsum("ni,nj->nij", *pair).reshape(200, 12)
    blocks = blocks_of(table)
    assert (blocks.num_arms, blocks.order) == (4, order)
    sets = offered(LogOffers.of(table, np.arange(200), tuple(range(12))))
    assert sets.shape == (24, 4, 12)
    visitors = {tuple(row) for row in who}
    for event in sets:
        parts = blocks.split(event)  # (4 offered, 4 arms, 3)
        assert len({tuple(parts[k, k]) for k in range(4)} & visitors) == 1
        assert (parts.sum(1) == parts[0, 0]).all()
    assert blocks_of(rng.normal(size=(50, 4))) is None
    assert blocks_of(np.eye(4)[arm]) is None  # arms alone


@pytest.mark.parametrize(
    "context", [["colour"], "age", list(NAMES), ["one", "store", "price", "age"]]
)
def test_a_context_that_cannot_be_is_refused(context):
    with pytest.raises(ValueError, match="context must"):
        LogOffers.of(*rows(), NAMES, context)


def test_promises_are_of_what_was_offered():
    """Age matters most: who could choose it would do well always, whatever the price."""
    table, task = rows()
    rng = np.random.default_rng(3)
    slope = rng.normal([0, 0, 3, 0], [0.1, 0.1, 1.0, 0.5], size=(20, 4))
    frame = pl.DataFrame(dict(zip(NAMES, table.T, strict=True)) | {"task": task}).with_columns(
        reward=pl.Series((table * slope[task]).sum(1) + rng.normal(size=400))
    )
    asked = {"task": "task", "reward": "reward", "features": list(NAMES), "horizon": 5, "runs": 6}
    asked |= {"held_out": 0, "structure": "diagonal", "progress": False}
    _, given = learn_prior(frame, **asked, context=["age"])
    _, free = learn_prior(frame, **asked)
    best = "best single arm"
    assert given.promises.of("new", best).mean > 2 * free.promises.of("new", best).mean
    assert given.claims[Claim.OFFERED].text == given.promises.offered
    assert given.to_dict()["promises"]["offered"] == given.promises.offered
    frame = frame.with_columns(arm=pl.col("price").cast(pl.Int64))
    with pytest.raises(ValueError, match="context must come with features"):
        learn_prior(frame, task="task", reward="reward", arm="arm", context=["age"])
