"""Judge policies by a log of past decisions, before any of them is deployed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from hierbandits.checks import count, probability
from hierbandits.evaluation import evaluation_warnings
from hierbandits.evaluation.arm_features import feature_table
from hierbandits.evaluation.armed_log import armed_log
from hierbandits.evaluation.context_policy import frozen_by_group
from hierbandits.evaluation.diagnostics import Diagnostics
from hierbandits.evaluation.difference import Difference
from hierbandits.evaluation.direct_method import DirectMethod
from hierbandits.evaluation.estimators import REWARD, degrees, effective_size, estimate, logged
from hierbandits.evaluation.evaluation import (
    Estimate,
    Evaluation,
    TaskEstimates,
    trusted_estimates,
)
from hierbandits.evaluation.evaluation_notes import notes
from hierbandits.evaluation.evaluation_verdict import for_all, single_arm
from hierbandits.evaluation.frozen_policies import BestArm
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.pessimistic_policy import PessimisticPolicy, checked_alpha
from hierbandits.evaluation.replay import Replayed, Replayer
from hierbandits.evaluation.reward_model import RewardModel, Stated
from hierbandits.evaluation.targets import (
    BEST_ARM,
    FrozenTarget,
    LearningTarget,
    Policies,
    possible_methods,
    targets_of,
)
from hierbandits.evaluation.trainer import Trainer
from hierbandits.evaluation.training import Training, check_new_log, checked_prior
from hierbandits.evaluation.weighing import Tally, weigh
from hierbandits.logs import LIMITS, GroupSums, Limits, Split, Survey
from hierbandits.models.reward_family import RewardFamily
from hierbandits.reporting.progress import Progress, Steps, progress_bar
from hierbandits.reporting.provenance import MADE_FROM
from hierbandits.types import Matrix, Name, Vector
from hierbandits.workers.backends import LOCAL, checked_backend

FROZEN_DEFAULTS = (BEST_ARM, "HierOPO", "greedy", "uniform")
LEARNING_DEFAULTS = ("HierTS",)


def evaluate(
    source: Any,
    policies: Policies | None = None,
    methods: Iterable[str] | None = None,
    *,
    task: str | None = None,
    reward: str | None = None,
    arm: str | None = None,
    features: str | Sequence[str] | None = None,
    propensity: str | None = None,
    eligible: str | None = None,
    time: str | None = None,
    population: str | None = None,
    arms: Sequence[Name] | None = None,
    prior: Stated | None = None,
    arm_features: Mapping[Name, Any] | None = None,
    rewards: str | RewardFamily | None = None,
    uniform: bool = False,
    split: Literal["folds", "time"] | None = None,
    folds: int = 5,
    delta: float = 0.05,
    draws: int = 1000,
    round_size: int = 1,
    confidence: float = 0.95,
    seed: int = 0,
    backend: str = LOCAL,
    progress: Progress = None,
    limits: Limits = LIMITS,
) -> Evaluation:
    """Estimate what policies would earn where the log was made, per task and overall.

    `evaluation.verdict` is the answer in one sentence; `evaluation.differences` has what each
    policy earns more than the log and than the best single arm, on the same rows.

    `source` is an `hb.Log`; or a polars, pandas or Arrow table, or a .parquet or .csv file, whose
    columns `task`, `reward` and `arm` are named, and others if there are any.  `features` are
    columns of the context, numbers, text or booleans: an `Encoder` makes the arms' features of
    them, and policies choose in the context of each row.

    Frozen policies have fixed probabilities and are evaluated by ips, snips, dm and dr:
    "best arm" (the single arm that the training rows expect most of), "HierOPO" (pessimistic, with
    this `delta`), "greedy", "uniform", "arm:NAME", "frozen:HierTS" (any of POLICIES, as it stands
    after training; Thompson sampling with `draws` posterior draws), or a function of a task and
    its eligible arms, and of the context if there is one, that returns their probabilities.
    Learning policies, a Recipe or a name in POLICIES, are evaluated by replay, in rounds of
    `round_size` rows.  Give your own as {name: policy}.

    The reward model of dm and dr is the hierarchical belief.  It and the policies that are
    trained never see the rows that judge them; see `Split`.  The prior is fitted to the
    training rows unless given; replay fits it to the first group of rows, and replays the others.

    `rewards` is their family, "bernoulli" say: the model is then one of linear predictors.
    `uniform` says of a log without propensities that every eligible arm was equally likely.
    With `arm_features`, {arm: features}, beliefs are linear.  `confidence` is how often intervals
    are meant to cover.  On a `backend` (see `simulate`) workers fit priors and replay policies.
    `progress` shows a bar (None: on a terminal), or is a function that is called with the rows read
    so far and the rows of all passes.  A log that is too large for the `limits` is refused as soon
    as that is seen.
    """
    checked_backend(backend)
    confidence, alpha = probability("confidence", confidence), checked_alpha(delta, None)
    draws, round_size = count("draws", draws, least=1), count("round_size", round_size, least=1)
    seed, folds = count("seed", seed), count("folds", folds, least=2)
    if split not in (None, "folds", "time"):
        raise ValueError(f"split must be 'folds' or 'time', got {split!r}")
    columns = {"task": task, "reward": reward, "arm": arm, "propensity": propensity}
    columns |= {"eligible": eligible, "time": time, "population": population}
    log = armed_log(source, {**columns, "features": features}, arms)
    made_from = log.made_from()
    with progress_bar("Evaluating", None, progress) as steps:
        survey = Survey.of(log, uniform=uniform)
        if policies is None:
            policies = FROZEN_DEFAULTS + (LEARNING_DEFAULTS if survey.has_propensities else ())
        targets = targets_of(policies, alpha=alpha, draws=draws, seed=seed)
        chosen = possible_methods(survey, targets, methods)
        encoder = log.encoder
        if encoder is not None and arm_features is not None:
            raise ValueError("arm_features must not be given where rows have contexts")
        table = feature_table(arm_features, survey.arms)
        model = RewardModel(rewards, checked_prior(prior, survey, table), table)
        prior = model.prior
        frozen = [target for target in targets if isinstance(target, FrozenTarget)]
        learning = [target for target in targets if isinstance(target, LearningTarget)]
        modelled = any({"dm", "dr"} & set(used) for used in chosen.values())
        trained = modelled or any(target.is_trained for target in frozen)
        divided = Split.none()
        if trained or (learning and prior is None):
            divided = Split.for_evaluation(survey, split, folds=folds, seed=seed)
        passes = 2 + bool(frozen) + len(learning)
        steps.update(survey.num_rows, passes * survey.num_rows)  # one was made
        work = _Work(survey, divided, model, table, confidence, steps, limits)
        pessimistic = encoder is None and any(target.is_hieropo for target in frozen)
        work.trainer.fit_for(divided, trained, bool(learning), pessimistic, backend)
        work.weigh(frozen, chosen, trained, modelled)
        if learning:
            work.replay(learning, round_size, seed, backend)
        if pessimistic:
            work.learn_hieropo(alpha)
    settings = {
        "rows": survey.num_rows, "tasks": survey.num_tasks, "arms": [str(a) for a in survey.arms],
        "policies": [target.name for target in targets], "methods": chosen, "split": divided.kind,
        "groups": divided.num_groups, "delta": delta, "draws": draws,
        "round_size": round_size, "confidence": confidence, "seed": seed, "uniform": uniform,
        "prior": "given" if prior else "fitted", "eligible": log.columns.eligible is not None,
        **survey.read_as(), MADE_FROM: made_from | survey.rows_read(),
    }  # fmt: skip
    return work.evaluation(settings)


class _Work:
    """Gathers the results of one evaluation."""

    def __init__(
        self,
        survey: Survey,
        split: Split,
        model: RewardModel,
        table: Matrix | None,
        confidence: float,
        steps: Steps,
        limits: Limits,
    ) -> None:
        prior = model.prior
        self.survey, self.split, self.prior, self.table = survey, split, prior, table
        self.model, self.confidence, self.steps = model, confidence, steps
        sums = GroupSums(split.num_groups, limits=limits)
        for batch in survey.log.batches():
            if prior is None and table is None:
                limits.check_fit(len(batch.names.tasks), batch.dim, armed=batch.is_armed)
            model.see(batch, survey.log.columns.reward)
            sums.add(batch, split.groups(batch.numbers, batch.times))
            steps.advance(batch.num_rows)
        self.trainer, total = Trainer(survey, sums, model, table), sums.total()
        check_new_log(prior, total, table)
        self.plays = total.xx  # of each task's arms in the whole log, (tasks, K)
        if survey.log.encoder is not None:  # an arm's features begin with 1
            self.plays = np.einsum("sii->si", total.xx)[:, :: survey.log.encoder.width]
        self.estimates: list[Estimate] = []
        self.differences: list[Difference] = []
        self.reference: str | None = None
        self.best_arms: tuple[Name, ...] = ()
        self.by_task: dict[tuple[str, str], TaskEstimates] = {}
        self.diagnostics: dict[str, Diagnostics] = {}
        self.replays: dict[str, Replayed] = {}
        self.hieropo: PessimisticPolicy | None = None
        self.tallies: dict[str, Tally] = {}
        self.trained: set[str] = set()  # policies that learned from other rows

    def weigh(
        self,
        targets: list[FrozenTarget],
        chosen: dict[str, tuple[str, ...]],
        trained: bool,
        modelled: bool,
    ) -> None:
        """Train on each group's other rows, weigh its own rows, and estimate."""
        if not targets:
            return
        judged = self.split.judged
        trainings: dict[int, Training] = {}
        for group in judged if trained else ():
            trainings[group] = self.trainer.training(group, self.split.training(group))
        models = {group: one.model() for group, one in trainings.items() if modelled}
        policies = frozen_by_group(targets, self.survey, judged, trainings)
        reference = next((target.name for target in targets if target.is_best_arm), None)
        self.reference, self.trained = reference, {t.name for t in targets if t.is_trained}
        self.tallies = weigh(
            self.survey, self.split, policies, models, self.steps.advance, reference
        )
        direct = DirectMethod(self.survey, models, self.plays)
        for name, tally in self.tallies.items():
            if tally.moments.n.sum() == 0:
                raise ValueError("log must have rows to train on and rows to evaluate, got too few")
            self._add_logged(tally.moments)
            self._add_weighed(name, tally, chosen[name], direct)
        if reference is not None:
            ranked = [BestArm.of(one).arm for one in trainings.values()]
            self.best_arms = tuple(self.survey.arms[arm] for arm in ranked)
            self._compare(reference, direct)

    def _compare(self, reference: str, direct: DirectMethod) -> None:
        """Every policy beside the best single arm, by the same methods."""
        tallies = self.tallies
        own = {method for policy, method in self.by_task if policy == reference}
        for policy, method in list(self.by_task):
            if policy not in tallies or policy == reference or method not in own:
                continue
            names, tally, beside = (policy, method, reference), tallies[policy], 0.0
            both = tally.chosen, tallies[reference].chosen
            if method == "dm":
                gap = Difference.of(names, *direct.difference(*both), np.inf, self.confidence)
            else:
                if method == "dr":
                    beside, _ = direct.untried_errors(*both, tally.moments.n)
                gap = Difference.weighed(names, tally, self.confidence, beside)
            self.differences.append(gap)

    def _add_weighed(
        self, name: str, tally: Tally, methods: tuple[str, ...], direct: DirectMethod
    ) -> None:
        moments, pooled = tally.moments, tally.moments.pooled()
        size = effective_size(moments) if self.survey.has_propensities else None
        mine: dict[str, Estimate] = {}
        for method in methods:
            if method == "dm":
                overall, each = direct.values(tally.chosen, moments, self.confidence)
            else:
                beside: tuple[float, Vector | float] = 0.0, 0.0
                if method == "dr":
                    beside = direct.untried_errors(tally.chosen, None, moments.n)
                overall = estimate(method, pooled, self.confidence, beside[0])
                each = estimate(method, moments, self.confidence, beside[1])
            mine[method] = Estimate.of(name, method, overall, int(pooled.n[0]))
            self.by_task[name, method] = TaskEstimates(each, moments.n, size)
            freedom = np.inf if method == "dm" else float(degrees(effective_size(pooled))[0])
            self.differences.append(Difference.to_log(mine[method], freedom, self.confidence))
        self.estimates += mine.values()
        if self.survey.has_propensities:
            self.diagnostics[name] = Diagnostics.of(tally, self.plays, self.confidence)

    def replay(
        self, targets: list[LearningTarget], round_size: int, seed: int, backend: str
    ) -> None:
        """Replay on all rows, or on those that the prior was not fitted to."""
        groups = tuple(range(self.split.num_groups))[self.prior is None :]
        prior = self.trainer.prior([0])
        replayer = Replayer(self.survey, self.split, prior, groups, self.table, round_size, seed)
        each = replayer.replay_all(targets, backend, self.steps.advance)
        for target, (replayed, seen) in zip(targets, each, strict=True):
            self._add_replayed(target.name, replayed, seen)

    def _add_replayed(self, name: str, replayed: Replayed, seen: Moments) -> None:
        of_log = Moments.zeros(self.survey.num_tasks, 4)
        of_log.n, of_log.mean[:, REWARD:] = seen.n, seen.mean
        of_log.comoment[:, REWARD:, REWARD:] = seen.comoment
        self._add_logged(of_log)
        self.replays[name] = replayed
        overall = replayed.overall().estimates(seen.pooled(), self.confidence)
        mine = Estimate.of(name, "replay", overall, replayed.accepted)
        self.estimates.append(mine)
        freedom = replayed.accepted - 1.0
        self.differences.append(Difference.to_log(mine, freedom, self.confidence))
        each = replayed.estimates(seen, self.confidence)
        self.by_task[name, "replay"] = TaskEstimates(each, replayed.moments.n, None)

    def learn_hieropo(self, alpha: float) -> None:
        """Learn HierOPO from all rows: this is the policy to deploy."""
        training = self.trainer.training(0, range(self.split.num_groups))
        self.hieropo = PessimisticPolicy.of(training, alpha, self.plays)

    def _add_logged(self, moments: Moments) -> None:
        """The log's own mean reward over the judged rows, the first time."""
        if ("logged", "logged") not in self.by_task:
            overall = logged(moments.pooled(), self.confidence)
            each, rows = logged(moments, self.confidence), int(moments.n.sum())
            self.estimates.insert(0, Estimate.of("logged", "logged", overall, rows))
            self.by_task["logged", "logged"] = TaskEstimates(each, moments.n, None)

    def _warnings(self) -> list[str]:
        """What to distrust: first what makes the answer wrong, then what makes it rough."""
        trusted = {each.policy: each for each in trusted_estimates(self.estimates)}
        known = [e for e in trusted.values() if np.isfinite(e.improvement_low)]
        told = for_all(self.confidence, sum(e.method != "replay" for e in known))
        to_arm = [
            each
            for each in self.differences
            if each.against == self.reference and each.method == trusted[each.policy].method
        ]
        by_task = {name: self.by_task[name, trusted[name].method] for name in self.diagnostics}
        arm = single_arm(self.best_arms, barred=self.survey.log.columns.eligible is not None)
        return [
            *evaluation_warnings.of_losers(to_arm, self.trained, arm, told),
            *evaluation_warnings.of_model(self.estimates, self.tallies),
            *evaluation_warnings.of_log(self.survey, bool(self.replays)),
            *evaluation_warnings.of_weights(self.diagnostics, by_task),
            *evaluation_warnings.of_replays(self.replays),
        ]

    def evaluation(self, settings: dict[str, Any]) -> Evaluation:
        """All of it, with notes on what was done and why."""
        methods = {method for used in settings["methods"].values() for method in used}
        given = self.prior is not None
        about = settings["policies"], methods, self.split, self.model.words
        return Evaluation(
            estimates=tuple(self.estimates),
            differences=tuple(self.differences),
            reference=self.reference,
            best_arms=self.best_arms,
            by_task=self.by_task,
            diagnostics=self.diagnostics,
            replays=self.replays,
            hieropo=self.hieropo,
            log=self.survey.summary,
            tasks=self.survey.tasks,
            confidence=self.confidence,
            notes=notes(*about, prior_given=given, context=self.survey.log.columns.context),
            warnings=tuple(self._warnings()),
            settings=settings,
        )
