"""What a belief knows of its tasks, as a table for people."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.roster import Member
from hierbandits.algebra import normal_quantile
from hierbandits.beliefs.gaussian import Prediction
from hierbandits.checks import probability
from hierbandits.policies.recipes import name_of
from hierbandits.reporting.notebook_card import MOST_ROWS, notebook_card
from hierbandits.reporting.text_table import text_table
from hierbandits.types import Indices, Name, Vector


def posterior_table(
    state: AgentState, members: Sequence[Member], confidence: float
) -> dict[str, list[Any]]:
    """One row for each task and feature (or arm): its posterior, and what its variance comes from.

    The parameter lies between `low` and `high` with probability `confidence`.  Of an arm, these and
    `mean` are of its mean reward.  `shared_var` is the part of the parameter's variance that
    rewards of other tasks can still remove, `within_var` the rest.
    `decisions` are the task's; `rewards` are the arm's, or the task's where arms have features.
    """
    armed, dim, labels = state.prior.is_armed, state.prior.dim, _labels(state)
    nodes = np.array([member.node for member in members], np.intp)
    prediction, centre, low, high = _known(state, nodes, confidence)
    sums = state.sums.rows(np.array([member.row for member in members], np.intp))
    rewards = sums.xx.ravel() if armed else np.repeat(sums.n, dim)
    return {
        "task": [member.task for member in members for _ in labels],
        "arm" if armed else "feature": list(labels) * len(members),
        "decisions": [member.decisions for member in members for _ in labels],
        "rewards": rewards.astype(int).tolist(),
        "mean": centre.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "within_var": prediction.within_var.tolist(),
        "shared_var": prediction.shared_var.tolist(),
    }


def population_table(state: AgentState, confidence: float) -> dict[str, list[Any]]:
    """What tasks have in common: one row for each feature (or arm), as in `posterior_table`.

    Of an arm, `mean`, `low` and `high` are of the mean reward of a task whose parameter is that of
    the population.
    """
    root = state.belief.roots[:1]
    prediction, centre, low, high = _known(state, root, confidence)
    return {
        "arm" if state.prior.is_armed else "feature": list(_labels(state)),
        "mean": centre.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "var": (prediction.within_var + prediction.shared_var).tolist(),
    }


def groups_table(state: AgentState, most: int, confidence: float) -> dict[str, list[Any]]:
    """The same of each group between the population and its tasks, `most` of a level at most."""
    groups, labels = state.roster.groups(most), _labels(state)
    nodes = np.array(list(groups.values()), np.intp)
    _, centre, low, high = _known(state, nodes, confidence)
    return {
        "group": [path for path in groups for _ in labels],
        "arm" if state.prior.is_armed else "feature": list(labels) * len(groups),
        "mean": centre.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }


def own_means(state: AgentState, member: Member) -> list[float | None]:
    """What a task's own rewards say of each feature (or arm), alone; None where they say nothing.

    Of an arm the mean of its rewards; of features least squares, if they can be told apart.
    """
    sums = state.sums.rows(np.array([member.row], np.intp))
    xx, xy = sums.xx[0], sums.xy[0]
    if state.prior.is_armed:
        return [float(y / x) if x > 0 else None for x, y in zip(xx, xy, strict=True)]
    nothing: list[float | None] = [None] * len(xy)
    if not state.belief.IS_GAUSSIAN or np.linalg.matrix_rank(xx) < len(xy):
        return nothing
    found: list[float | None] = np.linalg.solve(xx, xy).tolist()
    return found


def _labels(state: AgentState) -> Sequence[Name]:
    """The names of arms or features."""
    if state.catalogue.encoder is not None:
        return state.catalogue.encoder.coordinates
    return state.catalogue.names if state.prior.is_armed else range(state.prior.dim)


def _known(
    state: AgentState, nodes: Indices, confidence: float
) -> tuple[Prediction, Vector, Vector, Vector]:
    """For each node and feature (or arm) its posterior: the parameter's, the centre, the ends."""
    reach = normal_quantile(probability("confidence", confidence))
    armed, dim, belief = state.prior.is_armed, state.prior.dim, state.belief
    each, rows = np.repeat(nodes, dim), np.tile(np.arange(dim), nodes.size)
    table = np.arange(dim) if armed else np.eye(dim)
    prediction = belief._raw_predict(each, table, rows)
    if not armed:
        return prediction, prediction.mean, prediction.bound(-reach), prediction.bound(reach)
    centre = belief._raw_mean_reward(prediction.mean, prediction.std).mean
    return prediction, centre, *belief._raw_interval(each, rows, prediction, reach)


def headline(state: AgentState) -> str:
    """An agent in one line."""
    form = f"{state.prior.dim} {'arms' if state.prior.is_armed else 'features'}"
    decided = sum(member.decisions for member in state.roster)
    return (
        f"Agent({name_of(state.recipe) or 'own recipe'}, {form}, {len(state.roster)} tasks, "
        f"{decided} decisions, {state.totals().n.sum():.0f} rewarded, "
        f"{len(state.ledger.pending)} pending)"
    )


def summary(state: AgentState, max_rows: int, confidence: float) -> str:
    """The headline of an agent, and the first rows of its table as text."""
    dim = state.prior.dim
    table = posterior_table(state, list(islice(state.roster, 1 + max_rows // dim)), confidence)
    return f"{headline(state)}\n{summary_text(table, max_rows, len(state.roster) * dim)}"


def agent_card(state: AgentState) -> str:
    """The headline of an agent and the first rows of its table, for a notebook."""
    table = posterior_table(state, list(islice(state.roster, MOST_ROWS)), 0.95)
    rows = [[_cell(value) for value in row] for row in zip(*table.values(), strict=True)]
    heading = "What is known of the first tasks, with 95 % intervals"
    return notebook_card(headline(state), (), [(heading, list(table), rows)])


def summary_text(table: dict[str, list[Any]], max_rows: int, total: int) -> str:
    """The first rows of a posterior table of `total` rows as text, and how many more there are."""
    shown = min(total, max_rows)
    rows = [[_cell(value) for value in row] for row in zip(*table.values(), strict=True)]
    text = text_table(list(table), rows[:shown], left=2)
    return text if shown == total else f"{text}\n... and {total - shown} rows more"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "/".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
