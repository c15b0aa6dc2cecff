"""Why a policy chose an arm: what the rule saw of each arm, and what decided in the end."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.algebra import normal_quantile
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.greedy_rule import Greedy, greedy
from hierbandits.policies.ids_rule import Ids
from hierbandits.policies.odds import DrawnOdds, Odds, without_support
from hierbandits.policies.policy import Policy
from hierbandits.policies.rule import Rule, has_odds, leaves_arms_out, odds_of
from hierbandits.policies.thompson_rule import Thompson
from hierbandits.policies.ucb_rule import Ucb
from hierbandits.types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceAccount:
    """One choice, told again: the arms by their numbers, (K,), and what is known of each."""

    numbers: Indices
    mean: Vector  # the posterior mean of each arm's mean reward, (K,)
    low: Vector  # its interval, (K,)
    high: Vector
    how: str  # "draws", "mixture", "bounds", "means", or "own" for a rule that is not ours
    scores: dict[str, Vector]  # what the rule weighed, by its name, each (K,)
    draws: Matrix | None  # the values of all arms in every draw that was made, (draws, K)
    played_draw: int | None  # the one that counted
    chosen: int  # the number of the arm that is played
    by: str  # "rule"; "floor" if made at random; "forced" at the start; "best" if asked for


def choice_accounts(
    policy: Policy,
    rng: Generator,
    nodes: Indices,
    arms: Arms,
    *,
    draws: int | None,
    floor: float,
    best: bool,
    confidence: float,
    time: Vector | None = None,
) -> list[ChoiceAccount]:
    """Tell the choices of a round that begins with these random numbers, event by event.

    `rng` is used up as the round would use it; forced starts count the round's decisions.
    """
    start = rng.bit_generator.state
    if best:
        choices, _ = policy._raw_choose_best(rng, nodes, arms, time=time)
    elif draws:
        choices, _ = policy._raw_choose_with_propensities(
            rng, nodes, arms, draws=draws, floor=floor, time=time
        )
    else:
        choices = policy._raw_choose(rng, nodes, arms, time=time)
    end, rng.bit_generator.state = rng.bit_generator.state, start
    rule: Rule = greedy if best else policy.rule
    view = policy._view_at(time)
    number = draws or 1
    wanted, odds = _wanted(rule, view, rng, nodes, arms, draws)
    lot = np.zeros(nodes.size, np.bool_)
    if draws and floor > 0 and not best:
        rng.random(nodes.size)  # which arms chance would take
        lot = rng.random(nodes.size) < floor
    rng.bit_generator.state = start
    told = _Told.of(rule, view, rng, nodes, arms, number, odds)
    rng.bit_generator.state = end
    known = _Known.of(view, nodes, arms, confidence)
    accounts = []
    for event in range(nodes.size):
        part = slice(int(arms.offset[event]), int(arms.offset[event + 1]))
        by = "best" if best else "floor" if lot[event] else "rule"
        if not lot[event] and choices[event] != wanted[event]:
            by = "forced"
        accounts.append(
            ChoiceAccount(
                numbers=arms.flat_rows()[part] - arms.base[event],
                mean=known.mean[part],
                low=known.low[part],
                high=known.high[part],
                how=told.how,
                scores={name: row[part] for name, row in told.scores.items()},
                draws=None if told.values is None else told.values[:, part],
                played_draw=told.played,
                chosen=int(choices[event]),
                by=by,
            )
        )
    return accounts


def arms_left_out(
    policy: Policy, rng: Generator, nodes: Indices, arms: Arms, time: Vector | None = None
) -> list[Indices]:
    """The numbers of the arms of each event that the rule has no chance to choose.

    Rules that may play every arm leave out none, whatever they draw.
    """
    if not leaves_arms_out(policy.rule):
        return [np.empty(0, np.intp)] * nodes.size
    odds = odds_of(policy.rule)(policy._view_at(time), rng, nodes, arms, draws=1)
    return without_support(odds, arms)


def _wanted(
    rule: Rule, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, draws: int | None
) -> tuple[Indices, Odds | None]:
    """What the rule alone chooses, and its odds if the round asks for them."""
    if draws and has_odds(rule):
        odds: Odds = rule.odds(view, rng, nodes, arms, draws=draws)  # type: ignore[attr-defined]
        return odds.choices, odds
    return np.asarray(rule(view, rng, nodes, arms)), None


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the belief says of the mean reward of every arm, in the order of `Arms.flat_rows`."""

    mean: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, view: BeliefView, nodes: Indices, arms: Arms, confidence: float) -> "_Known":
        belief, rows, each = view._viewed, arms.flat_rows(), np.repeat(nodes, arms.sizes)
        times = None if view.time is None else np.repeat(view.time, arms.sizes)
        linear = belief._raw_predict(each, arms._own_table, rows, times)
        mean = belief._raw_mean_reward(linear.mean, linear.std).mean
        index = np.zeros(rows.size, np.intp)
        if belief.is_armed:
            index = arms._own_table[rows].astype(np.intp)
        low, high = belief._raw_interval(each, index, linear, normal_quantile(confidence))
        return cls(mean, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """What a rule weighed, in the order of `Arms.flat_rows`."""

    how: str
    scores: dict[str, Vector]
    values: Matrix | None = None  # (draws, arms of all events)
    played: int | None = None

    @classmethod
    def of(
        cls,
        rule: Rule,
        view: BeliefView,
        rng: Generator,
        nodes: Indices,
        arms: Arms,
        number: int,
        odds: Odds | None,
    ) -> "_Told":
        if isinstance(rule, Thompson):
            theta, slots = view.draws(rng, nodes, repeats=number, fresh=rule.fresh)
            values = _values(view, arms, theta[slots], number)
            if rule.scale != 1.0:
                means, own = view.draws(None, nodes)
                centre = arms.values(means[own])
                values = centre + rule.scale * (values - centre)
            values = view._viewed._raw_linked(values)
            played = 0
            if isinstance(odds, DrawnOdds):
                played = odds.played
            best = _best_share(values, arms)
            return cls("draws", {"value": values[played], "best in draws": best}, values, played)
        if isinstance(rule, Ids):
            return cls._of_mixture(rule, view, rng, nodes, arms)
        if isinstance(rule, Ucb):
            bounds = rule._drawn_bounds(rule._bound_ends(view, nodes, arms), rng)
            return cls("bounds", {"bound": view._viewed._raw_linked(bounds)})
        return cls("means" if isinstance(rule, Greedy) else "own", {})

    @classmethod
    def _of_mixture(
        cls, rule: Ids, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms
    ) -> "_Told":
        start = rng.bit_generator.state
        odds = rule.odds(view, rng, nodes, arms, draws=1)
        rng.bit_generator.state = start
        belief = view._viewed
        number = rule.pairs if belief.IS_SYMMETRIC else 2 * rule.pairs
        theta, slots = view.draws(rng, nodes, repeats=number, fresh=True)
        values = _values(view, arms, theta[slots], number)
        if belief.IS_SYMMETRIC:
            means, own = view.draws(None, nodes)
            values = np.concatenate([values, 2 * arms.values(means[own]) - values])
        values = belief._raw_linked(values)
        shortfall, insight = _costs(values, arms)
        event = np.repeat(np.arange(nodes.size), arms.sizes)
        numbers = arms.flat_rows() - arms.base[event]
        first, second = odds.pair
        share = np.where(numbers == first[event], odds.share[event], 0.0)
        share += np.where(numbers == second[event], 1 - odds.share[event], 0.0)
        scores = {"shortfall": shortfall, "insight": insight, "share": share}
        return cls("mixture", scores, values)


def _values(view: BeliefView, arms: Arms, theta: Matrix, number: int) -> Matrix:
    """The linear value of every arm in every draw, (draws, arms of all events)."""
    each = arms.num_events
    return np.array([arms.values(theta[m * each : (m + 1) * each]) for m in range(number)])


def _is_best(values: Matrix, arms: Arms) -> Mask:
    """Which arms are best in which draw."""
    top = np.maximum.reduceat(values, arms.offset[:-1], axis=1)
    is_best: Mask = values == np.repeat(top, arms.sizes, axis=1)
    return is_best


def _best_share(values: Matrix, arms: Arms) -> Vector:
    """The share of draws in which each arm is best."""
    share: Vector = _is_best(values, arms).mean(axis=0)
    return share


def _costs(values: Matrix, arms: Arms) -> tuple[Vector, Vector]:
    """The shortfall and the insight of each arm: see `Ids`."""
    top = np.maximum.reduceat(values, arms.offset[:-1], axis=1)
    shortfall: Vector = (np.repeat(top, arms.sizes, axis=1) - values).mean(axis=0)
    insight = np.zeros(values.shape[1])
    for event in range(arms.num_events):
        part = slice(int(arms.offset[event]), int(arms.offset[event + 1]))
        own = values[:, part]
        winner = own.argmax(axis=1)
        for arm in np.unique(winner):
            off = own[winner == arm].mean(axis=0) - own.mean(axis=0)
            insight[part] += (winner == arm).mean() * off * off
    return shortfall, insight
