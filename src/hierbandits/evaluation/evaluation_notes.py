"""What an evaluation did and why, in plain words."""

from collections.abc import Iterable, Sequence

from hierbandits.logs import Split

PLAYS = {
    "best arm": "always the one arm that the model expects most of over all tasks",
    "HierOPO": "in each task the arm that can lose least to the task's other arms",
    "greedy": "in each task the arm that the model expects most of",
    "uniform": "every eligible arm equally often",
}
"""What the named policies play."""


def notes(
    policies: Iterable[str],
    methods: set[str],
    split: Split,
    rewards: str | None = None,
    *,
    prior_given: bool,
    context: Sequence[str] = (),
) -> tuple[str, ...]:
    """A sentence or two on the policies, the context, the methods, the split and the rewards."""
    known = [f"{name} plays {PLAYS[name]}" for name in policies if name in PLAYS]
    parts = [f"{'; '.join(known)}."] if known else []
    if context:
        columns = ", ".join(context)
        parts.append(
            f"Rows have a context ({columns}). The model and all policies that ask it know the "
            "context of each row; the best arm, uniform and arm:NAME do not look at it."
        )
    if methods - {"replay"}:
        parts.append(
            "Frozen policies have fixed probabilities, so rows can be weighed by them (IPS, "
            "SNIPS), a reward model can be asked about them (DM), or both (DR)."
        )
    if "replay" in methods:
        parts.append(
            "Learning policies change with what they see, so they are replayed: they decide "
            "row by row, and learn from the rows where the log played the arm they chose."
        )
    parts.append(_on_split(split))
    if rewards is not None and methods & {"dm", "dr"}:
        parts.append(rewards)
    if prior_given:
        parts.append(
            "The prior was given. If it was learned from this log, it has seen the evaluated "
            "rows, and what rests on it is a little flattered."
        )
    return tuple(parts)


def _on_split(split: Split) -> str:
    if split.kind == "none":
        return "Nothing had to be trained, so every row is evaluated."
    if split.kind == "time":
        return (
            "Models and trained policies learned from the earlier rows and are evaluated on "
            f"the later ones (from {split.shown_cut} on), so that no row is evaluated with a model "
            "that saw it, even if the log's own policy was learning."
        )
    return (
        f"Models and trained policies were cross-fitted in {split.num_groups} folds: every row "
        "is evaluated with a model trained on the other folds alone. If the log's own policy "
        "was learning as it went, split by time instead."
    )
