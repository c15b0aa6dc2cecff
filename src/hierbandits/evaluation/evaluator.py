"""Judge policies by a log of past decisions, before any of them is deployed."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hierbandits.checks import count
from hierbandits.evaluation import cautions
from hierbandits.evaluation.direct_method import direct
from hierbandits.evaluation.estimators import ESTIMATORS, effective_size, logged
from hierbandits.evaluation.evaluation import Estimate, Evaluation, TaskEstimates
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.pessimistic_policy import checked_alpha
from hierbandits.evaluation.replay import Replayed, replay
from hierbandits.evaluation.targets import (
    FrozenTarget,
    LearningTarget,
    Policies,
    Target,
    plan,
    targets_of,
)
from hierbandits.evaluation.training import LogTotals, Training, checked_prior, feature_table
from hierbandits.evaluation.weighing import Tally, weigh
from hierbandits.logs import Log
from hierbandits.logs.split import Split
from hierbandits.logs.survey import Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.reporting.progress import Progress, Steps, progress_bar
from hierbandits.types import Matrix, Name

FROZEN_DEFAULTS = ("HierOPO", "greedy", "uniform")
LEARNING_DEFAULTS = ("HierTS",)


def evaluate(
    log: Log,
    policies: Policies | None = None,
    methods: Iterable[str] | None = None,
    *,
    prior: GaussianHierarchy | None = None,
    arm_features: Mapping[Name, Any] | None = None,
    uniform: bool = False,
    split: Literal["folds", "time"] | None = None,
    folds: int = 5,
    delta: float = 0.05,
    draws: int = 1000,
    batch: int = 1,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress = None,
) -> Evaluation:
    """Estimate what policies would earn where the log was made, per task and overall.

    Frozen policies have fixed probabilities and are evaluated by ips, snips, dm and dr:
    "HierOPO" (pessimistic, with this `delta`), "greedy", "uniform", "arm:NAME", "frozen:HierTS"
    (any of POLICIES, as it stands after training; Thompson sampling with `draws` posterior
    draws), or a function of a task and its eligible arms that returns their probabilities.
    Learning policies, a Recipe or a name in POLICIES, are evaluated by replay, in rounds of
    `batch` rows.  Give your own as {name: policy}.

    The reward model of dm and dr is the hierarchical belief.  It and the policies that are
    trained never see the rows that they are evaluated on; see `Split`.  The prior is fitted to the
    training rows unless given; replay fits it to the first group of rows, and replays the others.

    `uniform` says of a log without propensities that every eligible arm was equally likely.
    With `arm_features`, {arm: features}, beliefs are linear.  `progress` shows a bar (None: on a
    terminal), or is a function that is told (rows read, rows of all passes).
    """
    confidence, alpha = _checked_confidence(confidence), checked_alpha(delta, None)
    draws, batch = count("draws", draws, least=1), count("batch", batch, least=1)
    seed, folds = count("seed", seed), count("folds", folds, least=2)
    if split not in (None, "folds", "time"):
        raise ValueError(f"split must be 'folds' or 'time', got {split!r}")
    with progress_bar("Evaluating", None, progress) as steps:
        survey = Survey.of(log, uniform=uniform)
        if policies is None:
            policies = FROZEN_DEFAULTS + (LEARNING_DEFAULTS if survey.has_propensities else ())
        targets = targets_of(policies, alpha=alpha, draws=draws, seed=seed)
        chosen = _possible(survey, targets, methods)
        table = feature_table(arm_features, survey.arms)
        prior = checked_prior(prior, survey, table)
        frozen = [target for target in targets if isinstance(target, FrozenTarget)]
        learning = [target for target in targets if isinstance(target, LearningTarget)]
        modelled = any({"dm", "dr"} & set(used) for used in chosen.values())
        trained = modelled or any(target.is_trained for target in frozen)
        is_split = trained or bool(learning and prior is None)
        divided = Split.of(survey, split if is_split else "none", folds=folds, seed=seed)
        passes = 2 + bool(frozen) + len(learning)
        steps.update(survey.num_rows, passes * survey.num_rows)  # one was made
        work = _Work(survey, divided, prior, table, confidence, steps)
        work.frozen(frozen, chosen, trained, modelled)
        for target in learning:
            work.replayed(target, batch, seed)
    settings = {
        "rows": survey.num_rows, "tasks": survey.num_tasks, "arms": [str(a) for a in survey.arms],
        "policies": [target.name for target in targets], "methods": chosen, "split": divided.kind,
        "groups": divided.num_groups, "delta": delta, "draws": draws, "batch": batch,
        "level": confidence, "seed": seed, "uniform": uniform,
        "prior": "given" if prior else "fitted",
    }  # fmt: skip
    return work.result(settings, bool(frozen))


class _Work:
    """Gathers the results of one evaluation."""

    def __init__(
        self,
        survey: Survey,
        split: Split,
        prior: GaussianHierarchy | None,
        table: Matrix | None,
        level: float,
        steps: Steps,
    ) -> None:
        self.survey, self.split, self.prior, self.table = survey, split, prior, table
        self.level, self.steps = level, steps
        self.totals = LogTotals.of(survey, split, steps.advance)
        self.estimates: list[Estimate] = []
        self.by_task: dict[tuple[str, str], TaskEstimates] = {}
        self.diagnostics: dict[str, Any] = {}
        self.replays: dict[str, Replayed] = {}
        self.warnings: list[str] = []

    def frozen(
        self,
        targets: list[FrozenTarget],
        chosen: dict[str, tuple[str, ...]],
        trained: bool,
        modelled: bool,
    ) -> None:
        """Train on each group's other rows, weigh its own, and estimate."""
        if not targets:
            return
        survey, trainings = self.survey, dict[int, Training]()
        for group in self.split.evaluated if trained else ():
            groups = self.split.training(group)
            trainings[group] = self.totals.training(group, groups, self.prior, self.table)
        models = {group: one.model() for group, one in trainings.items() if modelled}
        policies = {
            target.name: {
                group: target.freeze(survey, trainings.get(group)) for group in self.split.evaluated
            }
            for target in targets
        }
        tallies = weigh(survey, self.split, policies, models, self.steps.advance)
        for name, tally in tallies.items():
            if tally.moments.n.sum() == 0:
                raise ValueError("log must have rows to train on and rows to evaluate, got too few")
            self._baseline(tally.moments)
            self._weighed(name, tally, chosen[name], models)

    def _weighed(
        self, name: str, tally: Tally, methods: tuple[str, ...], models: dict[int, Any]
    ) -> None:
        moments, pooled = tally.moments, tally.moments.pooled()
        size = effective_size(moments) if self.survey.has_propensities else None
        mine: dict[str, Estimate] = {}
        for method in methods:
            if method == "dm":
                overall, each = direct(self.survey, models, tally.chosen, moments, self.level)
            else:
                overall = ESTIMATORS[method](pooled, self.level)
                each = ESTIMATORS[method](moments, self.level)
            mine[method] = Estimate.of(name, method, overall, int(pooled.n[0]))
            self.by_task[name, method] = TaskEstimates(each, moments.n, size)
        self.estimates += mine.values()
        self.warnings += cautions.of_model(name, mine)
        if self.survey.has_propensities:
            found = tally.diagnostics(self.totals.plays, self.level)
            self.diagnostics[name] = found
            self.warnings += cautions.of_frozen(name, tally, found)

    def replayed(self, target: LearningTarget, batch: int, seed: int) -> None:
        """Replay on all rows, or on those that the prior was not fitted to."""
        prior, groups = self.prior, tuple(range(self.split.num_groups))
        if prior is None:
            prior = self.totals.training(0, [0], None, self.table).prior
            groups = groups[1:]
        found, seen = replay(
            self.survey, self.split, target.recipe, prior, name=target.name, groups=groups,
            table=self.table, batch=batch, seed=seed, advance=self.steps.advance,
        )  # fmt: skip
        wide = Moments.zeros(self.survey.num_tasks, 4)
        wide.n, wide.mean[:, 3:], wide.comoment[:, 3:, 3:] = seen.n, seen.mean, seen.comoment
        self._baseline(wide)
        self.replays[target.name] = found
        overall = found.overall().estimates(seen.pooled(), self.level)
        self.estimates.append(Estimate.of(target.name, "replay", overall, found.accepted))
        each = found.estimates(seen, self.level)
        self.by_task[target.name, "replay"] = TaskEstimates(each, found.moments.n, None)
        self.warnings += cautions.of_replay(target.name, found)

    def _baseline(self, moments: Moments) -> None:
        """The log's own mean reward, once: over the evaluated rows."""
        if ("logged", "logged") not in self.by_task:
            overall, each = logged(moments.pooled(), self.level), logged(moments, self.level)
            rows = int(moments.n.sum())
            self.estimates.insert(0, Estimate.of("logged", "logged", overall, rows))
            self.by_task["logged", "logged"] = TaskEstimates(each, moments.n, None)

    def result(self, settings: dict[str, Any], frozen: bool) -> Evaluation:
        """All of it, with notes on what was done and why."""
        notes = []
        if frozen:
            notes.append(
                "Frozen policies have fixed probabilities, so rows can be weighed by them (IPS, "
                "SNIPS), a reward model can be asked about them (DM), or both (DR)."
            )
        if self.replays:
            notes.append(
                "Learning policies change with what they see, so they are replayed: they decide "
                "row by row, and live through the rows whose logged arm is their choice."
            )
        notes.append(self.split.reason)
        if self.prior is not None:
            notes.append(
                "The prior was given.  If it was learned from this log, it has seen the evaluated "
                "rows, and what rests on it is a little flattered."
            )
        warnings = cautions.of_log(self.survey, bool(self.replays)) + self.warnings
        return Evaluation(
            tuple(self.estimates), self.by_task, self.diagnostics, self.replays,
            self.survey.tasks, self.level, tuple(notes), tuple(warnings), settings,
        )  # fmt: skip


def _possible(
    survey: Survey, targets: list[Target], methods: Iterable[str] | None
) -> dict[str, tuple[str, ...]]:
    """The methods of each policy; without propensities, those that need none."""
    chosen = plan(targets, methods)
    if survey.has_propensities:
        return chosen
    told = (
        "propensities: name their column, or say uniform if every eligible arm was equally likely"
    )
    for target in targets:
        used = chosen[target.name]
        if "replay" in used:
            raise ValueError(f"replay of policy {target.name!r} needs {told}")
        if methods is None:
            chosen[target.name] = ("dm",)
        elif used != ("dm",):
            needy = next(method for method in used if method != "dm")
            raise ValueError(f"method {needy!r} needs {told}")
    return chosen


def _checked_confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), got {confidence}")
    return float(confidence)
