"""Replay: a learning policy meets the log row by row, and keeps the rows that it agrees with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from hierbandits.evaluation.estimators import Estimates, student
from hierbandits.evaluation.moments import Moments
from hierbandits.keyed_random import Stream
from hierbandits.logs.split import Split
from hierbandits.logs.survey import Rows, Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Mask, Matrix

STEP = 4096  # rows between two steps of a progress bar


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What a learning policy earned on the rows that it agreed with."""

    moments: Moments  # of the accepted rewards in each task
    offered: int  # rows that it could have met
    kept: int  # rows left after the coin that evens out the propensities
    least: float  # the probability with which any choice agrees, if the propensities are right

    @property
    def accepted(self) -> int:
        """Rows that it learned from."""
        return int(self.moments.n.sum())

    @property
    def acceptance(self) -> float:
        """Their share of all rows offered."""
        return self.accepted / max(self.offered, 1)

    @property
    def expected(self) -> float:
        """How many rows should have been accepted."""
        return self.offered * self.least

    def estimates(self, logged: Moments, level: float) -> Estimates:
        """The mean accepted reward; `logged` holds the rewards of all rows offered."""
        mine, theirs = self.moments, logged
        value = np.where(mine.n > 0, mine.mean[:, 0], np.nan)
        error, gain = mine.error(1.0), value - theirs.mean[:, 0]
        gain_error = np.hypot(error, theirs.error(1.0))
        return Estimates.of(value, error, gain, gain_error, student(level, mine.n - 1))

    def overall(self) -> "Replayed":
        """All tasks as one."""
        return Replayed(self.moments.pooled(), self.offered, self.kept, self.least)


def replay(
    survey: Survey,
    split: Split,
    recipe: Recipe,
    prior: GaussianHierarchy,
    *,
    name: str,
    groups: tuple[int, ...],
    table: Matrix | None,
    batch: int,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Replayed, Moments]:
    """Rejection sampling: a row whose logged arm is the policy's choice is one it lived through.

    [Li et al. 2011].  Under a uniform log every choice agrees with the same probability, so the
    accepted rows are what the policy would have met.  Otherwise a row of propensity p is kept
    with probability least / p, least being the least propensity of the whole log, whatever the
    policy chooses; then agreement has probability `least` in every row.  Rounds of `batch`
    successive rows are decided before any of their rewards is learned.

    Returns what it earned, and the logged rewards of all rows offered.
    """
    assert survey.least is not None
    policy = recipe(prior, survey.width, survey.num_populations)
    rng = np.random.default_rng([seed, crc32(name.encode())])
    earned = Moments.zeros(survey.num_tasks, 1)
    logged = Moments.zeros(survey.num_tasks, 1)
    offered = kept = 0
    for coin, rows in _rounds(survey, split, groups, batch, seed, advance):
        offered += rows.tasks.size
        kept += int(coin.sum())
        logged.add(rows.tasks, rows.rewards[:, None])
        agreed = np.zeros(rows.tasks.size, np.bool_)
        for start in range(0, rows.tasks.size, batch):
            part = start + np.flatnonzero(coin[start : start + batch])
            if part.size:
                agreed[part] = _round(survey, policy, rng, rows.only(part), table)
        earned.add(rows.tasks[agreed], rows.rewards[agreed, None])
    return Replayed(earned, offered, kept, survey.least), logged


def _round(
    survey: Survey, policy: Policy, rng: np.random.Generator, rows: Rows, table: Matrix | None
) -> Mask:
    """Decide one round and learn from the rows where the log agrees; returns which they are."""
    nodes = survey.node[rows.tasks]
    arms = _offered(rows, table, len(survey.arms))
    agreed: Mask = policy.act(rng, nodes, arms) == rows.arms
    if agreed.any():
        played = rows.arms[agreed]
        policy.learn(
            nodes[agreed], played if table is None else table[played], rows.rewards[agreed]
        )
    return agreed


def _offered(rows: Rows, table: Matrix | None, num_arms: int) -> Arms:
    """The arms of each row."""
    features = np.arange(num_arms) if table is None else table
    if rows.eligible is None:
        return Arms.shared(features, rows.tasks.size)
    places = np.nonzero(rows.eligible)[1]
    offset = np.append(0, np.cumsum(rows.eligible.sum(axis=1)))
    base = np.zeros(rows.tasks.size, np.intp)
    return Arms(features, places, offset[:-1].copy(), offset, base)


def _rounds(
    survey: Survey,
    split: Split,
    groups: tuple[int, ...],
    batch: int,
    seed: int,
    advance: Callable[[int], None],
) -> Iterator[tuple[Mask, Rows]]:
    """The rows of these groups in whole rounds, whatever the log's batches, with their coins."""
    left: Rows | None = None
    coins = Stream(seed, "replay")
    step = max(1, STEP // batch) * batch
    for every in survey.rows():
        rows = every.only(np.isin(split.groups(every), groups))
        advance(every.tasks.size - rows.tasks.size)
        rows = rows if left is None else left.then(rows)
        whole = rows.tasks.size // batch * batch
        for start in range(0, whole, step):
            part = rows.only(slice(start, min(start + step, whole)))
            yield _tossed(coins, survey, part)
            advance(part.tasks.size)
        left = rows.only(slice(whole, None))
    if left is not None:
        yield _tossed(coins, survey, left)
        advance(left.tasks.size)


def _tossed(coins: Stream, survey: Survey, rows: Rows) -> tuple[Mask, Rows]:
    """Which rows are kept: with probability least / propensity."""
    assert survey.least is not None
    assert rows.propensities is not None
    return coins.of_rows(rows.number) < survey.least / rows.propensities, rows
