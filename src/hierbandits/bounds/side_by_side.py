"""The bounds with every set of constants side by side, beside the baselines'."""

from hierbandits.bounds.constants import CONSTANTS
from hierbandits.bounds.regret_bound import Bound
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
    """Rows of name, value by set of constants, and meaning; None for a number of tasks is never.

    HierTS in sequence, or with `num_concurrent` tasks a round; then OracleTS, TS in each task
    alone, and from how many tasks on HierTS has the lower bound.  [HBB, Section Tightness]
    """
    hier: dict[str, Bound] = {}
    rest: dict[str, dict[str, float | None]] = {"OracleTS": {}, "TS": {}, "tasks to win": {}}
    for name in CONSTANTS:
        if num_concurrent is None:
            hier[name] = sequential(
                prior, num_tasks, num_interactions, constants=name, max_norm=max_norm
            )
        else:
            hier[name] = concurrent(
                prior, num_tasks, num_interactions, num_concurrent,
                eta=eta, constants=name, max_norm=max_norm,
            )  # fmt: skip
        for label, theorem in (("OracleTS", oracle), ("TS", independent)):
            rest[label][name] = theorem(
                prior, num_tasks, num_interactions, constants=name, max_norm=max_norm
            ).total
        rest["tasks to win"][name] = tasks_to_win(
            prior, num_interactions,
            num_concurrent=num_concurrent, eta=eta, constants=name, max_norm=max_norm,
        )  # fmt: skip
    rows: list[tuple[str, dict[str, float | None], str]] = []
    for entries in zip(*(bound.rows() for bound in hier.values()), strict=True):
        label, _, meaning = entries[0]
        rows.append((label, dict(zip(hier, (e[1] for e in entries), strict=True)), meaning))
    return rows + [(label, rest[label], meaning) for label, meaning in _MEANING.items()]


_MEANING = {
    "OracleTS": "the bound if mu were known",
    "TS": "the bound of learning each task alone",
    "tasks to win": "from so many tasks on HierTS has a lower bound than TS",
}
