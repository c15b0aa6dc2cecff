"""Replay: a learning policy meets the log row by row, and keeps the rows that it agrees with."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from zlib import crc32

import numpy as np

from hierbandits.evaluation.estimators import Estimates, student
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.reward_model import Stated
from hierbandits.evaluation.targets import LearningTarget
from hierbandits.keyed_random import Stream, seed_words
from hierbandits.logs import Rows, Split, Survey
from hierbandits.policies.arms import Arms
from hierbandits.policies.policy import Policy
from hierbandits.types import Mask, Matrix
from hierbandits.workers.backends import LOCAL, in_order

Advance: TypeAlias = Callable[[int], object]
"""A function that is told how many more rows were read."""

STEP = 4096  # rows between two steps of a progress bar


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What a learning policy earned on the rows that it agreed with."""

    moments: Moments  # of the accepted rewards in each task
    offered: int  # rows that it was shown
    kept: int  # rows left after random thinning, which makes all propensities equal
    agreement: float  # how probable it is that a choice agrees, if the propensities are right

    @property
    def accepted(self) -> int:
        """Rows that it learned from."""
        return int(self.moments.n.sum())

    @property
    def expected(self) -> float:
        """How many rows should have been accepted."""
        return self.offered * self.agreement

    def estimates(self, logged: Moments, confidence: float) -> Estimates:
        """The mean accepted reward; `logged` holds the rewards of all rows offered."""
        earned = self.moments
        value = np.where(earned.n > 0, earned.mean[:, 0], np.nan)
        error, improvement = earned.error(1.0), value - logged.mean[:, 0]
        improvement_error = np.hypot(error, logged.error(1.0))
        reach = student(confidence, earned.n - 1)
        return Estimates.of(value, error, improvement, improvement_error, reach)

    def overall(self) -> "Replayed":
        """All tasks as one."""
        return Replayed(self.moments.pooled(), self.offered, self.kept, self.agreement)

    def to_dict(self) -> dict[str, float]:
        """The numbers of rows, for JSON."""
        return {
            "offered": self.offered,
            "kept": self.kept,
            "accepted": self.accepted,
            "expected": self.expected,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Replayer:
    """Rejection sampling: a policy learns from the rows where the log played the arm it chose.

    [Li et al. 2011].  Under a uniform log every choice agrees with the same probability, so the
    accepted rows are what the policy would have met.  Otherwise a coin keeps a row of propensity p
    with probability least / p, where least is the least propensity of the whole log; then a kept
    row agrees with probability `least`, whatever the policy chooses.  Rounds of `round_size`
    successive rows are decided before any of their rewards is learned.
    """

    survey: Survey
    split: Split
    prior: Stated
    groups: tuple[int, ...]  # of the rows that are replayed
    table: Matrix | None  # the arms' features, if they have any
    round_size: int
    seed: int

    def replay_all(
        self, targets: Sequence[LearningTarget], backend: str, advance: Advance
    ) -> list[tuple[Replayed, Moments]]:
        """`replay` of each policy, on the workers of a back end; `advance` is told of rows."""
        if backend == LOCAL:
            return [self.replay(target, advance) for target in targets]
        whole = partial(advance, self.survey.num_rows)
        return in_order(self.replay, targets, backend=backend, with_each=whole)

    def replay(
        self, target: LearningTarget, advance: Advance = lambda rows: None
    ) -> tuple[Replayed, Moments]:
        """What a policy earned, and the logged rewards of all rows offered."""
        survey = self.survey
        assert survey.least_propensity is not None
        policy = target.recipe(self.prior, 0, survey.num_populations, population=survey.population)
        rng = np.random.default_rng(seed_words(self.seed, crc32(target.name.encode())))
        earned = Moments.zeros(survey.num_tasks, 1)
        logged = Moments.zeros(survey.num_tasks, 1)
        offered = kept = 0
        for coin, rows in self._rounds(advance):
            offered += rows.size
            kept += int(coin.sum())
            logged.add(rows.tasks, rows.rewards[:, None])
            agreed = np.zeros(rows.size, np.bool_)
            for start in range(0, rows.size, self.round_size):
                part = start + np.flatnonzero(coin[start : start + self.round_size])
                if part.size:
                    agreed[part] = _round(survey, policy, rng, rows.only(part), self.table)
            earned.add(rows.tasks[agreed], rows.rewards[agreed, None])
        return Replayed(earned, offered, kept, survey.least_propensity), logged

    def _rounds(self, advance: Advance) -> Iterator[tuple[Mask, Rows]]:
        """The rows of these groups in whole rounds, with their coins; batches do not matter."""
        left: Rows | None = None
        survey, split, coins = self.survey, self.split, Stream(self.seed, "replay")
        step = max(1, STEP // self.round_size) * self.round_size
        for every in survey.rows():
            rows = every.only(np.isin(split.groups(every.numbers, every.times), self.groups))
            advance(every.size - rows.size)
            rows = rows if left is None else left.then(rows)
            whole = rows.size // self.round_size * self.round_size
            for start in range(0, whole, step):
                part = rows.only(slice(start, min(start + step, whole)))
                yield _tossed(coins, survey, part)
                advance(part.size)
            left = rows.only(slice(whole, None))
        if left is not None:
            yield _tossed(coins, survey, left)
            advance(left.size)


def _round(
    survey: Survey, policy: Policy, rng: np.random.Generator, rows: Rows, table: Matrix | None
) -> Mask:
    """Decide one round and learn from the rows where the log agrees; returns which they are."""
    encoder, cells = survey.log.encoder, rows.cells
    if encoder is None or cells is None:
        arms = _offered(rows, table, len(survey.arms))
    else:
        arms = Arms.grouped(encoder._raw_tables(cells), np.arange(rows.size)).only(rows.eligible)
    agreed: Mask = policy.act(rng, rows.tasks, arms) == rows.arms
    if agreed.any():
        played = rows.arms[agreed]
        features = played if table is None else table[played]
        if encoder is not None and cells is not None:
            features = encoder._raw_features(cells[agreed], played)
        policy.learn(rows.tasks[agreed], features, rows.rewards[agreed])
    return agreed


def _offered(rows: Rows, table: Matrix | None, num_arms: int) -> Arms:
    """The arms of each row."""
    features = np.arange(num_arms) if table is None else table
    if rows.eligible is None:
        return Arms._raw_shared(features, rows.size)
    return Arms._raw_of_rows(features, np.nonzero(rows.eligible)[1], rows.eligible.sum(axis=1))


def _tossed(coins: Stream, survey: Survey, rows: Rows) -> tuple[Mask, Rows]:
    """Which rows are kept, each with probability least / propensity."""
    assert survey.least_propensity is not None
    assert rows.propensities is not None
    return coins.of_rows(rows.numbers) < survey.least_propensity / rows.propensities, rows
