"""A table of the bounds of HierTS and its baselines, a column for each set of constants."""

from hierbandits.bounds.constants import CONSTANTS
from hierbandits.bounds.regret_bound import RegretBound
from hierbandits.bounds.theorems import concurrent, independent, oracle, sequential, tasks_to_win
from hierbandits.models.hierarchy import GaussianHierarchy


def side_by_side(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    num_concurrent: int | None = None,
    *,
    eta: float | None = None,
    max_norm: float = 1.0,
) -> list[tuple[str, dict[str, float | None], str]]:
    """Rows of a name, its value with each set of constants, and its meaning.

    First come all terms and constants of HierTS, which acts in one task a round or in
    `num_concurrent` tasks.  Then come the bounds of OracleTS and of TS in each task alone, and
    last the number of tasks from which on HierTS has a lower bound than TS, or None if it never
    has.  [HBB, Section Tightness]
    """
    bounds: dict[str, RegretBound] = {}
    others: dict[str, dict[str, float | None]] = {label: {} for label in _OTHERS}
    for name in CONSTANTS:
        if num_concurrent is None:
            bounds[name] = sequential(
                prior, num_tasks, num_interactions, constants=name, max_norm=max_norm
            )
        else:
            bounds[name] = concurrent(
                prior, num_tasks, num_interactions, num_concurrent,
                eta=eta, constants=name, max_norm=max_norm,
            )  # fmt: skip
        for label, theorem in (("OracleTS", oracle), ("TS", independent)):
            others[label][name] = theorem(
                prior, num_tasks, num_interactions, constants=name, max_norm=max_norm
            ).total
        others["tasks to win"][name] = tasks_to_win(
            prior, num_interactions,
            num_concurrent=num_concurrent, eta=eta, constants=name, max_norm=max_norm,
        )  # fmt: skip
    rows: list[tuple[str, dict[str, float | None], str]] = []
    for same_row in zip(*(bound.rows() for bound in bounds.values()), strict=True):
        label, _, meaning = same_row[0]
        values = {name: value for name, (_, value, _) in zip(bounds, same_row, strict=True)}
        rows.append((label, values, meaning))
    return rows + [(label, others[label], meaning) for label, meaning in _OTHERS.items()]


_OTHERS = {
    "OracleTS": "the bound if mu were known",
    "TS": "the bound of learning each task alone",
    "tasks to win": "from so many tasks on HierTS has a lower bound than TS",
}
